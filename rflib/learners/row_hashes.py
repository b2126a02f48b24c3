"""Hashes of rows, which depend on their numbers alone: not on their order, their type, or how they are stored."""

from hashlib import blake2b
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from rflib.kernels.row_faults import is_frame
from rflib.kernels.sparse_rows import canonical
from rflib.maps.row_blocks import row_blocks

_BLOCK_ELEMENTS = 1 << 14


def row_hashes(X: Any, seed: int) -> NDArray[np.uint64]:
    """Return a hash of each row and the seed, shape (n_samples,).

    X is an array or a sparse matrix of any numeric type, or rows that hold texts too, such as a DataFrame.
    """
    if is_frame(X) or X.dtype.kind in "OSU":
        X = _numbered(X)
    X, (n, d) = canonical(X), X.shape
    keys = np.random.default_rng(seed).integers(2**64, size=d, dtype=np.uint64) | np.uint64(1)
    hashes = np.zeros(n, dtype=np.uint64)
    if issparse(X):
        np.add.at(hashes, np.repeat(np.arange(n), np.diff(X.indptr)), _mixed(X.data) * keys[X.indices])
    else:
        for rows in row_blocks(n, max(1, _BLOCK_ELEMENTS // d)):
            hashes[rows] = (_mixed(X[rows]) * keys).sum(axis=1)
    return _mixed_bits(hashes)


def _numbered(X: Any) -> NDArray[np.float64]:
    """Return rows (n, d) in which a number stands for each value that is none."""
    known: dict[Any, float] = {}

    def number(value: Any) -> float:
        if isinstance(value, Real | np.bool_):
            return float(value)
        if value not in known:
            known[value] = float(int.from_bytes(blake2b(str(value).encode(), digest_size=6).digest()))
        return known[value]

    columns = (np.asarray(_safe_indexing(X, j, axis=1)) for j in range(X.shape[1]))
    parts = [c if c.dtype.kind in "biuf" else [number(value) for value in c.tolist()] for c in columns]
    numbers = np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def _mixed(numbers: NDArray) -> NDArray[np.uint64]:
    """Return hashes of numbers, 0 for zeros of either sign."""
    return _mixed_bits((numbers.astype(np.float64) + 0.0).view(np.uint64))


def _mixed_bits(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix 64 bits, as the finaliser of splitmix64 does (Steele, Lea and Flood, OOPSLA 2014)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = bits ^ (bits >> np.uint64(shift))
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits
