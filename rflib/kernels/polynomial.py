"""Polynomial kernels: the inhomogeneous one, and its restriction to the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from rflib.kernels.base import DotProductKernel, RadialKernel, require_positive


def _require_degree(owner: object, name: str, degree: int) -> None:
    if isinstance(degree, bool) or degree != int(degree) or degree < 1:
        raise ValueError(f"{type(owner).__name__}: {name} must be an integer of at least 1, got {degree!r}.")


@dataclass(frozen=True)
class Polynomial(DotProductKernel):
    """k(x, y) = scale (gamma <x, y> + coef0)^degree, with gamma > 0, coef0 >= 0, scale > 0."""

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        _require_degree(self, "degree", self.degree)
        require_positive(self, gamma=self.gamma, scale=self.scale)
        if not (np.isfinite(self.coef0) and self.coef0 >= 0):
            raise ValueError(f"Polynomial: coef0 must be a number of at least 0, got {self.coef0!r}.")

    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Value at the inner products t (any shape)."""
        return self.scale * (self.gamma * np.asarray(t) + self.coef0) ** self.degree

    def maclaurin(self) -> NDArray[np.floating]:
        """Coefficients a_0, ..., a_degree, all non-negative."""
        n = np.arange(self.degree + 1)
        return self.scale * comb(self.degree, n) * self.gamma**n * np.float64(self.coef0) ** (self.degree - n)


@dataclass(frozen=True)
class SphericalPolynomial(DotProductKernel, RadialKernel):
    """k(x, y) = (1 - z^2 / a^2)^p = alpha (q + <x, y>)^p on the unit sphere, z = ||x - y||.

    q = a^2/2 - 1 and alpha = (2/a^2)^p (Pennington et al. 2015, eq. 4). It is a function of the distance,
    but no positive measure represents it for all z (theorem 3 there): RFF, ORF and QMC do not apply.

    Parameters
    ----------
    a : float
        At least 2, so that q >= 1 and every Maclaurin coefficient is positive.
    p : int
        Degree, at least 1.
    """

    unit_norm: ClassVar[bool] = True

    a: float = 4.0
    p: int = 10

    def __post_init__(self) -> None:
        if not (np.isfinite(self.a) and self.a >= 2):
            raise ValueError(f"SphericalPolynomial: a must be at least 2, got {self.a!r}.")
        _require_degree(self, "p", self.p)

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z in [0, 2]."""
        return (1 - (np.asarray(z) / self.a) ** 2) ** self.p

    def as_polynomial(self) -> Polynomial:
        """The same kernel written with inner products."""
        return Polynomial(degree=self.p, gamma=1.0, coef0=self.a**2 / 2 - 1, scale=(2 / self.a**2) ** self.p)

    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Value at the inner products t in [-1, 1]."""
        return (1 - (1 - np.asarray(t)) * (2 / self.a**2)) ** self.p

    def maclaurin(self) -> NDArray[np.floating]:
        """Coefficients a_0, ..., a_p, all positive."""
        return self.as_polynomial().maclaurin()
