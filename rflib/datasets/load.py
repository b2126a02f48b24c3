"""Load: prepared arrays as the training and test rows of one repetition, preprocessed."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import load_npz

_STEPS = ("minmax", "minmax_all", "standardize", "unit_norm")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test rows: inputs (n, d), targets (n,), and the task."""

    X_train: NDArray[np.floating]
    y_train: NDArray
    X_test: NDArray[np.floating]
    y_test: NDArray
    task: str


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
        What `prepare` wrote.
    preprocess : str
        "raw", or steps joined by "+", applied in order: "minmax" (each column to [0, 1] by the training rows),
        "minmax_all" (by all rows, as luo2021 does for housing), "standardize" (mean 0, variance 1 on the
        training rows), "unit_norm" (each row divided by its norm).
    repetition : int
        Seed of the split, where the data set has no given one, and of subsamples.
    dtype : {"float64", "float32"}
        Precision of the inputs.
    max_train, max_test : int or None
        Use at most so many rows, drawn at random.

    Raises
    ------
    ValueError
        For an unknown step, or a zero row that cannot be scaled to unit norm.
    """
    folder = Path(folder)
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        arrays = {name: _array(folder, name) for name in meta["shapes"]}
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise ValueError(
            f"{folder} is no (whole) prepared data set ({error}): delete it and run again."
        ) from error
    rng = np.random.default_rng([zlib.crc32(meta["name"].encode()), repetition])
    if meta["split"] == "given":
        n_train, n_test = len(arrays["y_train"]), len(arrays["y_test"])
        train, test = _subsample(n_train, max_train, rng), _subsample(n_test, max_test, rng)
        X_train, X_test = _rows(arrays["X_train"], train), _rows(arrays["X_test"], test)
        y_train, y_test = arrays["y_train"][train], arrays["y_test"][test]
    else:
        order = rng.permutation(len(arrays["y"]))
        n_train = _training_rows(meta["split"], len(order))
        train, test = order[:n_train][:max_train], order[n_train:][:max_test]
        X_train, X_test = _rows(arrays["X"], train), _rows(arrays["X"], test)
        y_train, y_test = arrays["y"][train], arrays["y"][test]
    for step in preprocess.split("+"):
        if step != "raw":
            X_train, X_test = _step(step, X_train, X_test, str(folder))
    return Dataset(X_train.astype(dtype), y_train, X_test.astype(dtype), y_test, meta["task"])


def _array(folder: Path, name: str) -> Any:
    if (folder / f"{name}.npz").exists():
        return load_npz(folder / f"{name}.npz")
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)


def _rows(X: Any, chosen: NDArray) -> NDArray[np.float64]:
    rows = X[chosen]
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _subsample(n: int, at_most: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    if at_most is None or at_most >= n:
        return np.arange(n)
    return np.sort(rng.permutation(n)[:at_most])


def _training_rows(split: str, n: int) -> int:
    """Return the number of training rows of a random split: "half", "2/3", "train 405" or "test 0.25"."""
    if split == "half":
        return n // 2
    if split.startswith("train "):
        return int(split.split()[1])
    if split.startswith("test "):
        return n - round(float(split.split()[1]) * n)
    return int(Fraction(split) * n)


def _step(step: str, train: NDArray, test: NDArray, place: str) -> tuple[NDArray, NDArray]:
    if step not in _STEPS:
        raise ValueError(
            f"unknown preprocessing {step!r}: use raw, or steps of {', '.join(_STEPS)} joined by +."
        )
    if step == "unit_norm":
        return _unit_norm(train, f"{place}, training rows"), _unit_norm(test, f"{place}, test rows")
    if step == "standardize":
        shift, scale = train.mean(axis=0), train.std(axis=0)
    else:
        rows = np.concatenate([train, test]) if step == "minmax_all" else train
        shift, scale = rows.min(axis=0), np.ptp(rows, axis=0)
    scale = np.where(scale > 0, scale, 1)
    return (train - shift) / scale, (test - shift) / scale


def _unit_norm(X: NDArray, place: str) -> NDArray:
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    zero = np.flatnonzero(norms == 0)
    if len(zero):
        raise ValueError(f"{place}: row {zero[0]} is zero and has no unit norm ({len(zero)} such rows).")
    return X / norms
