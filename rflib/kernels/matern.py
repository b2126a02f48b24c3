"""The Matern kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.special import gamma, gammaln, kve

from rflib.kernels.base import RadialKernel
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import check_number

# From this order on, _TERMS terms of the asymptotic series are exact to rounding. Below it, the Bessel function
# does not overflow at arguments of at least _NEAR.
_LARGE_ORDER = 20
_TERMS = 12
_NEAR = 1e-10
# Beyond this argument the kernel is zero at orders below _LARGE_ORDER.
_FAR = 2000


@dataclass(frozen=True)
class Matern(KernelWithWidth, RadialKernel):
    """The Matern kernel is k(z) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t) with t = sqrt(2 nu) z / length_scale.

    z is the Euclidean distance, and K_nu the modified Bessel function of the second kind. For nu = 1/2 the kernel
    is exp(-z / length_scale). Its spectral measure is a multivariate t distribution with 2 nu degrees of freedom.

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness, above 0: a Gaussian process with this kernel has ceil(nu) - 1 derivatives in mean square.
    length_scale : float, "scale", "median" or sequence of float, default=1.0
        Width, in units of the inputs; see `rflib.kernels.width.KernelWithWidth`.

    Raises
    ------
    ValueError
        If ``nu`` is not above 0, or the width is not valid.

    References
    ----------
    Rasmussen, Williams: Gaussian processes for machine learning, 2006, equations 4.14 and 4.15.
    """

    width_parameter: ClassVar[str] = "length_scale"

    nu: float = 1.5
    length_scale: Width = 1.0

    def __post_init__(self) -> None:
        check_number(self, "nu", above=0)
        self._check_width()

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z."""
        t = np.sqrt(2 * self.nu) * np.asarray(z, dtype=float) / self.single_width
        return _uniform(self.nu, t / self.nu) if self.nu >= _LARGE_ORDER else _by_bessel(self.nu, t)


def _by_bessel(nu: float, t: NDArray) -> NDArray[np.floating]:
    """Evaluate the kernel by scipy's K_nu.

    Near zero, where K_nu overflows, it is 1 - Gamma(1 - nu) / Gamma(1 + nu) (t/2)^(2 nu) + O(t^2).
    """
    value = np.ones_like(t)
    if nu < 1:
        value -= gamma(1 - nu) / gamma(1 + nu) * np.minimum(t / 2, _NEAR) ** (2 * nu)
    away = t > _NEAR
    u = np.minimum(t[away], _FAR)
    log_bessel = np.log(kve(nu, u)) - u
    value[away] = np.exp((1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(u) + log_bessel)
    return value


def _uniform(nu: float, x: NDArray) -> NDArray[np.floating]:
    """Evaluate the kernel for a large nu by the expansion of K_nu(nu x) that is uniform in x (DLMF 10.41.4).

    The expansion is divided by its limit at x = 0.
    """
    root = np.hypot(1, x)
    excess = x * (x / (1 + root))
    series = _series(nu)
    return np.exp(nu * (np.log1p(excess / 2) - excess)) / np.sqrt(root) * series(1 / root) / series(1)


@cache
def _series(nu: float) -> Polynomial:
    """Return sum_k (-1)^k U_k(p) / nu^k as a polynomial in p (DLMF 10.41.9)."""
    term = total = Polynomial([1.0])
    for k in range(1, _TERMS + 1):
        slope = Polynomial([0, 0, 0.5, 0, -0.5]) * term.deriv()
        term = slope + (Polynomial([0.125, 0, -0.625]) * term).integ()
        total = total + term * (-1 / nu) ** k
    return total
