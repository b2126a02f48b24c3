"""Preprocessing: columns and rows are scaled, dense or sparse, by what the training rows are like."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.preprocessing import StandardScaler

from rflib.datasets.dense_rows import made_dense
from rflib.validation import hint

# Rows = NDArray | csr_array, but sparse arrays have no stubs.
Rows = Any


@dataclass(eq=False)
class PartRows:
    """Some rows of a prepared array: where it is, their numbers in it, inputs in double precision, and targets."""

    origin: str
    numbers: NDArray[np.int64]
    X: Rows
    y: NDArray

    def in_precision(self, dtype: str) -> Rows:
        """Return the inputs in a precision; ValueError if a value is too large for it."""
        with np.errstate(over="ignore"):
            X = self.X.astype(dtype, copy=False)
        values = X.data if issparse(X) else X.ravel()
        if not np.isfinite(values).all():
            at = np.flatnonzero(~np.isfinite(values))[0]
            row, column = (_row_of(X)[at], X.indices[at]) if issparse(X) else np.unravel_index(at, X.shape)
            raise ValueError(
                f"{self.origin}: row {self.numbers[row]} (from 0), column {column} is too large for {dtype} here. "
                "Divide the column by a constant in the file, or scale the columns first."
            )
        return X


def apply(preprocess: str, train: PartRows, test: PartRows) -> None:
    """Scale rows in place by the steps of `rflib.datasets.load.load`."""
    with np.errstate(over="ignore", invalid="ignore"):  # `in_precision` names the place
        for name in preprocess.split("+"):
            if name != "raw":
                _STEPS[name](train, test)


def check_preprocess(preprocess: str) -> None:
    """Raise ValueError if a step of the preprocessing is not known."""
    for name in preprocess.split("+"):
        if name not in ("raw", *_STEPS):
            raise ValueError(
                f"unknown preprocessing {name!r}.{hint(name, _STEPS)} Use raw, or join steps by +. The steps are "
                f"{', '.join(_STEPS)}."
            )


def _standardize(train: PartRows, test: PartRows) -> None:
    _make_dense("standardize", train, test)
    low, high = _range(train.X)
    # Powers of two change no digit; with values below 1, no square overflows.
    unit = np.ldexp(1.0, np.clip(np.frexp(np.maximum(high, -low))[1], -1022, 1023))
    for rows in (train, test):
        rows.X /= unit
    scaler = StandardScaler(copy=False).fit(train.X)
    scale = np.where(scaler.scale_ == np.sqrt(scaler.var_), scaler.scale_, 1 / unit)
    for rows in (train, test):
        _shift_and_divide(rows, np.where(low < high, scaler.mean_, low / unit), scale)


def _centre(train: PartRows, test: PartRows) -> None:
    _make_dense("centre", train, test)
    mean = train.X.mean()
    for rows in (train, test):
        rows.X -= mean


def _minmax(train: PartRows, test: PartRows) -> None:
    _to_unit_range("minmax", train, test, *_range(train.X), len(train.y))


def _minmax_all(train: PartRows, test: PartRows) -> None:
    (low, high), (test_low, test_high) = _range(train.X), _range(test.X)
    n = len(train.y) + len(test.y)
    _to_unit_range("minmax_all", train, test, np.minimum(low, test_low), np.maximum(high, test_high), n)


def _to_unit_range(step: str, train: PartRows, test: PartRows, low: NDArray, high: NDArray, n: int) -> None:
    if low.any():
        _make_dense(step, train, test, f"the minimum of column {np.flatnonzero(low)[0]} is not 0")
    for rows in (train, test):
        _shift_and_divide(rows, low, _spread(low, high, n))


def _minmax_rows(train: PartRows, test: PartRows) -> None:
    ranges = [(rows, *_range(rows.X, axis=1)) for rows in (train, test)]
    for rows, low, _ in ranges:
        if low.any():
            row = rows.numbers[np.flatnonzero(low)[0]]
            _make_dense("minmax_rows", train, test, f"the minimum of row {row} is not 0")
    for rows, low, high in ranges:
        _shift_and_divide(rows, low[:, None], _spread(low, high, rows.X.shape[1])[:, None])


def _unit_norm(train: PartRows, test: PartRows) -> None:
    for rows in (train, test):
        norms = row_norms(rows.X)
        wrong = np.flatnonzero((norms == 0) | (norms == np.inf))
        if len(wrong):
            what = "too large" if norms[wrong[0]] else "zero"
            raise ValueError(
                f"{rows.origin}: row {rows.numbers[wrong[0]]} (from 0) is {what} here and cannot be scaled to "
                f"unit norm ({len(wrong)} such rows). Remove these rows, or scale the columns differently before."
            )
        _divide(rows.X, norms)


def row_norms(X: Rows) -> NDArray[np.float64]:
    """Return the 2-norms of rows, dense or sparse, shape (n, 1)."""
    norms: NDArray[np.float64] = (sparse_norm if issparse(X) else np.linalg.norm)(X, axis=1)
    return norms[:, None]


def _make_dense(step: str, train: PartRows, test: PartRows, cause: str = "") -> None:
    needs = f"data set {train.origin.rpartition(':')[0]}: the step {step!r}{cause and f' ({cause})'}"
    train.X, test.X = made_dense(needs, train.X, test.X)


def _range(X: Rows, axis: int = 0) -> tuple[NDArray, NDArray]:
    """Return the least and the largest value of each column, or of each row."""
    low, high = X.min(axis=axis), X.max(axis=axis)
    return (low.toarray(), high.toarray()) if issparse(X) else (low, high)


def _spread(low: NDArray, high: NDArray, n: int) -> NDArray:
    """Return the ranges of n values each, or 1 where they are no more than rounding errors of n values."""
    rounding = max(10, n) * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    return np.where(high - low > rounding, high - low, 1)


def _shift_and_divide(rows: PartRows, shift: NDArray, scale: NDArray) -> None:
    """Scale rows in place; sparse ones have no shift."""
    if not issparse(rows.X):
        rows.X -= shift
    _divide(rows.X, scale)


def _divide(X: Rows, by: NDArray) -> None:
    """Divide rows (n, d) in place by numbers (d,) or (n, 1)."""
    if issparse(X):
        X.data /= np.broadcast_to(by, X.shape)[_row_of(X), X.indices]
    else:
        X /= by


def _row_of(X: csr_array) -> NDArray[np.intp]:
    """Return the row of each stored value."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


_STEPS = {
    "minmax": _minmax,
    "minmax_all": _minmax_all,
    "minmax_rows": _minmax_rows,
    "centre": _centre,
    "standardize": _standardize,
    "unit_norm": _unit_norm,
}
