"""Spherical harmonics of functions of a direction: how much each degree contributes to the variance of their mean.

A column at two rows x and y depends on a uniform direction u only through its inner products with x and y. The
product f(u) of the two values is a sum of spherical harmonics, f = sum_n f_n. Only even degrees n occur, because f
is even. The mean of f over directions u_1, ..., u_N with one common uniform rotation has the variance

    sum_{n > 0} E_n A_n,    E_n = E f_n(u)^2,    A_n = N^-2 sum_{i, j} P_n(<u_i, u_j>),

where P_n is the Legendre polynomial of degree n in dimension d; this follows from the addition theorem (Mueller
1966). A whole orthogonal basis has A_2 = 0, because P_2(0) = -1/(d-1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import eval_jacobi, roots_jacobi, roots_laguerre

# The degrees whose energies are computed separately. Higher degrees count as if directions were independent.
DEGREES = (2, 4, 6, 8)

_RADIAL_NODES = 7
_ANGLES = 10
_HIGH_DIMENSION = 1000


def legendre(d: int, n: int, s: NDArray) -> NDArray[np.float64]:
    """Return P_n(s), the Legendre polynomial of degree n in dimension d with P_n(1) = 1."""
    last, value = np.zeros_like(s), np.ones_like(s)
    for k in range(n):
        last, value = value, ((2 * k + d - 2) * s * value - k * last) / (k + d - 2) if k else s.copy()
    return value


@dataclass(frozen=True, eq=False)
class DirectionQuadrature:
    """A quadrature over two coordinates of a uniform direction in R^d, and the harmonics that depend on them.

    R = u_1^2 + u_2^2 has a density proportional to (1 - R)^(d/2-2). The disc polynomials are orthogonal with
    respect to it; they are the spherical harmonics of the same degree that depend on the two coordinates only.

    Attributes
    ----------
    first, second : ndarray of shape (n_nodes,)
        The coordinates of the nodes. Antipodes are left out, because the functions are even.
    probabilities : ndarray of shape (n_nodes,)
        Probabilities of the nodes.
    harmonics : tuple of ndarray of shape (n_nodes, n_harmonics)
        Orthonormal harmonics of degree 0 and of each of DEGREES, multiplied by the probabilities.
    """

    first: NDArray
    second: NDArray
    probabilities: NDArray
    harmonics: tuple[NDArray, ...]

    def energies(self, values: NDArray) -> NDArray[np.float64]:
        """Return E_n for DEGREES, and the sum for all higher degrees, of values (..., n_nodes) at the nodes."""
        by_degree = [((values @ basis) ** 2).sum(axis=-1) for basis in self.harmonics]
        rest = (values**2) @ self.probabilities - sum(by_degree)
        return np.stack([*by_degree[1:], np.maximum(rest, 0)], axis=-1)


@lru_cache(maxsize=16)
def direction_quadrature(d: int) -> DirectionQuadrature:
    """Return the quadrature for the sphere in R^d; for d = 1 it has degree 0 only."""
    if d == 1:
        one = np.ones(1)
        return DirectionQuadrature(one, 0 * one, one, (np.ones((1, 1)), *[np.zeros((1, 0))] * len(DEGREES)))
    if d == 2:
        squares, weights = np.ones(1), np.ones(1)
    else:
        squares, weights = _squares(d)
    angle = np.tile(np.pi * (np.arange(_ANGLES) + 0.5) / _ANGLES, len(squares))
    squares = np.repeat(squares, _ANGLES)
    probabilities = np.repeat(weights, _ANGLES) / _ANGLES
    radius = np.sqrt(squares)
    harmonics = []
    for degree in (0, *DEGREES):
        basis = []
        for m in range(0, degree + 1, 2) if d > 2 else (degree,):
            radial = radius**m
            if d > 2:
                radial = radial * eval_jacobi((degree - m) // 2, d / 2 - 2, m, 2 * squares - 1)
            for wave in (np.cos, np.sin) if m else (np.cos,):
                values = radial * wave(m * angle)
                basis.append(values * probabilities / np.sqrt(values**2 @ probabilities))
        harmonics.append(np.array(basis).T)
    return DirectionQuadrature(
        radius * np.cos(angle), radius * np.sin(angle), probabilities, tuple(harmonics)
    )


def _squares(d: int) -> tuple[NDArray, NDArray]:
    """Return the Gauss rule for R; in high dimensions that of the limit, where d R / 2 is exponential."""
    if d > _HIGH_DIMENSION:
        x, weights = roots_laguerre(_RADIAL_NODES)
        return 2 * x / d, weights
    x, weights = roots_jacobi(_RADIAL_NODES, d / 2 - 2, 0)
    return (x + 1) / 2, weights / weights.sum()


@lru_cache(maxsize=16)
def orthogonal_factors(d: int) -> NDArray[np.float64]:
    """Return A_n for 1, ..., d orthogonal directions times their number, shape (d, len(DEGREES) + 1)."""
    others = np.arange(d)[:, None]
    at_right_angle = np.array([legendre(d, n, np.zeros(1))[0] for n in DEGREES] if d > 1 else [1.0] * 4)
    return np.hstack([np.maximum(1 + others * at_right_angle, 0), np.ones((d, 1))])
