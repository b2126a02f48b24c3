"""Columns whose inner products are the polynomial kernel of a degree: all harmonics of a degree from 0 to 3."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, beside, multiply_into, ones, products_of_columns, take_columns
from rflib.kernels.sparse_rows import ShiftedRows
from rflib.measures.control_variates import rising_product

_TINY = 1e-300


def fill_polynomials(block: Array | ShiftedRows, degrees: list[int], functions: Array, out: Array) -> None:
    """Write the harmonics of each degree, multiplied by its function at each row, one after another into ``out``.

    Parameters
    ----------
    block : array or ShiftedRows of shape (n, d)
        Rows as seen from the pole.
    degrees : list of int
        Degree of each function.
    functions : array of shape (n, n_functions)
        The functions at the rows.
    out : array of shape (n, n_columns)
        The columns.
    """
    start = 0
    for k, degree in enumerate(degrees):
        for left, right in _polynomials(block, degree):
            stop = start + right.shape[1]
            multiply_into(out[:, start:stop], functions[:, k : k + 1] * left, right)
            start = stop


def _polynomials(Y: Array | ShiftedRows, degree: int) -> Iterator[tuple[Array | float, Array]]:
    """Yield dense columns whose inner products are the polynomial kernel of the degree.

    Each part is a factor, which may differ by row, and a block of columns that it multiplies.
    """
    n, d = Y.shape
    if degree == 0:
        yield 1.0, np.ones((n, 1), dtype=Y.dtype) if isinstance(Y, ShiftedRows) else ones((n, 1), Y)
        return
    if isinstance(Y, ShiftedRows):
        Y = Y.toarray()
    scale = rising_product(d, degree) ** -0.5
    if degree == 1:
        yield scale, Y
    elif degree == 2:
        yield scale, _pairs(Y)
        yield (2 * d * (d + 2)) ** -0.5, (Y * Y) @ beside(_contrasts(d), Y)
    else:
        pairs = _pairs(Y)
        for i in range(d - 2):
            yield Y[:, i : i + 1] * scale, pairs[:, pairs.shape[1] - comb(d - 1 - i, 2) :]
        cubes = (Y * Y) @ beside(_cubes(d), Y)
        cubes *= take_columns(Y, np.repeat(np.arange(d), d - 1))
        yield (6 * d * (d + 2) * (d + 4)) ** -0.5, cubes


def _pairs(Y: Array) -> Array:
    """Return the products of every two different columns, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    return products_of_columns(Y, np.triu_indices(Y.shape[1], 1))


@lru_cache(maxsize=8)
def _cubes(d: int) -> NDArray[np.float64]:
    """Return coefficients of squares, shape (d, d (d-1)).

    The squares with the first d-1 columns, times x_1, are orthonormal harmonics of degree 3. Those with the next
    d-1 columns, times x_2, are others, and so on.
    """
    weights = np.append(1.0, np.full(d - 1, np.sqrt(3)))
    trace = 1 / weights / np.linalg.norm(1 / weights)
    normal = trace - np.eye(1, d)[0]
    reflection = np.eye(d) - 2 * np.outer(normal, normal) / max(normal @ normal, _TINY)
    of_first = weights[:, None] * reflection[:, 1:]
    return np.hstack([np.roll(of_first, k, axis=0) for k in range(d)])


@lru_cache(maxsize=8)
def _contrasts(d: int) -> NDArray[np.float64]:
    """Return orthonormal columns whose sums are zero (Helmert), shape (d, d-1)."""
    i = np.arange(1, d)
    return (np.triu(np.ones((d, d - 1))) - np.eye(d, d - 1, -1) * i) / np.sqrt(i * (i + 1))
