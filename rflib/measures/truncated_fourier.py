"""The polynomial kernel's spectral measure as luo2021 prints it: equation 18, cut off at a largest frequency norm.

It is the Fourier transform of the kernel set to zero for z > 2, which has a jump there. So the mass of the radial
measure grows with the cutoff R like R^((d-1)/2), and the condition of theorem 3 for a decomposition does not hold.
The error of the kernel that the measure represents vanishes at z > 0 as R grows, but at z = 0 it grows like
R^((d-3)/2).
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, jv, logsumexp, xlogy

from rflib.kernels.base import RadialKernel
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.base import RadialMeasure, TablePart
from rflib.measures.domain import Domain
from rflib.measures.omega import omega

_STEP = 5e-3


def truncated_fourier(kernel: RadialKernel, domain: Domain, *, cutoff: float = 20.0) -> RadialMeasure:
    """Return the measure of equation 18 on [0, cutoff], with its surface factor and its constant.

    The kernel, a SphericalPolynomial, is taken as zero beyond the distance 2, and ``cutoff`` is the largest
    frequency norm R. Of the domain, only the dimension is used.

    Raises
    ------
    ValueError
        If the kernel is another one, the cutoff is not positive, or the mass is out of the range of floating-point
        numbers: for large d there is hardly any below a cutoff of about d/4, and a huge one far above it.
    """
    if not 0 < cutoff < np.inf:
        raise ValueError(f"truncated_fourier: cutoff must be a positive number, got {cutoff!r}.")
    nodes = np.linspace(0, cutoff, int(np.ceil(cutoff / _STEP)) + 1)
    sign, log_size = log_radial_density(kernel, domain.dimension, np.linspace(0, cutoff, 2 * len(nodes) - 1))
    scale = log_size.max()
    density = sign * np.exp(log_size - scale)
    # Simpson's rule in each interval.
    rise = (density[:-2:2] + 4 * density[1:-1:2] + density[2::2]) * (nodes[1] / 6)
    log_total = scale + np.log(np.abs(rise).sum())
    with np.errstate(over="ignore", under="ignore"):
        total = np.exp(log_total)
    if not (np.isfinite(total) and total > np.finfo(float).tiny):
        raise ValueError(
            f"truncated_fourier: the mass of {kernel!r} below the norm {cutoff:.6g} in {domain.dimension} "
            f"dimensions is about 10^{log_total / np.log(10):.0f}. Choose another cutoff, or measure='auto'."
        )
    return RadialMeasure.of_masses(TablePart, domain.dimension, nodes, rise * (total / np.abs(rise).sum()))


def log_density(kernel: RadialKernel, d: int, w: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sign of equation 18 and the logarithm of its absolute value at the norms w, each of shape (n,).

    Equation 18 is sum_i p!/(p-i)! (1-4/a^2)^(p-i) (2/a^2)^i (2/w)^(d/2+i) J_(d/2+i)(2w). Multiplied by (2
    pi)^(-d/2), it is the density p(w) on R^d. The logarithm neither overflows nor underflows: scipy's Bessel
    function is used where 2w exceeds its order, and (2/w)^nu J_nu(2w) = 2^nu Omega_(2 nu + 2)(2w) / Gamma(nu + 1)
    elsewhere. The kernel must be a SphericalPolynomial.
    """
    if kernel.printed_measure != "reference":
        raise ValueError(
            "The measures 'reference' and 'truncated_fourier' are equation 18 of luo2021 and exist for "
            f"SphericalPolynomial only, not for {kernel!r}. Use measure='auto'."
        )
    polynomial = cast(SphericalPolynomial, kernel)
    a, p = polynomial.a, int(polynomial.p)
    jump = 1 - 4 / a**2
    orders = range(p + 1) if jump > 0 else range(p, p + 1)
    signs, logs = [], []
    for i in orders:
        constant = gammaln(p + 1) - gammaln(p - i + 1) + i * np.log(2 / a**2) + xlogy(p - i, jump)
        sign, log_size = _scaled_bessel(d / 2 + i, w)
        signs.append(sign)
        logs.append(constant + log_size)
    log_size, sign = logsumexp(logs, b=signs, axis=0, return_sign=True)
    return sign, log_size


def log_radial_density(kernel: RadialKernel, d: int, r: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sign of the radial density and the logarithm of its absolute value at the norms r, shape (n,).

    The radial density is rho(r) = A_d r^(d-1) p(r), where A_d is the area of the unit sphere.
    """
    sign, log_size = log_density(kernel, d, r)
    with np.errstate(divide="ignore"):
        surface = (d - 1) * np.log(r) if d > 1 else np.zeros_like(r)
    return sign, (1 - d / 2) * np.log(2) - gammaln(d / 2) + surface + log_size


def _scaled_bessel(nu: float, w: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sign of (2/w)^nu J_nu(2w) and the logarithm of its absolute value."""
    value = np.empty_like(w)
    scale = np.empty_like(w)
    below = 2 * w <= nu
    value[below] = omega(int(2 * nu + 2), 2 * w[below])
    scale[below] = nu * np.log(2) - gammaln(nu + 1)
    value[~below] = jv(nu, 2 * w[~below])
    scale[~below] = nu * np.log(2 / w[~below])
    with np.errstate(divide="ignore"):
        return np.sign(value), scale + np.log(np.abs(value))
