"""Hashes of rows, which depend on their numbers alone: not on their order, their type, or how they are stored."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.sparse_rows import canonical
from rflib.maps.row_blocks import row_blocks

_BLOCK_ELEMENTS = 1 << 14


def row_hashes(X: Any, seed: int) -> NDArray[np.uint64]:
    """Return a hash of each row and the seed, shape (n_samples,).

    X is an array or a sparse matrix of any numeric type.
    """
    X, (n, d) = canonical(X), X.shape
    keys = np.random.default_rng(seed).integers(2**64, size=d, dtype=np.uint64) | np.uint64(1)
    hashes = np.zeros(n, dtype=np.uint64)
    if issparse(X):
        np.add.at(hashes, np.repeat(np.arange(n), np.diff(X.indptr)), _mixed(X.data) * keys[X.indices])
    else:
        for rows in row_blocks(n, max(1, _BLOCK_ELEMENTS // d)):
            hashes[rows] = (_mixed(X[rows]) * keys).sum(axis=1)
    return _mixed_bits(hashes)


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
