"""The polynomial kernel, and its restriction to the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from rflib.kernels.base import DotProductKernel, RadialKernel
from rflib.kernels.namespaces import as_array
from rflib.validation import check_integer, check_number


@dataclass(frozen=True)
class Polynomial(DotProductKernel):
    """The polynomial kernel is k(x, y) = scale (gamma <x, y> + coef0)^degree.

    The parameters have the names and the meaning that they have in scikit-learn's ``polynomial_kernel``; ``scale``
    is one more.

    Parameters
    ----------
    degree : int, default=2
        Degree, at least 1.
    gamma : float, default=1.0
        Factor of the inner product, above 0, in inverse squared units of the inputs.
    coef0 : float, default=0.0
        Constant, at least 0. If it is 0, the kernel has no terms of a lower degree than ``degree``.
    scale : float, default=1.0
        Factor of the whole kernel, above 0.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    See Also
    --------
    SphericalPolynomial : For rows of unit norm, with k(x, x) = 1.
    sklearn.metrics.pairwise.polynomial_kernel : The same kernel.

    Examples
    --------
    >>> from rflib.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=0.5, coef0=1.0)([[1.0, 1.0]], [[1.0, 1.0], [2.0, 0.0]])
    array([[4., 4.]])
    """

    definite_on = "all"

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_integer(self, "degree", at_least=1)
        check_number(self, "gamma", above=0)
        check_number(self, "coef0", at_least=0)
        check_number(self, "scale", above=0)

    def as_polynomial(self) -> Polynomial:
        """Return the kernel itself."""
        return self

    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the inner products t, in the shape of t."""
        _, products = as_array(t)
        return self.scale * (self.gamma * products + self.coef0) ** self.degree

    def maclaurin(self) -> NDArray[np.floating]:
        """Return the coefficients a_0, ..., a_degree of the Maclaurin series, none of them negative."""
        n = np.arange(self.degree + 1)
        return self.scale * comb(self.degree, n) * self.gamma**n * np.float64(self.coef0) ** (self.degree - n)


@dataclass(frozen=True)
class SphericalPolynomial(DotProductKernel, RadialKernel):
    """The polynomial kernel on rows of unit norm is k(x, y) = (1 - ||x - y||^2 / a^2)^p.

    It equals alpha (q + <x, y>)^p with q = a^2/2 - 1 and alpha = (2/a^2)^p. The kernel is a function of the
    distance, but no positive measure represents it at all distances (theorem 3 of the paper). So `RFF`, `ORF` and
    `QMC` cannot approximate it.

    Parameters
    ----------
    a : float, default=4.0
        At least 2, so that q >= 1 and every Maclaurin coefficient is positive.
    p : int, default=10
        Degree, at least 1.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    See Also
    --------
    Polynomial : For rows of any norm.
    rflib.maps.SRF : The map of the paper.

    References
    ----------
    Pennington, Yu, Kumar: Spherical random features for polynomial kernels, NIPS 2015, equation 4.

    Examples
    --------
    >>> from rflib.kernels import SphericalPolynomial
    >>> SphericalPolynomial(a=4, p=10).at_distance([0.0, 1.0, 2.0]).round(4)
    array([1.    , 0.5245, 0.0563])
    """

    unit_norm = True
    printed_measure: ClassVar[str | None] = "reference"
    definite_on = "sphere"

    a: float = 4.0
    p: int = 10

    def __post_init__(self) -> None:
        check_number(self, "a", at_least=2)
        check_integer(self, "p", at_least=1)

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        if name in ("gamma", "coef0"):
            return "It is a multiple of (coef0 + <x, y>)^p with gamma = 1 and coef0 = a^2 / 2 - 1."
        return None

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the distances z in [0, 2], in the shape of z."""
        _, distances = as_array(z)
        return (1 - (distances / self.a) ** 2) ** self.p

    def as_polynomial(self) -> Polynomial:
        """Return the same kernel as a `Polynomial`, a function of the inner product."""
        return Polynomial(degree=self.p, gamma=1.0, coef0=self.a**2 / 2 - 1, scale=(2 / self.a**2) ** self.p)

    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the inner products t in [-1, 1], in the shape of t."""
        _, products = as_array(t)
        return (1 - (1 - products) * (2 / self.a**2)) ** self.p

    def maclaurin(self) -> NDArray[np.floating]:
        """Return the coefficients a_0, ..., a_p of the Maclaurin series, all of them positive."""
        return self.as_polynomial().maclaurin()
