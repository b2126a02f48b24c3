"""Kernels as series in an inner product: k(x, y) = sum_n e_n A_n(x) A_n(y) <u(x), u(y)>^n with unit vectors u.

The amplitudes A_n are handled by their logarithms, so that no degree overflows or underflows on its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import comb, gammaln
from sklearn.utils.extmath import row_norms

from rflib.kernels.base import Kernel, check_finite
from rflib.kernels.namespaces import Array, beside, namespace, widest, zeros
from rflib.kernels.sparse_rows import Rows, ShiftedRows, row_sums, squared_norms

# The highest degree of the Gaussian's series that is used; higher degrees count as bias.
_LAST_DEGREE = 60


class Factors(NamedTuple):
    """Unit vectors u(x) (n, d) of rows, or zero, and log |A_n(x)| and the signs of the A_n(x) (n_degrees, n)."""

    units: Array | ShiftedRows
    log_amplitudes: Array
    signs: Array


class InnerProductSeries:
    """The series of one kernel about a centre c.

    - For the Gaussian kernel, with xi = (x - c) / sigma and eta = (y - c) / sigma, the series is
      exp(-|xi|^2 / 2) exp(-|eta|^2 / 2) sum_n <xi, eta>^n / n!.
    - For the polynomial kernel (gamma <x, y> + coef0)^p, each row is extended to z = [sqrt(coef0), sqrt(gamma) x].
      With the unit vector m along the z of the centre, z = t m + w with w orthogonal to m. The kernel is then
      (t t' + <w, w'>)^p = sum_n C(p, n) (t t')^(p-n) <w, w'>^n. For c = 0 this is the Maclaurin series in <x, y>.
    - For any other function of <x, y>, it is the Maclaurin series, which does not use the centre.

    If a number of degrees is given, higher ones are left out; the Gaussian has 61. The ``log_coefficients`` are
    log |a_n| (n_degrees,), minus infinity for a degree that the kernel does not have, and the ``signs`` e_n.
    """

    def __init__(self, kernel: Kernel, centre: NDArray, n_degrees: int | None = None) -> None:
        self.centre = centre.astype(np.float64)
        kernel, _ = kernel.isotropic(self.centre[None])
        self._polynomial = kernel.as_polynomial()
        self._kernel: Kernel = self._polynomial or kernel
        if kernel.is_gaussian:
            coefficients = np.exp(-gammaln(np.arange(_LAST_DEGREE + 1) + 1.0))
            powers = np.ones(len(coefficients))
        elif self._polynomial:
            p = self._polynomial.degree
            coefficients = comb(p, np.arange(p + 1))
            powers = p - np.arange(p + 1.0)
        else:
            coefficients = kernel.maclaurin()
            powers = np.zeros(len(coefficients))
        coefficients, self._powers = coefficients[:n_degrees], powers[:n_degrees]
        with np.errstate(divide="ignore"):
            self.log_coefficients = np.log(np.abs(coefficients))
        self.signs = np.where(coefficients < 0, -1.0, 1.0)

    @np.errstate(all="ignore")
    def factors(self, X: Rows) -> Factors:
        """Return the factors of the rows X (n, d), dense or sparse, in double precision where there is one."""
        log_scale, negative, vectors = self._split(X.astype(np.float64) if issparse(X) else widest(X))
        xp = namespace(log_scale)
        if isinstance(vectors, ShiftedRows):
            norms = vectors.norms()
            largest, units = np.ones(len(norms)), vectors.times(1 / np.where(norms > 0, norms, np.inf))
        else:
            largest = xp.max(xp.abs(vectors), axis=1)
            scaled = vectors / xp.where(largest > 0, largest, 1.0)[:, None]
            norms = xp.sqrt(squared_norms(scaled))
            units = scaled / xp.where(norms > 0, norms, 1.0)[:, None]
        degrees = beside(np.arange(float(len(self.signs)))[:, None], log_scale)
        lengths = xp.where(degrees > 0, degrees * (xp.log(norms) + xp.log(largest)), 0.0)
        powers = beside(self._powers[:, None], log_scale)
        shrink = xp.where(powers > 0, powers * log_scale, 0.0)
        odd = negative & (powers % 2 == 1)
        signs = xp.where(odd, -1.0, xp.ones_like(shrink))
        return Factors(units, beside(self.log_coefficients[:, None] / 2, log_scale) + shrink + lengths, signs)

    def exact(self, X: Rows, Y: Rows) -> NDArray[np.floating]:
        """Return the kernel of each row of X (n, d) with the same row of Y, shape (n,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._kernel.is_gaussian:
                distances = row_norms(X - Y) if issparse(X) else np.linalg.norm(X - Y, axis=1)
                values = self._kernel.at_distance(distances)
            else:
                products = row_sums(X.multiply(Y)) if issparse(X) else np.einsum("ij,ij->i", X, Y)
                values = self._kernel.at_product(products)
        check_finite(self._kernel, values, X, Y)
        return values

    def _split(self, X: Rows) -> tuple[Array, Array, Array | ShiftedRows]:
        """Return log |t| and whether t is negative, both of shape (n,), and the vectors w (n, d).

        For a Gaussian, log t is -|xi|^2 / 2 and w is xi.
        """
        n, xp = X.shape[0], namespace(X)
        if self._kernel.is_gaussian:
            if issparse(X):
                shifted = ShiftedRows.less(X, self.centre).times(np.full(n, 1 / self._kernel.single_width))
                return -0.5 * shifted.norms() ** 2, np.zeros(n, dtype=bool), shifted
            vectors = (X - beside(self.centre, X)) / float(self._kernel.single_width)
            squares = squared_norms(vectors)
            return -0.5 * squares, squares < 0, vectors
        if not self._polynomial:
            none = zeros((n,), X)
            return none, none < 0, ShiftedRows.less(X, np.zeros(X.shape[1])) if issparse(X) else X
        share = self._polynomial.scale ** (1 / self._polynomial.degree)
        constant, slope = np.sqrt([share * self._polynomial.coef0, share * self._polynomial.gamma])
        first, rest = constant, slope * self.centre
        norm = np.hypot(first, np.linalg.norm(rest))
        first, rest = (first / norm, rest / norm) if norm > 0 else (1.0, rest)
        # The reflection that maps the centre's unit vector [first, rest] to the first axis.
        constant, slope, first = float(constant), float(slope), float(first)
        direction = rest if issparse(X) else beside(rest, X)
        along = slope * (X @ direction) + first * constant
        across = (along + constant) / (1 + first)
        if issparse(X):
            return np.log(np.abs(along)), along < 0, ShiftedRows(X * slope, -across, rest)
        return xp.log(xp.abs(along)), along < 0, slope * X - across[:, None] * direction
