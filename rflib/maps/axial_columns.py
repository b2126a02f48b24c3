"""Columns that are harmonics about an axis: functions of the coordinate along it, times polynomials across it.

`rflib.frequencies.axial_functions` has the formulas. Everything is held in plain arrays, so that a fitted map can
be stored and restored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.frequencies.axial_functions import AxialFunctions
from rflib.frequencies.products import NO_PRODUCTS
from rflib.kernels.namespaces import Array, beside, in_type_of, widest
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.exact_harmonics import ExactHarmonics
from rflib.maps.row_blocks import over_row_blocks
from rflib.maps.sample_columns import SampleColumns

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
        Degree of each function. The last functions may have a sample of their harmonics.
    """

    axis: NDArray
    coefficients: NDArray
    degrees: NDArray

    @staticmethod
    def of(axis: NDArray, functions: AxialFunctions, samples: SampleColumns) -> AxialColumns:
        """Return the columns of functions about an axis, of which the last ones have samples."""
        n_whole, coefficients = len(functions.degrees) - len(samples.degrees), functions.coefficients.copy()
        coefficients[:, n_whole:] *= samples.scales(len(axis) - 1)
        return AxialColumns(axis, coefficients, functions.degrees)

    def fill(self, X: Rows, samples: SampleColumns, features: Array) -> None:
        """Write the columns for rows X of unit norm into ``features``, of which the last ones may stay zero."""
        mirror, n_whole = _reflection(self.axis), len(self.degrees) - len(samples.degrees)
        harmonics = self._whole(n_whole)
        n_exact = len(harmonics.column_signs())
        n_used = n_exact + int(samples.sizes.sum())
        t = X @ beside(self.axis, features)
        functions = in_type_of(_clenshaw(beside(self.coefficients, widest(t)), widest(t)), features)

        def fill(rows: slice) -> None:
            block = dense(X[rows]) if isinstance(features, np.ndarray) else X[rows, :]
            normal = beside(mirror, block)
            across = (block - (block @ normal)[:, None] * (2 * normal))[:, 1:]
            harmonics.fill(across, functions[rows, :], features[rows, :n_exact])
            samples.fill(across, functions[rows, n_whole:], features[rows, n_exact:n_used])

        width = max(n_used + samples.frame.shape[1], len(self.axis))
        over_row_blocks(fill, features, max(1, _BLOCK_ELEMENTS // width))

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


NO_AXIAL_COLUMNS = AxialColumns(np.zeros(0), np.zeros((0, 0)), np.zeros(0, dtype=int))


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
