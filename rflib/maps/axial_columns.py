"""Columns that are harmonics about an axis: functions of the coordinate along it, times polynomials across it.

`rflib.frequencies.axial_harmonics` has the formulas. Everything is held in plain arrays, so that a fitted map can
be stored and restored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.frequencies.products import Products
from rflib.kernels.namespaces import Array, beside, in_type_of, widest
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.exact_harmonics import ExactHarmonics
from rflib.maps.row_blocks import over_row_blocks

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
    frame : ndarray of shape (d - 1, n_directions)
        Directions across the axis, of which the products of the last function are made.
    products : ndarray of shape (n_products, degree)
        Indices of the directions whose product is a column; empty if the last function has all its harmonics.
    """

    axis: NDArray
    coefficients: NDArray
    degrees: NDArray
    frame: NDArray
    products: NDArray

    @staticmethod
    def of(axis: NDArray, coefficients: NDArray, degrees: NDArray, products: Products) -> AxialColumns:
        """Return the columns of functions about an axis."""
        return AxialColumns(axis, coefficients, degrees, products.frame, products.factors)

    def fill(self, X: Rows, features: Array) -> None:
        """Write the columns for rows X of unit norm into ``features``, of which the last ones may stay zero."""
        mirror = _reflection(self.axis)
        harmonics = self._harmonics()
        n_columns = len(harmonics.column_signs())
        t = X @ beside(self.axis, features)
        functions = in_type_of(_clenshaw(beside(self.coefficients, widest(t)), widest(t)), features)

        def fill(rows: slice) -> None:
            block = dense(X[rows]) if isinstance(features, np.ndarray) else X[rows, :]
            normal = beside(mirror, block)
            across = (block - (block @ normal)[:, None] * (2 * normal))[:, 1:]
            harmonics.fill(across, functions[rows, :], features[rows, :n_columns])

        over_row_blocks(fill, features, max(1, _BLOCK_ELEMENTS // max(n_columns, len(self.axis))))

    def _harmonics(self) -> ExactHarmonics:
        """Return the harmonics across the axis as harmonics in one dimension less."""
        n, none = len(self.degrees), np.zeros(0)
        return ExactHarmonics(
            np.zeros(len(self.axis) - 1),
            none,
            np.zeros((0, n)),
            self.degrees,
            np.ones(n),
            np.zeros((0, n)),
            self.frame,
            self.products,
        )


NO_AXIAL_COLUMNS = AxialColumns(
    np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0), dtype=int)
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
