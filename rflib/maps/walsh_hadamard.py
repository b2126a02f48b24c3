"""The fast Walsh-Hadamard transform."""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard

from rflib.kernels.namespaces import Array, beside, namespace

# The first stages are one product with a matrix of this order, because sums of neighbours are slow.
_FIRST = 64


def walsh_hadamard(X: Array) -> Array:
    """Return X H / sqrt(d) along the last axis, whose length d is a power of two.

    H is the Hadamard matrix in natural order, so that H / sqrt(d) is orthogonal and symmetric. The transform costs
    O(d log d) for each row.

    Raises
    ------
    ValueError
        If the length is not a power of two.
    """
    d = X.shape[-1]
    if d & (d - 1) or d == 0:
        raise ValueError(f"walsh_hadamard: the length must be a power of two, got {d}.")
    if namespace(X) is not np:
        return _by_products(X)
    half = min(d, _FIRST)
    first = (hadamard(half) / np.sqrt(d)).astype(X.dtype)
    values = (X.reshape(*X.shape[:-1], d // half, half) @ first).reshape(X.shape)
    other = np.empty_like(values)
    while half < d:
        pairs = values.reshape(*X.shape[:-1], d // (2 * half), 2, half)
        both = other.reshape(pairs.shape)
        np.add(pairs[..., 0, :], pairs[..., 1, :], out=both[..., 0, :])
        np.subtract(pairs[..., 0, :], pairs[..., 1, :], out=both[..., 1, :])
        values, other = other, values
        half *= 2
    return values


def _by_products(X: Array) -> Array:
    """Transform by products with small Hadamard matrices, whose Kronecker product H is."""
    xp, values, done, d = namespace(X), X, 1, X.shape[-1]
    while done < d:
        order = min(d // done, _FIRST)
        factor = beside(hadamard(order) / np.sqrt(order), X)
        if done == 1:
            values = xp.reshape(values, (-1, order)) @ factor
        else:
            values = factor @ xp.reshape(values, (-1, order, done))
        done *= order
    return xp.reshape(values, X.shape)
