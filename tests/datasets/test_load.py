"""Splits, subsamples, preprocessing and precision; damaged folders."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import issparse, load_npz, random_array
from sklearn.preprocessing import StandardScaler

from rflib.datasets import dense_rows
from rflib.datasets.checksum import check_prepared
from rflib.datasets.load import load, training_rows
from rflib.datasets.prepare import prepare


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("prepared") / "breast_cancer"
    prepare("breast_cancer", out.parent, out)
    return out


def test_splits_are_disjoint_whole_and_of_the_repetition(folder):
    first, second, again = load(folder, repetition=0), load(folder, repetition=1), load(folder, repetition=0)
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, second.X_train)
    rows = np.concatenate([first.X_train, first.X_test])
    assert np.array_equal(np.sort(rows[:, 0]), np.sort(np.load(folder / "X.npy")[:, 0]))


def test_inputs_and_targets_stay_together(folder):
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    label = {row.tobytes(): value for row, value in zip(X, y, strict=True)}
    data = load(folder, repetition=3)
    for rows, targets in ((data.X_train, data.y_train), (data.X_test, data.y_test)):
        assert [label[row.tobytes()] for row in rows] == targets.tolist()


@pytest.mark.parametrize(
    ("split", "rows"), [("half", 7), ("2/3", 10), ("train 405", 405), ("test 0.25", 11), ("test 0.2", 12)]
)
def test_training_rows(split, rows):
    assert training_rows(split, 15) == rows


def test_minmax(folder):
    data = load(folder, preprocess="minmax")
    assert data.X_train.min() == 0
    assert data.X_train.max() == 1
    assert (data.X_test.min(), data.X_test.max()) != (0, 1)


def test_minmax_of_each_row(folder):
    data, raw = load(folder, preprocess="minmax_rows"), load(folder)
    expected = [(row - row.min()) / ((row.max() - row.min()) or 1) for row in raw.X_test]
    np.testing.assert_allclose(data.X_test, expected)


def test_minmax_by_all_rows(folder):
    data = load(folder, preprocess="minmax_all")
    rows = np.concatenate([data.X_train, data.X_test])
    assert rows.min(axis=0).tolist() == [0] * 30
    assert rows.max(axis=0).tolist() == [1] * 30


def test_standardize_and_unit_norm(folder):
    data = load(folder, preprocess="standardize")
    assert np.allclose(data.X_train.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(data.X_train.std(axis=0), 1)
    unit = load(folder, preprocess="standardize+unit_norm")
    assert np.allclose(unit.X_test, data.X_test / np.linalg.norm(data.X_test, axis=1, keepdims=True))


def test_one_number_is_the_centre_of_all_columns(folder):
    data, raw = load(folder, preprocess="centre"), load(folder)
    np.testing.assert_allclose(data.X_test, raw.X_test - raw.X_train.mean(), rtol=1e-12)


def test_preprocessing_leaves_the_prepared_arrays_alone(folder):
    before = np.load(folder / "X.npy")
    load(folder, preprocess="minmax+unit_norm")
    assert np.array_equal(np.load(folder / "X.npy"), before)


def test_single_precision(folder):
    double, single = (load(folder, preprocess="minmax", dtype=dtype) for dtype in ("float64", "float32"))
    assert (double.X_train.dtype, single.X_train.dtype, single.X_test.dtype) == (
        np.float64,
        np.float32,
        np.float32,
    )
    assert np.array_equal(double.X_train.astype(np.float32), single.X_train)
    with pytest.raises(ValueError, match="dtype must be float64 or float32, got 'int8'"):
        load(folder, dtype="int8")


def test_subsamples(folder):
    data, again, other = (load(folder, max_train=50, max_test=20, repetition=r) for r in (0, 0, 1))
    assert data.X_train.shape == (50, 30)
    assert data.y_test.shape == (20,)
    assert np.array_equal(data.X_train, again.X_train)
    assert not np.array_equal(data.X_train, other.X_train)
    whole = load(folder, max_train=10_000, max_test=10_000)
    assert len(whole.X_train) + len(whole.X_test) == 569


def test_subsamples_of_a_given_split(tmp_path):
    for name in ("train", "test"):
        np.savez(tmp_path / f"{name}.npz", X=np.arange(200.0).reshape(100, 2), y=np.arange(100.0))
    spec = {
        "file": str(tmp_path / "train.npz"),
        "test_file": str(tmp_path / "test.npz"),
        "task": "regression",
    }
    prepare(spec, tmp_path, tmp_path / "out")
    whole, part = load(tmp_path / "out"), load(tmp_path / "out", max_train=10, repetition=2)
    assert whole.X_train.tolist() == np.arange(200.0).reshape(100, 2).tolist()
    assert part.X_train.shape == (10, 2)
    assert part.X_train[:, 0].tolist() == (2 * part.y_train).tolist()
    assert len(part.X_test) == 100


def test_standardize_is_to_the_bit_what_scikit_learn_does(folder):
    raw, data = load(folder), load(folder, preprocess="standardize")
    scaler = StandardScaler().fit(raw.X_train)
    assert np.array_equal(data.X_test, scaler.transform(raw.X_test))
    assert np.array_equal(data.X_train, (raw.X_train - raw.X_train.mean(axis=0)) / raw.X_train.std(axis=0))


def two_files(folder, X_train, X_test):
    """Prepare rows with a given split, as regression."""
    for name, X in (("train", X_train), ("test", X_test)):
        np.savez(folder / f"{name}.npz", X=X, y=np.arange(len(X)))
    spec = {
        "file": str(folder / "train.npz"),
        "test_file": str(folder / "test.npz"),
        "task": "regression",
    }
    prepare(spec, folder, folder / "out")
    return folder / "out"


CONSTANTS = [5.0, 14.62, -0.1, 1e-300, -1e300, 5e-324, 1.7e308]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constant_columns_are_only_shifted_to_zero(dtype, tmp_path):
    """Computed with their rounding errors as scales, a test row that differs by 1 would become 1e11 or more."""
    constants = np.array(CONSTANTS if dtype is np.float64 else CONSTANTS[:3], dtype)
    train = np.tile(constants, (405, 1))
    test = np.stack([constants, constants + dtype(1), constants * dtype(0.5)])
    out = two_files(tmp_path, train, test)
    for step in ("minmax", "standardize"):
        data = load(out, preprocess=step)
        assert not data.X_train.any()
        np.testing.assert_array_equal(data.X_test, test.astype(float) - constants)
    np.testing.assert_array_equal(load(out, preprocess="minmax_all").X_train[:, -1] <= 1, True)


@pytest.mark.parametrize("constant", [14.62, -3e-200, 2.5e200])
@pytest.mark.parametrize("step", ["minmax", "minmax_all", "standardize"])
def test_columns_that_differ_by_rounding_are_constant(step, constant, tmp_path):
    rng = np.random.default_rng(0)
    train = constant * (1 + rng.uniform(-20, 20, (300, 2)) * np.finfo(float).eps)
    noise = np.abs(train - constant).max()
    data = load(two_files(tmp_path, train, train + 5 * noise), preprocess=step)
    assert max(np.abs(data.X_train).max(), np.abs(data.X_test).max()) < 10 * noise


@pytest.mark.parametrize("size", [1e300, 1e-300])
@pytest.mark.parametrize("step", ["minmax", "standardize"])
def test_columns_of_any_size_are_scaled(step, size, tmp_path):
    """The squares of such values overflow or underflow."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    scaled, data = (load(two_files(tmp_path, Z[:40], Z[40:]), preprocess=step) for Z in (size * X, X))
    np.testing.assert_allclose(scaled.X_train, data.X_train, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(scaled.X_test, data.X_test, rtol=1e-12, atol=1e-14)


def test_constant_rows_become_zero(tmp_path):
    X = np.repeat([[14.62], [1e-300], [0.0], [-7.0]], 3, axis=1)
    X[3] *= 1 + np.array([0, 1, 2]) * np.finfo(float).eps
    data = load(two_files(tmp_path, X, X), preprocess="minmax_rows")
    assert np.abs(data.X_train).max() < 1e-14


def test_values_too_large_for_single_precision_are_named(tmp_path):
    X = np.ones((4, 2))
    X[2, 1] = -1e39
    out = two_files(tmp_path, X, X)
    assert load(out).X_train.min() == -1e39
    with pytest.raises(
        ValueError, match=r"out: X_train: row 2 \(from 0\), column 1 is too large for float32"
    ):
        load(out, dtype="float32")


STEPS = ["raw", "unit_norm", "minmax", "minmax_all", "minmax_rows", "standardize", "minmax+unit_norm"]


def dense(X):
    return X.toarray() if issparse(X) else X


@settings(
    max_examples=12,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 25),
    signed=st.booleans(),
    size=st.sampled_from([1e-3, 1, 1e9]),
)
def test_sparse_and_dense_files_are_the_same_rows(seed, n, signed, size, tmp_path):
    rng = np.random.default_rng(seed)
    X = random_array((n, 60), density=0.04, rng=rng).toarray()
    X[np.arange(n), rng.integers(0, 60, n)] = 1  # no row is zero
    X *= size * (rng.choice([-1, 1], X.shape) if signed else 1)
    y = np.arange(n) % 2
    lines = [
        " ".join([str(c), *(f"{j + 1}:{row[j]!r}" for j in np.flatnonzero(row))])
        for c, row in zip(y, X.tolist(), strict=True)
    ]
    (tmp_path / "mine.svm").write_text("\n".join(lines))
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    for form in ("svm", "npz"):
        spec = {
            "name": "mine",
            "file": str(tmp_path / f"mine.{form}"),
            "task": "classification",
            "columns": 60,
        }
        prepare(spec, tmp_path, tmp_path / form)
    for steps in STEPS:
        for limit in (None, 2):
            how = {"preprocess": steps, "repetition": seed % 5, "max_train": limit}
            rows, expected = load(tmp_path / "svm", **how), load(tmp_path / "npz", **how)
            assert not issparse(expected.X_train)
            assert issparse(rows.X_train) == issparse(rows.X_test)
            if steps in ("raw", "unit_norm") or (steps == "minmax_rows" and not signed):
                assert issparse(rows.X_train)
            np.testing.assert_array_equal(rows.y_train, expected.y_train)
            np.testing.assert_array_equal(rows.y_test, expected.y_test)
            for ours, theirs in ((rows.X_train, expected.X_train), (rows.X_test, expected.X_test)):
                np.testing.assert_allclose(dense(ours), theirs, rtol=1e-14, atol=0)


@pytest.fixture
def wide(tmp_path):
    """A prepared sparse data set whose column 7 is negative in row 2, and whose column 9 stores zeros."""
    lines = [f"{i % 2} {i + 1}:1 8:{-1 if i == 2 else 2} 10:0 40:{i + 1}\n" for i in range(6)]
    (tmp_path / "mine.svm").write_text("".join(lines))
    prepare({"file": str(tmp_path / "mine.svm"), "task": "classification"}, tmp_path, tmp_path / "out")
    return tmp_path / "out"


def test_sparse_rows_store_no_zeros(wide):
    data = load(wide, preprocess="unit_norm", dtype="float32")
    assert data.X_train.dtype == np.float32
    assert load_npz(wide / "X.npz").nnz == 18
    assert data.X_train.data.all()
    assert data.X_train.has_canonical_format


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ("standardize", r"out: the step 'standardize' needs dense rows"),
        (
            "unit_norm+minmax_all",
            r"the step 'minmax_all' \(the minimum of column 7 is not 0\) needs dense rows",
        ),
        ("minmax_rows", r"the step 'minmax_rows' \(the minimum of row 2 is not 0\) needs dense rows"),
    ],
)
def test_steps_make_rows_dense_up_to_a_bound(steps, told, wide, monkeypatch):
    monkeypatch.setattr(dense_rows, "DENSE_MEGABYTES", 6 * 40 * 8 / 1e6)
    assert not issparse(load(wide, preprocess=steps).X_train)
    monkeypatch.setattr(dense_rows, "DENSE_MEGABYTES", 5 * 40 * 8 / 1e6)
    message = (
        told + r", but the 6 sparse rows of 40 columns would take .* Take fewer rows \(max_train, max_test\)"
    )
    with pytest.raises(ValueError, match=message):
        load(wide, preprocess=steps)
    assert not issparse(load(wide, preprocess=steps, max_train=3).X_train)
    assert issparse(load(wide, preprocess="unit_norm").X_train)


def test_rows_that_are_not_sparse_in_a_sparse_format_are_loaded_dense(tmp_path):
    """More than a tenth of the values is not zero."""
    for nonzero in (4, 5):
        lines = [f"{i % 2} " + " ".join(f"{j}:1" for j in range(1, nonzero + 1)) for i in range(9)]
        (tmp_path / "mine.svm").write_text("\n".join(lines))
        spec = {"file": str(tmp_path / "mine.svm"), "task": "classification", "columns": 40}
        prepare(spec, tmp_path, tmp_path / "out")
        assert issparse(load(tmp_path / "out").X_test) == (nonzero == 4)


def test_description_of_what_is_loaded(folder):
    data = load(folder)
    assert (data.name, data.task, data.classes.tolist()) == ("breast_cancer", "classification", [0, 1])
    meta = json.loads((folder / "meta.json").read_text())
    assert (meta["rows"], meta["columns"], meta["classes"], meta["split"]) == (569, 30, 2, "2/3")
    assert meta["rows_of_label"] == {"0": 212, "1": 357}
    assert meta["licence"] == "CC BY 4.0"


def test_unknown_preprocessing(folder):
    with pytest.raises(
        ValueError,
        match=r"'unitnorm'\. Did you mean 'unit_norm'\? Use raw, or join steps by \+\. The steps are minmax",
    ):
        load(folder, preprocess="minmax+unitnorm")


def test_zero_row_has_no_unit_norm(tmp_path):
    """The message names the row of the prepared array, not of the split."""
    X = np.arange(1.0, 21.0).reshape(10, 2)
    X[7] = 0
    np.savez(tmp_path / "mine.npz", X=X, y=np.arange(10) % 2)
    prepare({"file": str(tmp_path / "mine.npz"), "task": "classification"}, tmp_path, tmp_path / "out")
    for repetition in range(5):
        with pytest.raises(
            ValueError, match=r"out: X: row 7 \(from 0\) is zero here and cannot be scaled to unit norm"
        ):
            load(tmp_path / "out", preprocess="unit_norm", repetition=repetition)


def test_a_row_whose_norm_overflows_has_no_unit_norm(tmp_path):
    X = np.ones((4, 2))
    X[3] = 1e300
    with pytest.raises(
        ValueError, match=r"X_train: row 3 \(from 0\) is too large here and cannot be scaled to unit"
    ):
        load(two_files(tmp_path, X, X), preprocess="unit_norm")


@pytest.mark.parametrize("damage", ["X.npy", "meta.json"])
def test_damaged_folder_is_named(damage, folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / damage).write_bytes(b"no array")
    with pytest.raises(ValueError, match=r"not a complete prepared data set .*\. Delete it and run again"):
        load(tmp_path)
    (tmp_path / damage).unlink()
    with pytest.raises(ValueError, match="Delete it and run again"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("X.npy", b"other", r"X\.npy is damaged .*: delete the folder .* and run again"),
        ("X.npy", None, r"not a complete prepared data set .*\. Delete it and run again"),
        ("meta.json", b"{}", r"not a complete prepared data set \('digests'\)\. Delete it and run again"),
    ],
)
def test_prepared_arrays_are_compared_with_their_digests(name, content, told, folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    check_prepared(tmp_path)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=told):
        check_prepared(tmp_path)


def test_damaged_sparse_arrays_are_named(tmp_path):
    (tmp_path / "mine.svm").write_text("1 1:2\n-1 2:3\n1 1:1\n")
    prepare({"file": tmp_path / "mine.svm", "task": "classification"}, tmp_path, tmp_path / "out")
    path = tmp_path / "out/X.npz"
    path.write_bytes(path.read_bytes()[:100] + b"damage" + path.read_bytes()[106:])
    with pytest.raises(ValueError, match=r"out is not a complete prepared data set"):
        load(tmp_path / "out")


def test_preparing_again_replaces_the_folder(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").touch()
    prepare("wine", tmp_path, out)
    assert sorted(path.name for path in out.iterdir()) == ["X.npy", "meta.json", "y.npy"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
