"""Splits, subsamples, preprocessing and precision; damaged folders."""

import json

import numpy as np
import pytest

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


def test_constant_columns_become_zero(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.column_stack([np.full(9, 5.0), np.arange(9)]), y=np.arange(9) % 2)
    prepare({"file": str(tmp_path / "mine.npz"), "task": "classification"}, tmp_path, tmp_path / "out")
    for step in ("minmax", "minmax_all", "standardize"):
        assert set(load(tmp_path / "out", preprocess=step).X_train[:, 0]) == {0}


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
