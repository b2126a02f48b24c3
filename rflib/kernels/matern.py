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
from rflib.kernels.namespaces import Array, as_array, is_single, namespace, widest
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import check_number

# From this order on, _TERMS terms of the asymptotic series are exact to rounding. Below it, the Bessel function
# does not overflow at arguments of at least _NEAR.
_LARGE_ORDER = 20
_TERMS = 12
_NEAR = 1e-10
# For these orders the kernel is exp(-t) times a polynomial, by Horner's rule: 1, 1 + t, 1 + t (1 + t / 3).
_SIMPLE: dict[float, tuple[float, ...]] = {0.5: (), 1.5: (1.0,), 2.5: (1 / 3, 1.0)}
# Beyond this argument the kernel is zero at orders below _LARGE_ORDER.
_FAR = 2000
# The trapezoidal rule of `_by_gaussians`: the largest step, what is left out on either side, the largest -log s.
_LOG_STEP = 0.25
_LOG_ROUNDING = 40.0
_SURELY_ZERO = 70.0


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

    See Also
    --------
    Gaussian : The limit of large nu.
    sklearn.gaussian_process.kernels.Matern : The same kernel.

    References
    ----------
    Rasmussen, Williams: Gaussian processes for machine learning, 2006, equations 4.14 and 4.15.

    Examples
    --------
    >>> from rflib.kernels import Matern
    >>> Matern(nu=1.5, length_scale=2.0).at_distance([0.0, 1.0, 2.0]).round(4)
    array([1.    , 0.7849, 0.4834])
    """

    width_parameter: ClassVar[str] = "length_scale"
    definite_on = "all"

    nu: float = 1.5
    length_scale: Width = 1.0

    def __post_init__(self) -> None:
        check_number(self, "nu", above=0)
        self._check_width()

    @property
    def matern_order(self) -> float:
        """The smoothness nu."""
        return self.nu

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z."""
        xp, distances = as_array(z)
        is_simple = xp is np and self.nu in _SIMPLE and is_single(distances)
        t = float(np.sqrt(2 * self.nu) / self.single_width) * (distances if is_simple else widest(distances))
        if self.nu >= _LARGE_ORDER:
            return _uniform(self.nu, t / self.nu)
        return _by_bessel(self.nu, t) if xp is np else _by_gaussians(self.nu, t)


def _by_bessel(nu: float, t: NDArray) -> NDArray[np.floating]:
    """Evaluate the kernel in closed form where there is one, or by scipy's K_nu.

    Near zero, where K_nu overflows, it is 1 - Gamma(1 - nu) / Gamma(1 + nu) (t/2)^(2 nu) + O(t^2).
    """
    if nu in _SIMPLE:
        value, factor = np.exp(-t), np.ones_like(t)
        for coefficient in _SIMPLE[nu]:
            factor = 1.0 + coefficient * t * factor
        return value * factor
    value = np.ones_like(t)
    if nu < 1:
        value -= gamma(1 - nu) / gamma(1 + nu) * np.minimum(t / 2, _NEAR) ** (2 * nu)
    away = t > _NEAR
    u = np.minimum(t[away], _FAR)
    log_bessel = np.log(kve(nu, u)) - u
    value[away] = np.exp((1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(u) + log_bessel)
    return value


def _by_gaussians(nu: float, t: Array) -> Array:
    """Evaluate the kernel where there is no K_nu, as a mixture of Gaussians.

    It is the mean of exp(-t^2 / (4 s)) over the gamma distribution of s with shape nu (DLMF 10.32.10). The
    trapezoidal rule in log s, whose error falls exponentially, is exact to rounding with this step.
    """
    logs = np.arange(-_LOG_ROUNDING / nu, np.log(nu + _LOG_ROUNDING) + 1, _LOG_STEP / (1 + nu / 8))
    weights = np.exp(nu * logs - np.exp(logs) - gammaln(nu))
    weights /= weights.sum()
    squares = t * t / -4
    xp, total = namespace(t), 0 * t
    inverses = np.exp(np.minimum(-logs, _SURELY_ZERO))
    for weight, inverse in zip(weights.tolist(), inverses.tolist(), strict=True):
        total += weight * xp.exp(squares * inverse)
    return total


def _uniform(nu: float, x: Array) -> Array:
    """Evaluate the kernel for a large nu by the expansion of K_nu(nu x) that is uniform in x (DLMF 10.41.4).

    The expansion is divided by its limit at x = 0.
    """
    xp = namespace(x)
    root = np.hypot(1, x) if xp is np else xp.sqrt(1 + x * x)
    excess = x * (x / (1 + root))
    series = _series(nu)
    value = series(1 / root) if xp is np else _horner(series, 1 / root)
    return xp.exp(nu * (xp.log1p(excess / 2) - excess)) / xp.sqrt(root) * value / float(series(1))


def _horner(polynomial: Polynomial, x: Array) -> Array:
    value = 0 * x
    for coefficient in reversed(polynomial.coef.tolist()):
        value = value * x + coefficient
    return value


@cache
def _series(nu: float) -> Polynomial:
    """Return sum_k (-1)^k U_k(p) / nu^k as a polynomial in p (DLMF 10.41.9)."""
    term = total = Polynomial([1.0])
    for k in range(1, _TERMS + 1):
        slope = Polynomial([0, 0, 0.5, 0, -0.5]) * term.deriv()
        term = slope + (Polynomial([0.125, 0, -0.625]) * term).integ()
        total = total + term * (-1 / nu) ** k
    return total
