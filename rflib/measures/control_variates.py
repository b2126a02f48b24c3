"""Control variates of plane waves: low harmonics that are removed from the drawn columns and kept exactly.

Let x and y be rows minus a centre, with norms rho and rho'. The even part cos(r <u, x>) and the odd part
sin(r <u, x>) of a plane wave have the harmonics i^n N_n j_n(r rho) P_n(<u, x>/rho). In terms of Omega_d
(`rflib.measures.omega`), the harmonics of degree 0, 1, 2 and 3 are

    Omega_d(r rho),    Omega_{d+2}(r rho) r <u, x>,    -Omega_{d+4}(r rho) r^2 (<u, x>^2 - rho^2/d)/2,
    -Omega_{d+6}(r rho) r^3 (<u, x>^3 - 3 rho^2 <u, x>/(d+2))/6,

which are entire functions of x. With Omega' for Omega at r rho', the means over u of their products at x and y are

    Omega_d Omega_d',    r^2 Omega_{d+2} Omega_{d+2}' <x, y>/d,
    r^4 Omega_{d+4} Omega_{d+4}' (<x, y>^2 - rho^2 rho'^2/d) / (2 d (d+2)),
    r^6 Omega_{d+6} Omega_{d+6}' (<x, y>^3 - 3 rho^2 rho'^2 <x, y>/(d+2)) / (6 d (d+2) (d+4)).

For a signed radial measure sum_j w_j delta(r_j), the kernel of degree n is therefore sum_j w_j a_j(rho) a_j(rho')
times a polynomial kernel, with a_j(rho) = r_j^n Omega_{d+2n}(r_j rho). A control variate of rank m takes m
functions beta_k(r) of the norm. With M = sum_j w_j beta(r_j) beta(r_j)^T and h(rho) = sum_j w_j beta(r_j)
a_j(rho), it removes beta(r)^T M^-1 h(rho) in place of a(r, rho). In expectation, the columns then lack h(rho)^T
M^-1 h(rho') times the polynomial kernel. If columns of this kernel are added, the features are unbiased for every
choice of the functions beta_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from rflib.measures.harmonics import legendre
from rflib.measures.omega import omega
from rflib.measures.row_pairs import RowPairs

_RANK_TOLERANCE = 1e-7
_SINGULAR = 1e-12
_DIAGONAL = 1e-9


def radial_functions(d: int, degree: int, radii: NDArray, norms: NDArray) -> NDArray[np.float64]:
    """Return r^n Omega_{d+2n}(r rho), of the shape of the norms rho with one more axis for the radii r.

    Pairs of rows share rows, so that equal norms are frequent; Bessel functions are computed once for each.
    """
    distinct, which = np.unique(norms, return_inverse=True)
    values = omega(d + 2 * degree, np.multiply.outer(distinct, radii)) * radii**degree
    return np.asarray(values[which.reshape(norms.shape)])


def polynomial_columns(d: int, degree: int) -> int:
    """Return the number of harmonics of a degree in dimension d; the polynomial kernel has one column for each."""
    lower = comb(d + degree - 3, degree - 2) if degree > 1 else 0
    return comb(d + degree - 1, degree) - lower


def rising_product(d: int, n: int) -> float:
    """Return the product d (d+2) ... (d+2n-2) of n factors."""
    return float(np.prod(d + 2.0 * np.arange(n)))


def unit_kernel(e: int, degree: int) -> float:
    """Return the polynomial kernel of the degree between a unit vector in R^e and itself."""
    return polynomial_columns(e, degree) / rising_product(e, degree) ** 2


@dataclass(frozen=True, eq=False)
class ControlVariate:
    """The exact part of one degree, and what is removed from the drawn columns for it.

    Attributes
    ----------
    dimension, degree : int
        The number d of input columns, and the degree n.
    radii : ndarray of shape (n_radii,)
        Norms r_j of the measure.
    combination : ndarray of shape (n_radii, rank)
        Coefficients of r_j^n Omega_{d+2n}(r_j rho) in each of the `functions` h_k(rho).
    signs : ndarray of shape (rank,)
        The exact kernel of the degree is sum_k signs[k] h_k(rho) h_k(rho') times the polynomial kernel.
    anchors : ndarray of shape (n_anchors,)
        Values of rho.
    functionals : ndarray of shape (n_anchors, rank)
        Coefficients of the values at the anchors in `removal`. From a wave of norm r, sum_k removal(r)[k] h_k(rho)
        is removed.
    """

    dimension: int
    degree: int
    radii: NDArray
    combination: NDArray
    signs: NDArray
    anchors: NDArray
    functionals: NDArray

    @property
    def n_columns(self) -> int:
        """The number of columns of the exact part."""
        return len(self.signs) * polynomial_columns(self.dimension, self.degree)

    def part(self, which: Sequence[int]) -> ControlVariate:
        """Return the control variate with only some of its functions."""
        chosen = np.array(which, dtype=int)
        return replace(
            self,
            combination=self.combination[:, chosen],
            signs=self.signs[chosen],
            functionals=self.functionals[:, chosen],
        )

    def functions(self, norms: NDArray) -> NDArray[np.float64]:
        """Return h_k(rho) at the values ``norms`` of rho, shape (n_norms, rank)."""
        return radial_functions(self.dimension, self.degree, self.radii, norms) @ self.combination

    def kernel(self, pairs: RowPairs) -> NDArray[np.float64]:
        """Return the exact kernel of the degree at pairs of rows as seen from the pole, shape (n_pairs,)."""
        norms, other = pairs.norms
        radial = (self.functions(norms) * self.functions(other)) @ self.signs * (norms * other) ** self.degree
        across = legendre(self.dimension, self.degree, pairs.cosines)
        return unit_kernel(self.dimension, self.degree) * radial * across

    def removal(self, radii: NDArray) -> NDArray[np.float64]:
        """Return the coefficients of h_k in what is removed from waves of these norms, shape (n_radii, rank)."""
        return radii[:, None] ** self.degree * self.scaled_removal(radii)

    def scaled_removal(self, radii: NDArray) -> NDArray[np.float64]:
        """Return `removal` divided by r^n, which is also defined for r = 0."""
        return (
            omega(self.dimension + 2 * self.degree, np.multiply.outer(radii, self.anchors)) @ self.functionals
        )


def control_variate(
    d: int, degree: int, radii: NDArray, weights: NDArray, anchors: NDArray, rank: int
) -> ControlVariate:
    """Return the control variate of a degree for atoms (r_j, w_j), with at most the given rank.

    Its functionals span the radial functions that matter most at the anchors, which are values of rho that
    represent the data. They are the leading left singular vectors of the matrix rho^n a_j(rho) sqrt|w_j|.
    """
    if polynomial_columns(d, degree) == 0:
        rank = 0
    values = radial_functions(d, degree, radii, anchors)
    size = anchors[:, None] ** degree
    left, singular, _ = np.linalg.svd(size * values * np.sqrt(np.abs(weights)), full_matrices=False)
    left = _with_sign(left)
    kept = np.flatnonzero(singular > _RANK_TOLERANCE * singular[0])[:rank]
    functionals = size * left[:, kept] / singular[kept]
    beta = values.T @ functionals
    eigenvalues, vectors = _eigenvectors((beta.T * weights) @ beta)
    inside = np.abs(eigenvalues) > _SINGULAR * np.abs(eigenvalues).max(initial=0.0)
    scaled = vectors[:, inside] / np.sqrt(np.abs(eigenvalues[inside]))
    signs = np.sign(eigenvalues[inside])
    return ControlVariate(
        d,
        degree,
        radii,
        weights[:, None] * (beta @ scaled),
        signs,
        anchors,
        functionals @ scaled * signs,
    )


def _eigenvectors(matrix: NDArray) -> tuple[NDArray, NDArray]:
    """Return eigenvalues and eigenvectors; those of a diagonal matrix are unit vectors whatever the rounding."""
    diagonal = np.diag(matrix)
    if np.abs(matrix - np.diag(diagonal)).max(initial=0.0) < _DIAGONAL * np.abs(diagonal).max(initial=0.0):
        return diagonal, np.eye(len(diagonal))
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return eigenvalues, _with_sign(vectors)


def _with_sign(vectors: NDArray) -> NDArray[np.float64]:
    """Return the columns with the sign that makes their largest entry positive."""
    if not vectors.size:
        return vectors
    largest = np.argmax(np.abs(vectors) > 0.99 * np.abs(vectors).max(axis=0), axis=0)
    return vectors * np.where(np.take_along_axis(vectors, largest[None], axis=0) < 0, -1.0, 1.0)
