"""Raw columns as DataFrames: what the source's file says, whatever the prepared numbers look like."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from rflib.datasets.raw_columns import Grades, Numbers, OneHot, as_table
from rflib.datasets.registry import RAW_COLUMNS, REGISTRY

COLUMNS = (Numbers(("a", "b")), Grades("grade", ("bad", "good")), OneHot("colour", ("?", "red", "blue"), "?"))
ROWS = np.array([[1.5, -2, 1, 0, 1, 0], [0, 3, 0, 1, 0, 0], [2, 2, 1, 0, 0, 1.0]])


@pytest.mark.parametrize(
    "X", [ROWS, csr_array(ROWS), ROWS.astype(np.float32)], ids=["dense", "sparse", "single"]
)
def test_numbers_grades_and_categories(X):
    table = as_table(X, COLUMNS)
    assert list(table) == ["a", "b", "grade", "colour"]
    np.testing.assert_array_equal(table[["a", "b"]], ROWS[:, :2])
    assert table["grade"].tolist() == ["good", "bad", "good"]
    assert table["grade"].cat.ordered
    assert table["colour"].isna().tolist() == [False, True, False]
    assert table["colour"].cat.categories.tolist() == ["red", "blue"]
    assert table["colour"].dropna().tolist() == ["red", "blue"]


def test_numbers_alone_have_names_by_their_places():
    table = as_table(ROWS)
    assert list(table) == [f"x{i}" for i in range(6)]
    np.testing.assert_array_equal(table, ROWS)


def test_another_number_of_columns_is_an_error():
    with pytest.raises(ValueError, match="prepared as 6 columns of numbers, but X has 5"):
        as_table(ROWS[:, :5], COLUMNS)


@pytest.mark.parametrize("name", sorted(RAW_COLUMNS))
def test_the_raw_columns_are_as_wide_as_the_prepared_ones(name):
    assert sum(column.width for column in RAW_COLUMNS[name]) == REGISTRY[name].columns


def test_the_tables_are_those_of_the_files(prepared, raw):
    """The files are read by pandas alone."""
    files = {
        "adult_uci": _of_file(raw, "adult.data*", names=_ADULT, skipinitialspace=True, na_values="?"),
        "diamonds": _of_file(raw, "diamonds*.csv"),
        "flights": _of_file(raw, "nycflights13_flights.csv*"),
    }
    for name, read in files.items():
        folder = prepared(name)
        file = read()
        if name == "flights":
            times = ["sched_dep_time", "sched_arr_time"]
            file = file[file["arr_delay"].notna()]
            file = file.assign(**{time: file[time] // 100 * 60 + file[time] % 100 for time in times})
        (path,) = folder.glob("X.npy") if name != "adult_uci" else folder.glob("X_train.npy")
        ours = as_table(np.load(path, mmap_mode="r"), RAW_COLUMNS[name])
        assert len(ours) == len(file)
        for column in ours:
            missing = ours[column].isna().to_numpy()
            np.testing.assert_array_equal(missing, file[column].isna())
            theirs = file[column].to_numpy()[~missing]
            assert (ours[column].to_numpy()[~missing] == theirs).all(), (name, column)
        assert ours.isna().any().sum() == (3 if name == "adult_uci" else 0)


def _of_file(raw, pattern, **options):
    """Return a function that reads the official file of this name, packed or not."""
    return lambda: pd.read_csv(next(path for path in sorted(raw.glob(pattern))), **options)


_ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
