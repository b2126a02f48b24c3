"""Columns that are harmonics about an axis: functions of the coordinate along it, times polynomials across it.

`rflib.frequencies.axial_functions` has the formulas. Everything is held in plain arrays, so that a fitted map can
be stored and restored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.frequencies.axial_functions import AxialFunctions
from rflib.frequencies.products import NO_PRODUCTS, Products
from rflib.kernels.namespaces import (
    Array,
    beside,
    in_type_of,
    multiply_into,
    products_of_columns,
    widest,
)
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.exact_harmonics import ExactHarmonics
from rflib.maps.row_blocks import over_row_blocks
from rflib.measures.control_variates import polynomial_columns, rising_product

_BLOCK_ELEMENTS = 1 << 19


@dataclass(frozen=True, eq=False)
class AxialColumns:
    """Functions h_k(t) of the coordinate t along an axis, each with the harmonics of a degree across it.

    Attributes
    ----------
    axis : ndarray of shape (d,)
        The axis, a unit vector; empty for maps without such columns.
    coefficients : ndarray of shape (n_nodes, n_functions)
        Chebyshev coefficients of h_k(t), divided by the norm of the perpendicular part to the power of the degree.
    degrees : ndarray of shape (n_functions,)
        Degree of each function.
    counts : ndarray of shape (n_functions,)
        Number of columns of each function's sample; 0 for a function that has all its harmonics. The last
        functions are those with samples.
    frame : ndarray of shape (d - 1, n_directions)
        Directions across the axis, of which the products of the samples are made.
    factors : ndarray of shape (n_products, highest degree)
        Indices of the directions whose product is a column, in the order of the functions. Products of a lower
        degree have -1 in the last places.
    """

    axis: NDArray
    coefficients: NDArray
    degrees: NDArray
    counts: NDArray
    frame: NDArray
    factors: NDArray

    @staticmethod
    def of(axis: NDArray, functions: AxialFunctions, samples: Sequence[Products]) -> AxialColumns:
        """Return the columns of functions about an axis, of which the last ones have samples."""
        degrees = functions.degrees
        counts = np.zeros(len(degrees), dtype=int)
        counts[len(degrees) - len(samples) :] = [len(sample.factors) for sample in samples]
        factors = np.full((counts.sum(), degrees[counts > 0].max(initial=0)), -1)
        scales, row, direction = np.ones(len(degrees)), 0, 0
        for k, sample in zip(np.flatnonzero(counts), samples, strict=True):
            n, degree = sample.factors.shape
            factors[row : row + n, :degree] = sample.factors + direction
            scales[k] = np.sqrt(polynomial_columns(len(axis) - 1, degree) / n)
            row, direction = row + n, direction + sample.frame.shape[1]
        frame = np.hstack([np.zeros((len(axis) - 1, 0)), *(sample.frame for sample in samples)])
        return AxialColumns(axis, functions.coefficients * scales, degrees, counts, frame, factors)

    def fill(self, X: Rows, features: Array) -> None:
        """Write the columns for rows X of unit norm into ``features``, of which the last ones may stay zero."""
        mirror, n_whole = _reflection(self.axis), int((self.counts == 0).sum())
        harmonics = self._whole(n_whole)
        n_exact = len(harmonics.column_signs())
        t = X @ beside(self.axis, features)
        functions = in_type_of(_clenshaw(beside(self.coefficients, widest(t)), widest(t)), features)
        frame = beside(self.frame, features)

        def fill(rows: slice) -> None:
            block = dense(X[rows]) if isinstance(features, np.ndarray) else X[rows, :]
            normal = beside(mirror, block)
            across = (block - (block @ normal)[:, None] * (2 * normal))[:, 1:]
            harmonics.fill(across, functions[rows, :], features[rows, :n_exact])
            if not len(self.factors):
                return
            along, row = across @ frame, 0
            for k in range(n_whole, len(self.degrees)):
                n, degree = int(self.counts[k]), int(self.degrees[k])
                products = products_of_columns(along, self.factors[row : row + n, :degree].T)
                scaled = functions[rows, k : k + 1] * rising_product(len(self.axis) - 1, degree) ** -0.5
                multiply_into(features[rows, n_exact + row : n_exact + row + n], scaled, products)
                row += n

        n_used = n_exact + len(self.factors) + self.frame.shape[1]
        over_row_blocks(fill, features, max(1, _BLOCK_ELEMENTS // max(n_used, len(self.axis))))

    def _whole(self, n: int) -> ExactHarmonics:
        """Return all harmonics of the first n functions, as harmonics in one dimension less."""
        none = np.zeros(0)
        pole, products = np.zeros(len(self.axis) - 1), NO_PRODUCTS
        return ExactHarmonics(
            pole,
            none,
            np.zeros((0, n)),
            self.degrees[:n],
            np.ones(n),
            np.zeros((0, n)),
            products.frame,
            products.factors,
        )


_NONE = np.zeros(0, dtype=int)
NO_AXIAL_COLUMNS = AxialColumns(
    np.zeros(0), np.zeros((0, 0)), _NONE, _NONE, np.zeros((0, 0)), np.zeros((0, 0), dtype=int)
)


def _reflection(axis: NDArray) -> NDArray[np.float64]:
    """Return the normal of the reflection that moves the axis to plus or minus the first coordinate."""
    normal = axis + np.copysign(1.0, axis[0]) * np.eye(1, len(axis))[0]
    return normal / np.linalg.norm(normal)


def _clenshaw(coefficients: Array, t: Array) -> Array:
    """Return Chebyshev series at t, shape (n, n_functions), for coefficients (n_nodes, n_functions)."""
    t = t[:, None]
    next_sum = after_next = 0 * t
    for k in range(coefficients.shape[0] - 1, 0, -1):
        next_sum, after_next = coefficients[k, :] + 2 * t * next_sum - after_next, next_sum
    return coefficients[0, :] + t * next_sum - after_next
