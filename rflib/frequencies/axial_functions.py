"""Functions of the coordinate along an axis: the leading eigenfunctions of a kernel for each degree across it.

Let m be a direction, t = <m, x> for a row x of unit norm, and x' the part of x that is perpendicular to m, of norm
rho. With the angle s between x' and y', a kernel f(<x, y>) is

    f(t t' + rho rho' cos s) = sum_l G_l(t, t') P_l(cos s),
    G_l(t, t') = N_l E[f(t t' + rho rho' v) P_l(v)],

where P_l and N_l are the Legendre polynomial and the number of harmonics of degree l in dimension d - 1, and v is
a coordinate of a uniform direction there. If the kernel is positive definite on the sphere, each G_l is positive
definite, because it is a projection of the kernel. docs/mvorf.md derives this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebpts1
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.special import roots_jacobi
from sklearn.utils.extmath import svd_flip

from rflib.kernels.base import RadialKernel
from rflib.measures.control_variates import polynomial_columns, unit_kernel
from rflib.measures.harmonics import legendre

_NEGLIGIBLE = 1e-14
_MOST = 48
# Eigenfunctions are extended from the rows up to this ratio of the eigenvalues of one degree.
_RANK_TOLERANCE = 1e-13
_N_NODES = 64
# Points on the whole axis count with this share beside the rows, so that functions extend beyond the rows.
_N_EVERYWHERE, _SHARE_EVERYWHERE = 24, 1e-6
_N_ANGLES = 32


@dataclass(frozen=True, eq=False)
class AxialFunctions:
    """Functions h_k(t), each with a degree l of the harmonics across the axis.

    Attributes
    ----------
    degrees : ndarray of shape (n_functions,)
        Degree of each function.
    coefficients : ndarray of shape (n_nodes, n_functions)
        Chebyshev coefficients of h_k(t) / rho^l.
    """

    degrees: NDArray[np.int64]
    coefficients: NDArray[np.float64]


@lru_cache(maxsize=16)
def leading_functions(
    kernel: RadialKernel, coordinates: tuple[float, ...], weights: tuple[float, ...], d: int, highest: int
) -> AxialFunctions:
    """Return the functions with the largest eigenvalues, in descending order of these.

    A function of degree l belongs to N_l eigenfunctions of the kernel, if the rows are invariant to rotations
    about the axis. Their eigenvalue is that of G_l divided by N_l.

    Parameters
    ----------
    kernel : RadialKernel
        A kernel that is positive definite on the unit sphere of R^d.
    coordinates : tuple of float
        Coordinates t of rows along the axis.
    weights : tuple of float
        Shares of these rows, which sum to one.
    d : int
        Number of input columns.
    highest : int
        The highest degree.
    """
    e, nodes = d - 1, chebpts1(_N_NODES)[::-1]
    points = np.concatenate([coordinates, chebpts1(_N_EVERYWHERE)])
    everywhere = np.full(_N_EVERYWHERE, _SHARE_EVERYWHERE / _N_EVERYWHERE)
    roots = np.sqrt(np.concatenate([weights, everywhere]))
    found: list[tuple[float, int, NDArray]] = []
    for degree in range(highest + 1):
        size = polynomial_columns(e, degree)
        if not size:
            continue
        among = _projection(kernel, e, degree, points, points)
        values, vectors = np.linalg.eigh(roots[:, None] * among * roots)
        vectors = svd_flip(vectors, vectors.T)[0]
        kept = values > _RANK_TOLERANCE * max(values[-1], 0.0)
        at_nodes = _projection(kernel, e, degree, nodes, points) @ (
            roots[:, None] * vectors[:, kept] / np.sqrt(values[kept])
        )
        at_nodes /= np.sqrt(unit_kernel(e, degree)) * (1 - nodes[:, None] ** 2) ** (degree / 2)
        coefficients = dct(at_nodes, axis=0) / _N_NODES
        coefficients[0] /= 2
        found += [
            (value / size, degree, column) for value, column in zip(values[kept], coefficients.T, strict=True)
        ]
    found.sort(key=lambda each: -each[0])
    found = [each for each in found[:_MOST] if each[0] > _NEGLIGIBLE * found[0][0]]
    return AxialFunctions(np.array([each[1] for each in found]), np.array([each[2] for each in found]).T)


def _projection(kernel: RadialKernel, e: int, degree: int, t: NDArray, other: NDArray) -> NDArray[np.float64]:
    """Return G_l(t, t') for all pairs, shape (n_t, n_other)."""
    angles, weights = roots_jacobi(_N_ANGLES, (e - 3) / 2, (e - 3) / 2)
    weights = weights / weights.sum() * legendre(e, degree, angles) * polynomial_columns(e, degree)
    along = np.multiply.outer(t, other)
    across = np.sqrt(np.multiply.outer(np.maximum(1 - t**2, 0), np.maximum(1 - other**2, 0)))
    products = along[..., None] + across[..., None] * angles
    return np.asarray(kernel.at_distance(np.sqrt(np.maximum(2 - 2 * products, 0))) @ weights)
