"""A user's own file: CSV, Parquet, npz or LIBSVM, with a target column, checked like any data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rflib.datasets.parsers import checked, read_csv, read_libsvm
from rflib.datasets.readers import Arrays

_FORMATS = ".csv, .parquet, .npz, .libsvm or .svm (the text formats also with .gz, .bz2 or .xz)"


def read_user_file(spec: Mapping[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays and description of a user's file.

    ``spec`` has ``name``, ``file``, ``task`` and, for CSV and Parquet, ``target`` (the column's name); optionally
    ``test_file`` (of the same form), or ``test_size``, the share of rows that each repetition tests on
    (default 1/3). An npz file holds the arrays X and y.

    Raises
    ------
    ValueError
        For a missing file or column, another format, missing values, or labels that do not fit the task.
    """
    X, y = _read(Path(spec["file"]), spec)
    meta = {"name": spec["name"], "task": spec["task"], "source": f"user's file {Path(spec['file']).name}"}
    if "test_file" not in spec:
        return {"X": X, "y": y}, {**meta, "split": f"test {spec.get('test_size', 1 / 3)}"}
    X_test, y_test = _read(Path(spec["test_file"]), spec)
    if X_test.shape[1] != X.shape[1]:
        raise ValueError(
            f"{spec['test_file']} has {X_test.shape[1]} input columns, but {spec['file']} has {X.shape[1]}."
        )
    return {"X_train": X, "y_train": y, "X_test": X_test, "y_test": y_test}, {**meta, "split": "given"}


def _read(path: Path, spec: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray]:
    if not path.exists():
        raise ValueError(f"data set {spec['name']!r}: there is no file {path}.")
    suffix = Path(path.stem).suffix if path.suffix in (".gz", ".bz2", ".xz") else path.suffix
    names: list[str] | None = None
    if suffix == ".npz":
        X, y = _npz(path)
    elif suffix in (".libsvm", ".svm"):
        sparse, y = read_libsvm(path)
        X = sparse.toarray()
    elif suffix in (".csv", ".parquet"):
        table = read_csv(path, header=True) if suffix == ".csv" else pd.read_parquet(path)
        target = str(spec.get("target"))
        if target not in table.columns:
            raise ValueError(
                f"{path} has no column {target!r}; its columns are {', '.join(map(str, table.columns))}."
            )
        y = table.pop(target).to_numpy()
        names = [str(name) for name in table.columns]
        X = table.to_numpy()
    else:
        raise ValueError(f"{path} is of no known format: use {_FORMATS}.")
    return checked(path, X, names), _target(path, y, spec["task"])


def _npz(path: Path) -> tuple[NDArray, NDArray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return archive["X"], archive["y"]
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{path} must hold the arrays X and y, without pickled objects: {error}") from error


def _target(path: Path, y: NDArray, task: str) -> NDArray:
    missing = np.flatnonzero(pd.isna(y))
    if len(missing):
        raise ValueError(f"{path}: row {missing[0]} (from 0) has no target ({len(missing)} such rows).")
    if task == "regression":
        return checked(path, y.reshape(-1, 1), ["target"]).ravel()
    labels, codes = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)
    if len(labels) < 2 or (y.dtype.kind == "f" and not np.all(y == np.round(y))):
        raise ValueError(
            f"{path}: a classification target needs at least two labels, not a measured quantity."
        )
    return codes.astype(np.int64)
