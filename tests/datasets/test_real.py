"""Every data set that the mirror holds, through the real path: fetch, verify, prepare, load."""

import csv
import json

import numpy as np
import pytest
from scipy.ndimage import correlate

from rflib.datasets.fetch import FetchError, fetch, fetch_file
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.datasets.registry import REGISTRY, describe, files

# Training rows of each label and test rows of each label where the split is given; else all rows of each label.
BALANCE = {
    "breast_cancer": ({0: 212, 1: 357},),
    "wine": ({0: 59, 1: 71, 2: 48},),
    "letter": ({-1: 6063, 1: 5937}, {-1: 3005, 1: 2995}),
    "letter_luo2021": ({-1: 6063, 1: 5937}, {-1: 3005, 1: 2995}),
    "ijcnn1": ({-1: 45137, 1: 4853}, {-1: 82989, 1: 8712}),
    "ijcnn1_luo2021": ({-1: 45137, 1: 4853}, {-1: 82989, 1: 8712}),
    "usps": ({-1: 4240, 1: 3051}, {-1: 1187, 1: 820}),
    "usps_luo2021": ({-1: 4240, 1: 3051}, {-1: 1187, 1: 820}),
    "adult": ({-1: 24720, 1: 7841}, {-1: 12435, 1: 3846}),
    "adult_uci": ({-1: 24720, 1: 7841}, {-1: 12435, 1: 3846}),
    "eeg": ({0: 8254, 1: 6722},),
    "eeg_raw": ({0: 8257, 1: 6723},),
    "magic04": ({-1: 6688, 1: 12332},),
    "cod_rna": ({-1: 39690, 1: 19845}, {-1: 181078, 1: 90539}),
    "covtype_sample": ({-1: 92962 - 45328, 1: 45328},),
    "covtype_20k": ({-1: 20000 - 9728, 1: 9728},),
}
BETWEEN = {
    "digits": (174, 183),
    "usps_digits": (708, 1553),
    "letter_libsvm": (734, 813),
    "mnist": (6313, 7877),
    "fashion_mnist": (7000, 7000),
}
BETWEEN |= {
    "normal_512": (722, 778),
    "normal_1000": (714, 786),
    "normal_1024": (745, 755),
    "normal_2048": (715, 785),
    "normal_4096": (735, 765),
}
BETWEEN |= dict.fromkeys(("heavy_tails", "clusters", "manifold", "one_hot"), (4000, 4000))
REGRESSION = {"diabetes", "housing", "housing_luo2021", "california_housing"}
REGRESSION |= {"diamonds", "flights", "flights_by_day"}
NOT_HELD = {"gisette", "covtype", "usps_libsvm", "cod_rna_liu2020"}
HELD = sorted({*BALANCE, *BETWEEN, *REGRESSION})
LARGE = {"mnist", "fashion_mnist", "ijcnn1", "cod_rna"}

# In the mirror beside the registry's files: a second copy of housing.
OTHER_FILES = {"boston_house_prices.csv"}


def test_every_data_set_is_accounted_for():
    assert {*HELD, *NOT_HELD} == set(REGISTRY)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.nightly) if n in LARGE else n for n in HELD]
)
def test_rows_columns_and_class_balance(name, prepared):
    entry = REGISTRY[name]
    meta = json.loads((prepared(name) / "meta.json").read_text())
    data = load(prepared(name))
    assert data.name == name
    assert data.X_train.shape[1] == data.X_test.shape[1] == meta["columns"] == entry.columns
    assert len(data.X_train) + len(data.X_test) == meta["rows"] == entry.rows
    assert len(data.X_train) == (entry.train_rows or len(data.X_train))
    assert np.isfinite(data.X_train).all()
    assert np.isfinite(data.X_test).all()
    assert [file["name"] for file in meta["files"]] == files(name)
    if entry.task == "regression":
        assert data.classes is None
        return
    assert len(data.classes) == entry.classes == meta["classes"]
    counts = [dict(zip(*np.unique(y, return_counts=True), strict=True)) for y in (data.y_train, data.y_test)]
    whole = {int(label): rows for label, rows in meta["rows_of_label"].items()}
    assert whole == {label: counts[0][label] + counts[1][label] for label in data.classes}
    if name in BETWEEN:
        assert (min(whole.values()), max(whole.values())) == BETWEEN[name]
    elif entry.split == "given":
        assert counts == list(BALANCE[name])
    else:
        assert [whole] == list(BALANCE[name])


def _manifest(mirror):
    path = mirror / "MANIFEST.csv"
    if not path.exists():
        pytest.skip(f"the mirror has no list of its files, {path}")
    with path.open() as file:
        return list(csv.DictReader(file))


def test_every_file_of_the_mirror_is_of_a_data_set(mirror):
    known = {form.name for entry in REGISTRY.values() for file in entry.files for form in file.forms}
    held = {row["file"].removesuffix(".xz") for row in _manifest(mirror)}
    assert held <= known | OTHER_FILES


def test_checksums_and_sizes_are_those_of_the_mirror_s_list(mirror):
    listed = {}
    for row in _manifest(mirror):
        name = row["file"].removesuffix(".xz")
        listed[name.removesuffix(".gz") if "UNCOMPRESSED" in row["notes"] else name] = row
    for entry in REGISTRY.values():
        for file in (form for official in entry.files for form in official.forms):
            row = listed.get(file.name)
            if row is None:
                continue
            whole = row["official_sha256"] or ("" if row["file"].endswith(".xz") else row["sha256"])
            assert whole in (file.sha256, "")
            assert row["official_bytes"] in (str(file.size), "")


def test_checksums_of_what_is_not_held(mirror):
    with (mirror / "CHECKSUMS_NOT_HELD.csv").open() as lines:
        listed = {row["file"]: row for row in csv.DictReader(lines)}
    found = {file.name: file for name in NOT_HELD for file in REGISTRY[name].files} | {}
    shared = set(found) & set(listed)
    assert shared == {"covtype.data.gz", "usps.bz2", "cod-rna.r", "gisette_scale.bz2"}
    for name in shared:
        kind, checksum = found[name].checksum
        assert listed[name][kind] == checksum
        assert listed[name]["official_url"] == found[name].urls[0]


@pytest.mark.parametrize("name", ["letter", "ijcnn1", "usps"])
def test_official_files_give_the_rows_of_the_authors(name, prepared):
    """To the rounding of the export; row by row, so that the split is the authors'."""
    ours, theirs = load(prepared(name)), load(prepared(f"{name}_luo2021"))
    tolerance = 4e-6 if name == "letter" else 1e-15
    for part in ("X_train", "X_test"):
        assert np.abs(getattr(ours, part) - getattr(theirs, part)).max() <= tolerance
    assert np.array_equal(ours.y_train, theirs.y_train)
    assert np.array_equal(ours.y_test, theirs.y_test)


def test_letter_is_scaled_by_its_training_rows(prepared):
    data = load(prepared("letter"))
    assert data.X_train.min(axis=0).tolist() == [-1] * 16
    assert data.X_train.max(axis=0).tolist() == [1] * 16
    assert data.X_test.min() == pytest.approx(-8 / 7)


def test_all_copies_of_housing_are_equal(prepared, mirror):
    ours = np.load(prepared("housing") / "X.npy"), np.load(prepared("housing") / "y.npy")
    theirs = np.load(prepared("housing_luo2021") / "X.npy"), np.load(prepared("housing_luo2021") / "y.npy")
    third = read_csv(mirror / "boston_house_prices.csv", header=True, skiprows=1).to_numpy()
    for X, y in (theirs, (third[:, :13], third[:, 13])):
        assert np.array_equal(X, ours[0])
        assert np.array_equal(y, ours[1])
    assert (ours[1] == 50).sum() == 16
    assert len(load(prepared("housing")).y_train) == 405


def test_letters_of_libsvm_are_the_official_ones(prepared, raw):
    """The same rows in another order, scaled by x / 7.5 - 1."""
    data = load(prepared("letter_libsvm"))
    libsvm = np.column_stack([np.r_[data.y_train, data.y_test], np.r_[data.X_train, data.X_test] * 7.5 + 7.5])
    table = read_csv(raw / files("letter")[0])
    table[0] = table[0].map(ord) - ord("A") + 1
    official = table.to_numpy(dtype=float)
    assert np.array_equal(
        *(np.unique(np.rint(rows), axis=0, return_counts=False) for rows in (libsvm, official))
    )


def test_usps_of_libsvm_is_another_version(prepared, mirror, raw):
    """Each image smoothed; its training file is not held, but the test file shows reader and difference."""
    test = REGISTRY["usps_libsvm"].files[1]
    path = fetch_file(test, raw, [mirror])
    first, second = list(REGISTRY["usps_libsvm"].read([path, path]))
    original = load(prepared("usps_digits"))
    window = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 0.75**2))
    window = np.outer(window, window) / window.sum() ** 2
    images = original.X_test.reshape(-1, 16, 16) - 1
    smooth = np.stack([correlate(image, window, mode="constant", cval=-1) for image in images])
    assert first.part == "train"
    assert second.part == "test"
    assert np.abs(second.X - smooth.reshape(-1, 256)).max() < 1e-6
    assert np.array_equal(second.y, original.y_test)


def test_outliers_of_eeg_are_gone(prepared):
    data = load(prepared("eeg"))
    assert max(data.X_train.max(), data.X_test.max()) < 10_000


def test_covtype_samples_are_of_one_set(prepared):
    """The ranges of the full set turn the scaled sample back into integers; the samples share 3,176 rows."""
    low = np.array([1859, 0, 0, 0, -173, 0, 0, 0, 0, 0])
    high = np.array([3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173])
    integers = np.load(prepared("covtype_20k") / "X.npy").astype(np.int64)
    scaled = np.load(prepared("covtype_sample") / "X.npy").copy()
    scaled[:, :10] = scaled[:, :10] * (high - low) + low
    rows = {row.tobytes() for row in np.rint(scaled).astype(np.int64)}
    assert len(rows) == 92_962
    assert sum(row.tobytes() in rows for row in integers) == 3176


def test_prepared_arrays_are_memory_mapped(prepared):
    meta = json.loads((prepared("usps") / "meta.json").read_text())
    assert meta["shapes"]["X_train"] == [7291, 256]
    assert meta["split"] == "given"
    assert meta["files"][0]["checksum"].startswith("sha256 66ebf231")
    assert isinstance(np.load(prepared("usps") / "X_train.npy", mmap_mode="r"), np.memmap)


def test_sparse_data_stay_sparse_on_disk(prepared):
    assert (prepared("adult") / "X_train.npz").exists()
    assert not (prepared("adult") / "X_train.npy").exists()
    data = load(prepared("adult"), max_train=10, preprocess="unit_norm")
    assert data.X_train.shape == (10, 123)
    assert np.allclose(np.linalg.norm(data.X_test, axis=1), 1)


def test_damaged_official_file_is_named_with_both_checksums(mirror, tmp_path):
    fetch("housing", tmp_path, [mirror])
    path = tmp_path / "housing.data"
    path.write_bytes(path.read_bytes()[:-7])
    message = (
        r"housing\.data is not the official file: sha256 is [0-9a-f]{64}, expected baadf7.*expected 49,082\)"
    )
    with pytest.raises(FetchError, match=message):
        fetch("housing", tmp_path, [mirror])
    with pytest.raises(OSError, match=message):
        prepare("housing", tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_missing_official_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"housing\.data is missing\. Fetch 'housing' first"):
        prepare("housing", tmp_path, tmp_path / "out")


def test_description_needs_no_file():
    about = {"task": "classification", "rows": 14_976, "columns": 14, "classes": 2, "split": "half"}
    assert describe("eeg") == about


def test_mnist_keeps_the_order_of_the_files(prepared):
    """The first labels are known from everywhere, and so are the columns that are always black."""
    data = load(prepared("mnist"))
    assert data.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert data.y_test[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert (data.X_train.max(axis=0) == 0).sum() == 67
    assert (data.X_train.min(), data.X_train.max()) == (0, 255)


def test_california_housing_is_that_of_sklearn(prepared):
    """Mean value and mean income, as scikit-learn's documentation has them, and the first row."""
    folder = prepared("california_housing")
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    assert y.mean() == pytest.approx(2.068558169, abs=1e-9)
    assert X[:, 0].mean() == pytest.approx(3.8707, abs=5e-5)
    assert X[0] == pytest.approx([8.3252, 41, 6.98412698, 1.02380952, 322, 2.55555556, 37.88, -122.23])


def test_fashion_mnist_keeps_the_order_of_the_files(prepared):
    """The first labels, and as many images of each class."""
    data = load(prepared("fashion_mnist"))
    assert data.y_train[:10].tolist() == [9, 0, 0, 3, 0, 2, 7, 2, 5, 5]
    assert data.y_test[:10].tolist() == [9, 2, 1, 1, 6, 1, 4, 6, 5, 7]
    assert np.bincount(data.y_train).tolist() == [6000] * 10
    assert (data.X_train.max(axis=0) > 0).all()
    assert (data.X_train.min(), data.X_train.max()) == (0, 255)


def test_diamonds_are_the_numbers_and_grades_of_the_file(prepared):
    """0.23 carat, Ideal, E and SI2 for 326 dollars is the first one; 20 have a side of unknown length."""
    X, y = (np.load(prepared("diamonds") / f"{name}.npy") for name in "Xy")
    assert X[0].tolist() == [0.23, 4, 5, 1, 61.5, 55, 3.95, 3.98, 2.43]
    assert [y[0], y.min(), y.max()] == pytest.approx(np.log([326, 326, 18_823]))
    assert [np.unique(column).tolist() for column in X[:, 1:4].T] == [[*range(k)] for k in (5, 7, 8)]
    assert (X[:, 6:] == 0).any(axis=1).sum() == 20


def test_flights_by_day_are_those_of_flights_with_whole_days_held_out(prepared):
    flights, by_day = prepared("flights"), prepared("flights_by_day")
    X = np.load(flights / "X.npy")
    parts = [np.load(by_day / f"X_{part}.npy") for part in ("train", "test")]
    days = [np.unique(part[:, 0] * 100 + part[:, 1]) for part in parts]
    assert (len(days[0]), len(days[1])) == (244, 121)
    assert days[1][:3].tolist() == [103, 106, 109]
    test = np.isin(X[:, 0] * 100 + X[:, 1], days[1])
    assert np.array_equal(parts[0], X[~test])
    assert np.array_equal(parts[1], X[test])


def test_flights_have_what_is_known_at_take_off(prepared):
    """UA 1545 at 5:15 to Houston, two minutes late, arrives eleven minutes late; delays in the air vary."""
    X, y = (np.load(prepared("flights") / f"{name}.npy") for name in "Xy")
    assert X[0, :6].tolist() == [1, 1, 5 * 60 + 15, 8 * 60 + 19, 1400, 2]
    assert y[0] == 11
    assert (X[:, 6:22].sum(axis=1) == 1).all()
    assert (X[:, 22:].sum(axis=1) == 1).all()
    assert np.corrcoef(X[:, 5], y)[0, 1] ** 2 == pytest.approx(0.837, abs=5e-4)
    others = np.delete(X, 5, axis=1)
    assert max(np.corrcoef(column, y)[0, 1] ** 2 for column in others.T) < 0.05
