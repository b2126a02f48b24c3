"""The fast Walsh-Hadamard transform."""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard

from rflib.kernels.namespaces import Array, beside, namespace

# Sums of neighbours are slow: the transform is a product with matrices of at most this order.
_ORDER = 32


def walsh_hadamard(X: Array) -> Array:
    """Return X H / sqrt(d) along the last axis, whose length d is a power of two.

    H is the Hadamard matrix in natural order, so that H / sqrt(d) is orthogonal and symmetric. It is a Kronecker
    product of small ones, so that the transform costs O(d log d) for each row.
    """
    d, xp, values, done = X.shape[-1], namespace(X), X, 1
    while done < d:
        order = min(d // done, _ORDER)
        factor = beside(hadamard(order) / np.sqrt(order), X)
        if done == 1:
            values = xp.reshape(values, (-1, order)) @ factor
        else:
            values = factor @ xp.reshape(values, (-1, order, done))
        done *= order
    return xp.reshape(values, X.shape)
