"""Omega_d, the characteristic function of a uniform direction, which is the kernel of a single frequency norm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, jv

_SERIES_LIMIT = 5.0
# Terms below this are far below the rounding error of the first term, which is 1.
_NEGLIGIBLE = 1e-22
_LOG_UNDERFLOW = -600.0


def omega(d: int, t: ArrayLike) -> NDArray[np.float64]:
    """Return Omega_d(t), the mean of cos(t <u, e>) over uniform unit vectors u in R^d, for any unit vector e.

    Omega_d(t) = Gamma(d/2) (2/t)^(d/2-1) J_{d/2-1}(t) = 0F1(; d/2; -t^2/4). It is computed in one of three ways,
    according to the size of t: by the power series while its terms do not cancel (t^2 <= 10 d), by scipy's Bessel
    function where this does not underflow, and otherwise by Debye's expansion for large orders (Abramowitz &
    Stegun 9.3.7).

    The dimension d is at least 1. The arguments t may have any shape and sign.
    """
    t = np.abs(np.asarray(t, dtype=np.float64))
    flat = t.ravel()
    value = np.empty_like(flat)
    small = flat**2 / (2 * d) <= _SERIES_LIMIT
    value[small] = _series(d, flat[small])
    value[~small] = _bessel(d / 2 - 1, flat[~small])
    return value.reshape(t.shape)


def _series(d: int, t: NDArray) -> NDArray:
    x = -(t**2) / 4
    term, total, factor = np.ones_like(x), np.ones_like(x), np.empty_like(x)
    k, size, largest = 0, 1.0, float(np.abs(x).max(initial=0))
    while size > _NEGLIGIBLE:
        k += 1
        size *= largest / (k * (d / 2 + k - 1))
        np.divide(x, k * (d / 2 + k - 1), out=factor)
        term *= factor
        total += term
    return total


def _bessel(nu: float, t: NDArray) -> NDArray:
    log_scale = gammaln(nu + 1) + nu * np.log(2 / t)
    sech = np.minimum(t / max(nu, 0.5), 1.0)
    tanh = np.sqrt(1 - sech**2)
    exponent = nu * (tanh - np.arctanh(tanh))
    debye = exponent < _LOG_UNDERFLOW
    value = np.empty_like(t)
    value[~debye] = jv(nu, t[~debye]) * np.exp(log_scale[~debye])
    if debye.any():
        p = 1 / tanh[debye]
        correction = (
            1
            + p * (3 - 5 * p**2) / (24 * nu)
            + p**2 * (81 - 462 * p**2 + 385 * p**4) / (1152 * nu**2)
            + p**3 * (30375 - 369603 * p**2 + 765765 * p**4 - 425425 * p**6) / (414720 * nu**3)
        )
        leading = np.exp(exponent[debye] + log_scale[debye]) * np.sqrt(p / (2 * np.pi * nu))
        value[debye] = leading * correction
    return value
