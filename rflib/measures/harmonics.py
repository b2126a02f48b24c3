"""Spherical harmonics of functions of a direction: how much variance each degree gives to a mean over directions.

A column of features at two rows x and y depends on a uniform direction u through its inner products with x and y
alone. The product f(u) of both values splits into spherical harmonics, f = sum_n f_n, of which only even degrees
occur as f is even. Over directions u_1, ..., u_N with one common uniform rotation the mean of f has the variance

    sum_{n > 0} E_n A_n,    E_n = E f_n(u)^2,    A_n = N^-2 sum_{i, j} P_n(<u_i, u_j>),

with the Legendre polynomials P_n of dimension d (Mueller 1966; the addition theorem). A whole orthogonal basis has
A_2 = 0, since P_2(0) = -1/(d-1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import eval_jacobi, roots_jacobi, roots_laguerre

# Energies are told apart up to the last of these degrees; what is above counts as if directions were independent.
DEGREES = (2, 4, 6, 8)

_RADIAL_NODES = 7
_ANGLES = 10
_HIGH_DIMENSION = 1000


def legendre(d: int, n: int, s: NDArray) -> NDArray[np.float64]:
    """Return P_n(s), the Legendre polynomial of degree n in dimension d with P_n(1) = 1, by its recurrence."""
    last, value = np.zeros_like(s), np.ones_like(s)
    for k in range(n):
        last, value = value, ((2 * k + d - 2) * s * value - k * last) / (k + d - 2) if k else s.copy()
    return value


@dataclass(frozen=True, eq=False)
class DirectionQuadrature:
    """Two coordinates of a uniform direction in R^d: nodes, probabilities, and the harmonics that depend on them.

    They have the density (1 - R)^(d/2-2) in R = u_1^2 + u_2^2, for which the disc polynomials are orthogonal:
    the restrictions of the spherical harmonics of the same degree.

    Attributes
    ----------
    first, second : ndarray of shape (n_nodes,)
        The coordinates; the antipodes are left out, as the functions are even.
    probabilities : ndarray of shape (n_nodes,)
        Their weights.
    harmonics : tuple of ndarray of shape (n_nodes, n_harmonics)
        Orthonormal harmonics of degree 0 and of each of DEGREES, times the probabilities.
    """

    first: NDArray
    second: NDArray
    probabilities: NDArray
    harmonics: tuple[NDArray, ...]

    def energies(self, values: NDArray) -> NDArray[np.float64]:
        """Return E_n for DEGREES and for all degrees above them together; values (..., n_nodes)."""
        by_degree = [((values @ basis) ** 2).sum(axis=-1) for basis in self.harmonics]
        rest = (values**2) @ self.probabilities - sum(by_degree)
        return np.stack([*by_degree[1:], np.maximum(rest, 0)], axis=-1)


@lru_cache(maxsize=16)
def direction_quadrature(d: int) -> DirectionQuadrature:
    """Return the quadrature for the sphere of R^d; for d = 1, where there are no harmonics, that of degree 0."""
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
    """Gauss rule of R; in high dimension of its limit, where d R / 2 is exponential up to terms in 1/d."""
    if d > _HIGH_DIMENSION:
        x, weights = roots_laguerre(_RADIAL_NODES)
        return 2 * x / d, weights
    x, weights = roots_jacobi(_RADIAL_NODES, d / 2 - 2, 0)
    return (x + 1) / 2, weights / weights.sum()


@lru_cache(maxsize=16)
def orthogonal_factors(d: int) -> NDArray[np.float64]:
    """Return A_n of 1, ..., d orthogonal directions, times their number; shape (d, len(DEGREES) + 1)."""
    others = np.arange(d)[:, None]
    at_right_angle = np.array([legendre(d, n, np.zeros(1))[0] for n in DEGREES] if d > 1 else [1.0] * 4)
    return np.hstack([np.maximum(1 + others * at_right_angle, 0), np.ones((d, 1))])
