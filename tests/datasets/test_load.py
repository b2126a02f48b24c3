"""Splits, preprocessing, users' files, and malformed input."""

import contextlib
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rflib.datasets.load import load
from rflib.datasets.parsers import read_arff, read_csv, read_libsvm
from rflib.datasets.prepare import prepare


@pytest.fixture
def folder(tmp_path):
    prepare("breast_cancer", tmp_path, tmp_path / "out")
    return tmp_path / "out"


def test_splits_are_disjoint_whole_and_of_the_repetition(folder):
    first, second, again = load(folder, repetition=0), load(folder, repetition=1), load(folder, repetition=0)
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, second.X_train)
    rows = np.concatenate([first.X_train, first.X_test])
    assert np.array_equal(np.sort(rows[:, 0]), np.sort(np.load(folder / "X.npy")[:, 0]))


def test_preprocessing(folder):
    data = load(folder, preprocess="standardize")
    assert np.allclose(data.X_train.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(data.X_train.std(axis=0), 1)
    data = load(folder, preprocess="minmax")
    assert data.X_train.min() == 0
    assert data.X_train.max() == 1
    assert data.X_test.max() != 1
    data = load(folder, preprocess="standardize+unit_norm", dtype="float32")
    assert data.X_train.dtype == np.float32
    assert np.allclose(np.linalg.norm(data.X_test, axis=1), 1, atol=1e-6)
    both = load(folder, preprocess="minmax_all")
    assert max(both.X_train.max(), both.X_test.max()) == 1


def test_subsamples(folder):
    data = load(folder, max_train=50, max_test=20)
    assert len(data.X_train) == len(data.y_train) == 50
    assert len(data.X_test) == 20


def test_unknown_preprocessing(folder):
    with pytest.raises(ValueError, match="unknown preprocessing 'unitnorm'"):
        load(folder, preprocess="unitnorm")


def test_zero_row_has_no_unit_norm(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.array([[1.0, 0], [0, 0], [1, 1]]), y=np.array([0, 1, 1]))
    prepare(
        {"name": "mine", "file": str(tmp_path / "mine.npz"), "task": "classification"},
        tmp_path,
        tmp_path / "out",
    )
    with pytest.raises(ValueError, match="is zero and has no unit norm"):
        for repetition in range(5):
            load(tmp_path / "out", preprocess="unit_norm", repetition=repetition)


def test_damaged_folder_is_named(folder):
    (folder / "X.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match="delete it and run again"):
        load(folder)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])
    return frame.assign(label=np.where(frame["a"] > 0, "yes", "no"))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_users_table(suffix, table, tmp_path):
    path = tmp_path / f"mine{suffix}"
    table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, index=False)
    spec = {"name": "mine", "file": str(path), "target": "label", "task": "classification", "test_size": 0.2}
    prepare(spec, tmp_path, tmp_path / "out")
    data = load(tmp_path / "out")
    assert data.X_train.shape == (24, 3)
    assert set(data.y_train) == {0, 1}


def test_users_libsvm_with_a_test_file(tmp_path):
    for name in ("train.libsvm", "test.libsvm"):
        (tmp_path / name).write_text("1.5 1:2 3:4\n-0.5 2:1 3:1\n")
    spec = {
        "name": "mine",
        "file": str(tmp_path / "train.libsvm"),
        "test_file": str(tmp_path / "test.libsvm"),
        "task": "regression",
    }
    prepare(spec, tmp_path, tmp_path / "out")
    assert load(tmp_path / "out").X_test.tolist() == [[2, 0, 4], [0, 1, 1]]
    assert json.loads((tmp_path / "out/meta.json").read_text())["split"] == "given"


@pytest.mark.parametrize(
    ("change", "spec", "message"),
    [
        ({}, {"target": "lable"}, r"no column 'lable'; its columns are a, b, c, label"),
        ({"label": [0.5 * i for i in range(30)]}, {}, "not a measured quantity"),
        ({}, {"file": "nowhere.csv"}, r"there is no file nowhere\.csv"),
        ({"b": [None] * 30}, {}, r"row 0 \(from 0\), column 'b' is missing"),
        ({"b": ["x"] * 30}, {}, "not a number"),
        ({"label": [None] + ["yes", "no"] * 14 + ["no"]}, {}, r"row 0 \(from 0\) has no target"),
        ({"label": ["yes"] * 30}, {}, "at least two labels"),
    ],
)
def test_errors_of_users_tables(change, spec, message, table, tmp_path):
    path = tmp_path / "mine.csv"
    table.assign(**change).to_csv(path, index=False)
    spec = {"name": "mine", "file": str(path), "target": "label", "task": "classification", **spec}
    with pytest.raises(ValueError, match=message):
        prepare(spec, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nan_names_file_row_and_column(tmp_path):
    X = np.ones((5, 2))
    X[3, 1] = np.nan
    np.savez(tmp_path / "mine.npz", X=X, y=np.arange(5) % 2)
    spec = {"name": "mine", "file": str(tmp_path / "mine.npz"), "task": "classification"}
    with pytest.raises(ValueError, match=r"mine\.npz: row 3 \(from 0\), column 1"):
        prepare(spec, tmp_path, tmp_path / "out")


def test_pickled_objects_are_refused(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.array([{}, {}], dtype=object), y=np.arange(2))
    spec = {"name": "mine", "file": str(tmp_path / "mine.npz"), "task": "classification"}
    with pytest.raises(ValueError, match="without pickled objects"):
        prepare(spec, tmp_path, tmp_path / "out")


@pytest.mark.parametrize("read", [read_csv, read_arff, read_libsvm])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.one_of(
        st.binary(max_size=80), st.text("0123456789.:+- ,\n@dataibute", max_size=80).map(str.encode)
    )
)
def test_malformed_text_is_a_value_error_or_data(read, content, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    with contextlib.suppress(ValueError):
        read(path)
