"""Polynomial kernels: the inhomogeneous one, and its restriction to the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from rflib.kernels.base import DotProductKernel, RadialKernel
from rflib.validation import check_integer, check_number


@dataclass(frozen=True)
class Polynomial(DotProductKernel):
    """k(x, y) = scale (gamma <x, y> + coef0)^degree.

    Parameters
    ----------
    degree : int
        Degree, at least 1.
    gamma : float
        Factor of the inner product, above 0; in the inverse of the squared units of the inputs.
    coef0 : float
        Constant, at least 0. With 0 the kernel has products of exactly ``degree`` inputs only.
    scale : float
        Factor of the kernel, above 0.
    """

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_integer(self, "degree", at_least=1)
        check_number(self, "gamma", above=0)
        check_number(self, "coef0", at_least=0)
        check_number(self, "scale", above=0)

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
        check_number(self, "a", at_least=2)
        check_integer(self, "p", at_least=1)

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
