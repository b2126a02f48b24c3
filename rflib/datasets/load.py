"""Load: prepared arrays as the training and test rows of one repetition, preprocessed."""

import json
import zlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, load_npz

from rflib.datasets.preprocess import PartRows, Rows, apply, check_preprocess

_DTYPES = ("float64", "float32")
# Products with rows of which more is stored are faster, and fast transforms possible, if they are dense.
_SPARSE_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Dataset:
    """One repetition of a data set.

    Attributes
    ----------
    X_train, X_test : array or csr_array (n, d)
        Inputs: sparse, both of them, if the prepared arrays are sparse, hold at most a tenth of their values, and
        no step of the preprocessing needs dense rows. Then columns ascend in each row and no zeros are stored.
    y_train, y_test : array (n,)
        Targets: integers for classification, doubles for regression.
    task : {"classification", "regression"}
        What the target is.
    name : str
        Name of the data set.
    classes : array (k,) or None
        Values of the targets, of all rows, ascending; None for regression.
    """

    X_train: Rows
    y_train: NDArray
    X_test: Rows
    y_test: NDArray
    task: str
    name: str
    classes: NDArray[np.int64] | None


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
        does to rows of samples). Columns, or rows, that are constant up to rounding are only shifted, to 0: for
        "standardize" by scikit-learn's rule, and for the others if their range is at most max(10, m) times the
        machine epsilon times their largest absolute value, with m values. Sparse rows stay sparse in "unit_norm",
        and in the minmax steps where all minima are 0.
    repetition : int
        With the data set's name, the seed of the split, where there is no given one, and of subsamples.
    dtype : {"float64", "float32"}
        Precision of the inputs; preprocessing is done in double precision.
    max_train, max_test : int or None
        Use at most so many rows, drawn at random.

    Raises
    ------
    ValueError
        For an unknown step or dtype, a folder that is not whole, a zero row that cannot be scaled to unit norm,
        values that overflow in preprocessing or in single precision, or a step that needs dense rows, where these
        would take more than 500 MB.
    """
    check_preprocess(preprocess)
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
    inputs = [arrays[f"X{part}"] for part in dict.fromkeys(parts)]
    dense = sum(X.size for X in inputs) > _SPARSE_SHARE * sum(X.shape[0] * X.shape[1] for X in inputs)
    train, test = (
        PartRows(
            f"{folder}: X{part}", rows, _chosen(arrays[f"X{part}"], rows, dense), arrays[f"y{part}"][rows]
        )
        for part, rows in zip(parts, chosen, strict=True)
    )
    apply(preprocess, train, test)
    classes = None
    if meta["task"] == "classification":
        classes = np.unique(
            np.concatenate([np.unique(array) for name, array in arrays.items() if name[0] == "y"])
        )
    X_train, X_test = (rows.in_precision(dtype) for rows in (train, test))
    return Dataset(X_train, train.y, X_test, test.y, meta["task"], meta["name"], classes)


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


def _chosen(X: Rows, rows: NDArray[np.int64], dense: bool) -> Rows:
    """Return a copy of the rows in double precision."""
    if not issparse(X):
        return np.asarray(X[rows], dtype=np.float64)
    chosen = csr_array(X)[rows].astype(np.float64)
    return chosen.toarray() if dense else chosen


def _subsample(n: int, at_most: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    if at_most is None or at_most >= n:
        return np.arange(n)
    return np.sort(rng.permutation(n)[:at_most])
