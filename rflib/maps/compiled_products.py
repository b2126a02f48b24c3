"""Products of a tree, row by row, compiled by numba."""

from __future__ import annotations

from numba import njit
from numpy.typing import NDArray


@njit(nogil=True, cache=True)
def multiply_along(parents: NDArray, functions: NDArray, ratios: NDArray, out: NDArray) -> None:
    """Write the products at rows into ``out`` (n, n_products), each its parent times a ratio.

    The first one is there already. The others are out[:, parents[j]] * ratios[:, functions[j]]; a parent comes
    before its products.
    """
    for i in range(out.shape[0]):
        for j in range(1, out.shape[1]):
            out[i, j] = out[i, parents[j]] * ratios[i, functions[j]]
