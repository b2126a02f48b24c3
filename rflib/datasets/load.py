"""Load: prepared arrays as the training and test rows of one repetition, preprocessed."""

import json
import zlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import load_npz

from rflib.validation import hint

_DTYPES = ("float64", "float32")


@dataclass(frozen=True, eq=False)
class Dataset:
    """One repetition of a data set.

    Attributes
    ----------
    X_train, X_test : array (n, d)
        Inputs, dense.
    y_train, y_test : array (n,)
        Targets: integers for classification, doubles for regression.
    task : {"classification", "regression"}
        What the target is.
    name : str
        Name of the data set.
    classes : array (k,) or None
        Values of the targets, of all rows, ascending; None for regression.
    """

    X_train: NDArray[np.floating]
    y_train: NDArray
    X_test: NDArray[np.floating]
    y_test: NDArray
    task: str
    name: str
    classes: NDArray[np.int64] | None


@dataclass(eq=False)
class _Rows:
    """Some rows of a prepared array: their numbers in it, inputs and targets."""

    origin: str
    numbers: NDArray[np.int64]
    X: NDArray[np.float64]
    y: NDArray


def load(
    folder: str | Path,
    *,
    preprocess: str = "raw",
    repetition: int = 0,
    dtype: str = "float64",
    max_train: int | None = None,
    max_test: int | None = None,
) -> Dataset:
    """Return one repetition of a prepared data set.

    Parameters
    ----------
    folder : path
        What `rflib.datasets.prepare.prepare` wrote.
    preprocess : str
        "raw", or steps joined by "+", applied in order: "minmax" (each column to [0, 1] by the training rows),
        "minmax_all" (by all rows, as luo2021 does for housing), "standardize" (mean 0 and variance 1 on the
        training rows), "centre" (minus the mean of all values of the training rows, one number), "unit_norm" (each
        row divided by its 2-norm), "minmax_rows" (each row to [0, 1] by itself, which is what Matlab's mapminmax
        does to rows of samples). Constant columns become 0 if columns are scaled.
    repetition : int
        With the data set's name, the seed of the split, where there is no given one, and of subsamples.
    dtype : {"float64", "float32"}
        Precision of the inputs; preprocessing is done in double precision.
    max_train, max_test : int or None
        Use at most so many rows, drawn at random.

    Raises
    ------
    ValueError
        For an unknown step or dtype, a folder that is not whole, or a zero row that cannot be scaled to unit norm.
    """
    check_preprocess(preprocess)
    steps = [_STEPS[name] for name in preprocess.split("+") if name != "raw"]
    if dtype not in _DTYPES:
        raise ValueError(f"dtype must be {' or '.join(_DTYPES)}, got {dtype!r}.")
    meta, arrays = _read(Path(folder))
    rng = np.random.default_rng([zlib.crc32(meta["name"].encode()), repetition])
    if meta["split"] == "given":
        parts = ("_train", "_test")
        chosen = [
            _subsample(len(arrays[f"y{part}"]), limit, rng)
            for part, limit in zip(parts, (max_train, max_test), strict=True)
        ]
    else:
        parts = ("", "")
        order = rng.permutation(len(arrays["y"]))
        n_train = training_rows(meta["split"], len(order))
        chosen = [order[:n_train][:max_train], order[n_train:][:max_test]]
    train, test = (
        _Rows(f"{folder}: X{part}", rows, _dense(arrays[f"X{part}"], rows), arrays[f"y{part}"][rows])
        for part, rows in zip(parts, chosen, strict=True)
    )
    for step in steps:
        step(train, test)
    classes = None
    if meta["task"] == "classification":
        classes = np.unique(
            np.concatenate([np.unique(array) for name, array in arrays.items() if name[0] == "y"])
        )
    X_train, X_test = (rows.X.astype(dtype, copy=False) for rows in (train, test))
    return Dataset(X_train, train.y, X_test, test.y, meta["task"], meta["name"], classes)


def check_preprocess(preprocess: str) -> None:
    """Raise ValueError if a step of the preprocessing is not known."""
    for name in preprocess.split("+"):
        if name not in ("raw", *_STEPS):
            raise ValueError(
                f"unknown preprocessing {name!r}.{hint(name, _STEPS)} Use raw, or join steps by +. The steps are "
                f"{', '.join(_STEPS)}."
            )


def training_rows(split: str, n: int) -> int:
    """Return the number of training rows of a random split: "half", "2/3", "train 405" or "test 0.25"."""
    if split == "half":
        return n // 2
    if split.startswith("train "):
        return int(split.split()[1])
    if split.startswith("test "):
        return n - round(float(split.split()[1]) * n)
    return int(Fraction(split) * n)


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return meta, {name: _array(folder, name) for name in meta["shapes"]}
    except Exception as error:  # as many kinds as there are ways to be damaged
        raise ValueError(
            f"{folder} is not a complete prepared data set ({error}). Delete it and run again."
        ) from error


def _array(folder: Path, name: str) -> Any:
    if (folder / f"{name}.npz").exists():
        return load_npz(folder / f"{name}.npz")
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)


def _dense(X: Any, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a copy of the rows in double precision."""
    chosen = X[rows]
    return np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen, dtype=np.float64)


def _subsample(n: int, at_most: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    if at_most is None or at_most >= n:
        return np.arange(n)
    return np.sort(rng.permutation(n)[:at_most])


def _minmax(train: _Rows, test: _Rows) -> None:
    low, high = train.X.min(axis=0), train.X.max(axis=0)
    _shift_and_divide(train, test, low, high - low)


def _minmax_all(train: _Rows, test: _Rows) -> None:
    low = np.minimum(train.X.min(axis=0), test.X.min(axis=0))
    high = np.maximum(train.X.max(axis=0), test.X.max(axis=0))
    _shift_and_divide(train, test, low, high - low)


def _standardize(train: _Rows, test: _Rows) -> None:
    _shift_and_divide(train, test, train.X.mean(axis=0), train.X.std(axis=0))


def _centre(train: _Rows, test: _Rows) -> None:
    mean = train.X.mean()
    for rows in (train, test):
        rows.X -= mean


def _shift_and_divide(train: _Rows, test: _Rows, shift: NDArray, scale: NDArray) -> None:
    """Scale both in place; a constant column is only shifted."""
    scale = np.where(scale > 0, scale, 1)
    for rows in (train, test):
        rows.X -= shift
        rows.X /= scale


def _minmax_rows(train: _Rows, test: _Rows) -> None:
    for rows in (train, test):
        low, high = rows.X.min(axis=1, keepdims=True), rows.X.max(axis=1, keepdims=True)
        rows.X -= low
        rows.X /= np.where(high > low, high - low, 1)


def _unit_norm(train: _Rows, test: _Rows) -> None:
    for rows in (train, test):
        norms = np.linalg.norm(rows.X, axis=1, keepdims=True)
        zero = np.flatnonzero(norms == 0)
        if len(zero):
            raise ValueError(
                f"{rows.origin}: row {rows.numbers[zero[0]]} (from 0) is zero here and cannot be scaled to unit "
                f"norm ({len(zero)} such rows). Remove these rows, or scale the columns differently before."
            )
        rows.X /= norms


_STEPS = {
    "minmax": _minmax,
    "minmax_all": _minmax_all,
    "minmax_rows": _minmax_rows,
    "centre": _centre,
    "standardize": _standardize,
    "unit_norm": _unit_norm,
}
