"""One reader for each data set: from its files to arrays, with the papers' labels, rows and scaling."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import datasets as bundled

from rflib.datasets.parsers import checked, read_arff, read_csv, read_libsvm

Arrays = dict[str, NDArray | csr_matrix]

_EEG_OUTLIERS = (898, 10386, 11509, 13179)
_LETTER_SEED = 2021


def _bundled(name: str) -> Callable[[Sequence[Path]], Arrays]:
    def read(files: Sequence[Path]) -> Arrays:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        return {"X": X, "y": y}

    return read


def _letter(files: Sequence[Path]) -> Arrays:
    table = read_csv(files[0])
    X = checked(files[0], table.iloc[:, 1:].to_numpy()) / 7.5 - 1
    y = np.where(table[0].to_numpy() <= "M", 1, -1)
    rows = np.random.default_rng(_LETTER_SEED).permutation(len(X))
    return _split(X, y, rows[:12000], rows[12000:18000])


def _luo2021_export(files: Sequence[Path]) -> Arrays:
    with np.load(files[0], allow_pickle=False) as archive:
        return {
            "X_train": archive["X_train"],
            "y_train": archive["Y_train"].ravel().astype(np.int64),
            "X_test": archive["X_test"],
            "y_test": archive["Y_test"].ravel().astype(np.int64),
        }


def _libsvm_pair(files: Sequence[Path]) -> Arrays:
    X_train, y_train = read_libsvm(files[0])
    X_test, y_test = read_libsvm(files[1], X_train.shape[1])
    return {
        "X_train": X_train.toarray(),
        "y_train": y_train.astype(np.int64),
        "X_test": X_test.toarray(),
        "y_test": y_test.astype(np.int64),
    }


def _adult(files: Sequence[Path]) -> Arrays:
    (X_train, y_train), (X_test, y_test) = (read_libsvm(file, 123) for file in files)
    return {
        "X_train": X_train,
        "y_train": y_train.astype(np.int64),
        "X_test": X_test,
        "y_test": y_test.astype(np.int64),
    }


def _gisette(files: Sequence[Path]) -> Arrays:
    X, y = read_libsvm(files[0], 5000)
    return {"X": X.toarray(), "y": y.astype(np.int64)}


def _usps_digits(files: Sequence[Path]) -> Arrays:
    arrays: Arrays = {}
    for part, file in zip(("train", "test"), files, strict=True):
        table = read_csv(file, separator=r"\s+").dropna(axis=1, how="all")
        arrays[f"X_{part}"] = checked(file, table.iloc[:, 1:].to_numpy()) + 1
        arrays[f"y_{part}"] = table.iloc[:, 0].to_numpy().astype(np.int64)
    return arrays


def _usps_halves(files: Sequence[Path]) -> Arrays:
    arrays = _usps_digits(files)
    return arrays | {name: np.where(arrays[name] >= 5, 1, -1) for name in ("y_train", "y_test")}


def _housing(files: Sequence[Path]) -> Arrays:
    table = checked(files[0], read_csv(files[0], separator=r"\s+").to_numpy())
    return {"X": table[:, :13], "y": table[:, 13]}


def _california_housing(files: Sequence[Path]) -> Arrays:
    with tarfile.open(files[0], "r:gz") as archive:
        member = archive.extractfile("CaliforniaHousing/cal_housing.data")
        if member is None:
            raise ValueError(f"{files[0]} has no member CaliforniaHousing/cal_housing.data.")
        raw = checked(files[0], pd.read_csv(member, header=None).to_numpy())
    longitude, latitude, age, rooms, bedrooms, population, households, income, value = raw.T
    X = np.column_stack(
        [
            income,
            age,
            rooms / households,
            bedrooms / households,
            population,
            population / households,
            latitude,
            longitude,
        ]
    )
    return {"X": X, "y": value / 100_000}


def _eeg(files: Sequence[Path]) -> Arrays:
    table = checked(files[0], read_arff(files[0]).to_numpy())
    table = np.delete(table, _EEG_OUTLIERS, axis=0)
    return {"X": table[:, :14], "y": table[:, 14].astype(np.int64)}


def _magic04(files: Sequence[Path]) -> Arrays:
    table = read_csv(files[0])
    return {
        "X": checked(files[0], table.iloc[:, :10].to_numpy()),
        "y": np.where(table[10].to_numpy() == "g", 1, -1),
    }


def _covtype(files: Sequence[Path]) -> Arrays:
    table = read_csv(files[0])
    y = np.where(table[54].to_numpy() == 2, 1, -1)
    return {"X": table.iloc[:, :54].to_numpy(dtype=np.float32), "y": y}


def _covtype_sample(files: Sequence[Path]) -> Arrays:
    table = read_csv(files[0], header=True)
    y = np.where(table.pop("Cover_Type").to_numpy() == 2, 1, -1)
    return {"X": checked(files[0], table.to_numpy()), "y": y}


def _split(X: NDArray, y: NDArray, train: NDArray, test: NDArray) -> Arrays:
    return {"X_train": X[train], "y_train": y[train], "X_test": X[test], "y_test": y[test]}


READERS: dict[str, Callable[[Sequence[Path]], Arrays]] = {
    **{name: _bundled(name) for name in ("digits", "breast_cancer", "wine", "diabetes")},
    "adult": _adult,
    "california_housing": _california_housing,
    "covtype": _covtype,
    "covtype_sample": _covtype_sample,
    "eeg": _eeg,
    "gisette": _gisette,
    "housing": _housing,
    "letter": _letter,
    "libsvm_pair": _libsvm_pair,
    "luo2021_export": _luo2021_export,
    "magic04": _magic04,
    "usps_digits": _usps_digits,
    "usps_halves": _usps_halves,
}
