"""One reader for each form of data set: from its official files to blocks of rows, with the papers' labels.

A reader yields blocks as it parses, so that a large set never stands in memory whole.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import datasets as bundled

from rflib.datasets.entries.generated import NORMAL_COLUMNS
from rflib.datasets.parsers import (
    csv_blocks,
    finite,
    libsvm_blocks,
    numbers,
    read_arff,
    read_csv,
    read_npz,
    reading,
)

PartName = Literal["all", "train", "test"]


class Block(NamedTuple):
    """Rows of a data set: the part they belong to, inputs (n, d), dense or sparse, and targets (n,)."""

    part: PartName
    X: NDArray | csr_matrix
    y: NDArray


Reader = Callable[[Sequence[Path]], Iterator[Block]]

_PARTS: tuple[PartName, PartName] = ("train", "test")
_EEG_OUTLIERS = (898, 10386, 11509, 13179)
_LETTER_TRAIN = 12_000
_LETTER_ROWS = Path(__file__).with_name("letter_luo2021_rows.npy")
_MAX_CALIFORNIA_BYTES = 1 << 24
_ADULT_COLUMNS = (
    *(
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
    ),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)


def _bundled(name: str) -> Reader:
    def read(files: Sequence[Path]) -> Iterator[Block]:
        yield Block("all", *getattr(bundled, f"load_{name}")(return_X_y=True))

    return read


def _dense_libsvm(columns: int, first_label: int = 0) -> Reader:
    """Read one file, or a training and a test file, to dense rows; labels are counted from ``first_label``."""

    def read(files: Sequence[Path]) -> Iterator[Block]:
        parts: Sequence[PartName] = _PARTS if len(files) == 2 else ("all",)
        for part, file in zip(parts, files, strict=True):
            for X, y in libsvm_blocks(file, columns):
                yield Block(part, X.toarray(), y.astype(np.int64) - first_label)

    return read


def _normal(columns: int) -> Reader:
    def read(files: Sequence[Path]) -> Iterator[Block]:
        X = np.random.default_rng(columns).standard_normal((1500, columns))
        yield Block("all", X, np.where(X[:, 0] > 0, 1, -1))

    return read


def _sparse_libsvm(columns: int) -> Reader:
    """Read a training and a test file to sparse rows."""

    def read(files: Sequence[Path]) -> Iterator[Block]:
        for part, file in zip(_PARTS, files, strict=True):
            for X, y in libsvm_blocks(file, columns):
                yield Block(part, X, y.astype(np.int64))

    return read


def _letter(files: Sequence[Path]) -> Iterator[Block]:
    table = read_csv(files[0])
    X = numbers(files[0], table.iloc[:, 1:])
    y = np.where(table[0].to_numpy() <= "M", 1, -1)
    rows = np.load(_LETTER_ROWS, allow_pickle=False)
    train, test = rows[:_LETTER_TRAIN], rows[_LETTER_TRAIN:]
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    for part, chosen in zip(_PARTS, (train, test), strict=True):
        yield Block(part, 2 * (X[chosen] - low) / (high - low) - 1, y[chosen])


def _luo2021_export(files: Sequence[Path]) -> Iterator[Block]:
    for part in _PARTS:
        X, y = read_npz(files[0], f"X_{part}", f"Y_{part}")
        yield Block(part, X.astype(np.float64), y.ravel().astype(np.int64))


def _usps_digits(files: Sequence[Path]) -> Iterator[Block]:
    for part, file in zip(_PARTS, files, strict=True):
        table = numbers(file, read_csv(file, separator=r"\s+").dropna(axis=1, how="all"))
        yield Block(part, table[:, 1:] + 1, table[:, 0].astype(np.int64))


def _usps_halves(files: Sequence[Path]) -> Iterator[Block]:
    for part, X, y in _usps_digits(files):
        yield Block(part, X, np.where(y >= 5, 1, -1))


def _housing(files: Sequence[Path]) -> Iterator[Block]:
    table = numbers(files[0], read_csv(files[0], separator=r"\s+"))
    yield Block("all", table[:, :13], table[:, 13])


def _housing_export(files: Sequence[Path]) -> Iterator[Block]:
    (table,) = read_npz(files[0], "housing")
    yield Block("all", table[:, :13], table[:, 13])


def _california_housing(files: Sequence[Path]) -> Iterator[Block]:
    """Read the columns as scikit-learn makes them: averages per household, target in units of 100,000."""
    with reading(files[0], "tar archive"), tarfile.open(files[0], "r:gz") as archive:
        members = [m for m in archive if m.name == "CaliforniaHousing/cal_housing.data" and m.isreg()]
        if not members or members[0].size > _MAX_CALIFORNIA_BYTES:
            raise ValueError("it has no member CaliforniaHousing/cal_housing.data of the expected size")
        table = pd.read_csv(archive.extractfile(members[0]), header=None)  # type: ignore[arg-type]
    longitude, latitude, age, rooms, bedrooms, population, households, income, value = numbers(
        files[0], table
    ).T
    averages = (rooms / households, bedrooms / households, population, population / households)
    yield Block("all", np.column_stack([income, age, *averages, latitude, longitude]), value / 100_000)


def _adult_uci(files: Sequence[Path]) -> Iterator[Block]:
    """Read the table with its numbers first, then one column for each value of the others."""
    tables = [
        read_csv(file, names=_ADULT_COLUMNS, skiprows=skip, skipinitialspace=True, keep_default_na=False)
        for file, skip in zip(files, (0, 1), strict=True)
    ]
    whole = pd.concat(tables, ignore_index=True)
    y = np.where(whole.pop("income").str.rstrip(".") == ">50K", 1, -1)
    nominal = [name for name in whole.columns if not pd.api.types.is_numeric_dtype(whole[name])]
    X = numbers(files[0], pd.get_dummies(whole, columns=nominal, dtype=np.float64))
    n_train = len(tables[0])
    yield Block("train", X[:n_train], y[:n_train])
    yield Block("test", X[n_train:], y[n_train:])


def _eeg(files: Sequence[Path]) -> Iterator[Block]:
    table = np.delete(numbers(files[0], read_arff(files[0])), _EEG_OUTLIERS, axis=0)
    yield Block("all", table[:, :14], table[:, 14].astype(np.int64))


def _magic04(files: Sequence[Path]) -> Iterator[Block]:
    table = read_csv(files[0])
    yield Block("all", numbers(files[0], table.iloc[:, :10]), np.where(table[10] == "g", 1, -1))


def _covtype(files: Sequence[Path]) -> Iterator[Block]:
    """Read in single precision, which holds the integers exactly."""
    for table in csv_blocks(files[0], dtype=np.float32):
        values = table.to_numpy()
        X = finite(files[0], values[:, :54], first_row=table.index[0])
        yield Block("all", X, np.where(values[:, 54] == 2, 1, -1))


def _covtype_sample(files: Sequence[Path]) -> Iterator[Block]:
    for table in csv_blocks(files[0], header=True):
        y = np.where(table.pop("Cover_Type") == 2, 1, -1)
        yield Block("all", numbers(files[0], table, table.index[0]), y)


READERS: dict[str, Reader] = {
    **{f"normal_{columns}": _normal(columns) for columns in NORMAL_COLUMNS},
    "adult": _sparse_libsvm(123),
    "adult_uci": _adult_uci,
    "breast_cancer": _bundled("breast_cancer"),
    "california_housing": _california_housing,
    "cod_rna": _dense_libsvm(8),
    "covtype": _covtype,
    "covtype_sample": _covtype_sample,
    "diabetes": _bundled("diabetes"),
    "digits": _bundled("digits"),
    "eeg": _eeg,
    "gisette": _dense_libsvm(5000),
    "housing": _housing,
    "housing_export": _housing_export,
    "ijcnn1": _dense_libsvm(22),
    "letter": _letter,
    "letter_libsvm": _dense_libsvm(16),
    "luo2021_export": _luo2021_export,
    "magic04": _magic04,
    "usps_digits": _usps_digits,
    "usps_halves": _usps_halves,
    "usps_libsvm": _dense_libsvm(256, first_label=1),
    "wine": _bundled("wine"),
}
