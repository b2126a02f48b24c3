"""Radial functions about a pole, evaluated at many rows: the factors of harmonics, each with its degree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from rflib.kernels.namespaces import Array, beside, in_type_of, namespace, widest
from rflib.kernels.sparse_rows import Rows, ShiftedRows
from rflib.measures.control_variates import ControlVariate, radial_functions

# From this number of rows on, the functions are interpolated if half of the nodes suffice up to rounding.
_INTERPOLATED_FROM = 1024
_N_NODES = 128
# Where there are no Bessel functions, this number of nodes must suffice.
_MOST_NODES = 1 << 15
_TAIL = 1e-12
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class RadialFunctions:
    """Functions h_k(rho) of the distance rho from a pole, each with a degree n.

    Rows, distances and frequencies are in the `unit`, so that no power of them overflows in single precision.

    Attributes
    ----------
    pole : ndarray of shape (d,)
        The point from which distances and directions of rows are measured.
    unit_rows : bool
        Whether all rows have unit norm and the pole is the origin, so that rho is 1.
    radii : ndarray of shape (n_radii,)
        Norms r_j of the measure.
    combination : ndarray of shape (n_radii, n_functions)
        h_k(rho) is the sum over j of combination[j, k] r_j^n Omega_{d+2n}(r_j rho).
    degrees : ndarray of shape (n_functions,)
        Degree n of each function.
    """

    pole: NDArray[np.float64]
    unit_rows: bool
    radii: NDArray[np.float64]
    combination: NDArray[np.float64]
    degrees: NDArray[np.int64]

    @staticmethod
    def of(pole: NDArray, controls: Sequence[ControlVariate], *, unit_rows: bool) -> RadialFunctions:
        """Return the functions of control variates of one measure, which are seen from the pole."""
        degrees = [np.full(len(control.signs), control.degree) for control in controls]
        return RadialFunctions(
            pole,
            unit_rows and not pole.any(),
            controls[0].radii if controls else np.zeros(0),
            np.hstack([control.combination for control in controls]) if controls else np.zeros((0, 0)),
            np.concatenate([np.zeros(0, dtype=int), *degrees]),
        )

    @property
    def dimension(self) -> int:
        """The dimension of the space in which the harmonics are."""
        return len(self.pole)

    @property
    def unit(self) -> float:
        """The unit of length, a power of two."""
        largest = self.radii.max(initial=0.0)
        return float(2.0 ** -np.round(np.log2(largest))) if largest else 1.0

    def reach(self, largest: float) -> float:
        """Return what no power of is beyond the range of numbers, if no entry of a row is above ``largest``."""
        return (largest + np.abs(self.pole).max()) * self.dimension / self.unit

    def view(self, X: Rows, out: Array) -> tuple[Array, Callable[[slice], Array | ShiftedRows]]:
        """Return the functions at the rows, in the type of ``out``, and a function of a slice of the rows.

        It returns these rows as seen from the pole.
        """
        Y = self.seen(X)

        def seen(rows: slice) -> Array | ShiftedRows:
            return Y[rows].astype(out.dtype) if isinstance(Y, ShiftedRows) else Y[rows, :]

        return in_type_of(self.at(self.norms(Y)), out), seen

    def seen(self, X: Rows) -> Array | ShiftedRows:
        """Return rows as seen from the pole, in the unit."""
        if issparse(X):
            return ShiftedRows.less(in_type_of(X / self.unit, X), self.pole / self.unit)
        shifted = X - beside(self.pole, X) if self.pole.any() else X
        return in_type_of(shifted / self.unit, X)

    def norms(self, Y: Array | ShiftedRows) -> Array:
        """Return the distances from the pole of rows that are seen from there."""
        if isinstance(Y, ShiftedRows):
            norms = Y.norms()
        else:
            norms = row_norms(Y) if namespace(Y) is np else namespace(Y).linalg.vector_norm(Y, axis=1)
        # Rounding errors of norms would be amplified.
        return namespace(norms).ones_like(norms) / self.unit if self.unit_rows else norms

    def at(self, norms: Array) -> Array:
        """Return h_k(rho) at distances from the pole, shape (n_norms, n_functions)."""
        if namespace(norms) is not np:
            return self._anywhere(norms)
        if len(norms) < _INTERPOLATED_FROM:
            return self._by_series(norms)
        # The functions are entire functions of rho^2.
        largest = max(float(norms.max()) ** 2, _TINY)
        nodes = chebpts1(_N_NODES)
        coefficients = chebvander(nodes, _N_NODES - 1).T @ self._by_series(np.sqrt(largest * (nodes + 1) / 2))
        coefficients[0] /= 2
        coefficients *= 2 / _N_NODES
        tail = np.abs(coefficients[_N_NODES // 2 :]).max(initial=0.0)
        if tail > _TAIL * np.abs(coefficients).max(initial=0.0):
            return self._by_series(norms)
        return chebvander(2 * norms**2 / largest - 1, _N_NODES // 2 - 1) @ coefficients[: _N_NODES // 2]

    def _anywhere(self, norms: Array) -> Array:
        """Return the functions where there are no Bessel functions: always interpolated.

        Raises
        ------
        ValueError
            If the functions have too many oscillations.
        """
        xp, norms = namespace(norms), widest(norms)
        largest = max(float(xp.max(norms)) ** 2, float(xp.finfo(norms.dtype).smallest_normal))
        known = beside(self._chebyshev_coefficients(largest), norms)
        return clenshaw(known, 2 * norms**2 / largest - 1)

    def _chebyshev_coefficients(self, largest: float) -> NDArray[np.float64]:
        """Return the coefficients of the functions on [0, largest], the range of squared distances."""
        n_nodes = _N_NODES
        while n_nodes <= _MOST_NODES:
            nodes = chebpts1(n_nodes)[::-1]
            coefficients = dct(self._by_series(np.sqrt(largest * (nodes + 1) / 2)), axis=0) / n_nodes
            coefficients[0] /= 2
            tail = np.abs(coefficients[n_nodes // 2 :]).max(initial=0.0)
            if tail <= _TAIL * np.abs(coefficients).max(initial=0.0):
                return coefficients[: n_nodes // 2]
            n_nodes *= 2
        raise ValueError(
            "Harmonics of a measure with so large norms, or of rows so far apart, cannot be computed on a device. "
            "Give the rows as arrays of numpy."
        )

    def _by_series(self, norms: NDArray) -> NDArray[np.float64]:
        values = np.empty((len(norms), len(self.degrees)))
        for degree in np.unique(self.degrees):
            of_degree = self.degrees == degree
            radial = radial_functions(self.dimension, int(degree), self.radii * self.unit, norms)
            values[:, of_degree] = radial @ self.combination[:, of_degree]
        return values


def clenshaw(coefficients: Array, t: Array) -> Array:
    """Return Chebyshev series at t, shape (n, n_functions), for coefficients (n_nodes, n_functions)."""
    t = t[:, None]
    next_sum = after_next = 0 * t
    for k in range(coefficients.shape[0] - 1, 0, -1):
        next_sum, after_next = coefficients[k, :] + 2 * t * next_sum - after_next, next_sum
    return coefficients[0, :] + t * next_sum - after_next
