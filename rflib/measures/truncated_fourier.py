"""The signed measure of the polynomial kernel as luo2021 prints it: a Fourier transform cut off twice.

The kernel is cut to zero beyond z = 2 (rows of unit norm are no farther apart), which leaves a jump at 2 unless
a = 2; then its Fourier density falls off so slowly that the measure has no finite mass (rho(r) behaves like
r^((d-3)/2)), theorem 3's condition fails, and the norms must be cut off too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from rflib.kernels.base import RadialKernel
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.base import RadialMeasure, TablePart
from rflib.measures.domain import Domain
from rflib.measures.omega import omega

_N_NODES = 20_000


def truncated_fourier(kernel: RadialKernel, domain: Domain, *, cutoff: float = 20.0) -> RadialMeasure:
    """Return the Jordan parts of the printed measure on the norms [0, cutoff], the surface factor included.

    Parameters
    ----------
    kernel : SphericalPolynomial
        The kernel; there is no other of which the paper prints the density.
    domain : Domain
        For the dimension d.
    cutoff : float
        Largest frequency norm. Masses and variance grow without bound with it, like cutoff^((d-1)/2); the bias
        does not vanish.

    Raises
    ------
    ValueError
        For another kernel, a cutoff that is not positive, or masses beyond the range of doubles.
    """
    if not cutoff > 0:
        raise ValueError(f"truncated_fourier: cutoff must be positive, got {cutoff!r}.")
    d = domain.dimension
    edges = np.linspace(0, cutoff, _N_NODES + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    log_surface = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2) + (d - 1) * np.log(middle)
    with np.errstate(over="ignore"):
        mass = polynomial_density(kernel, d, middle, log_surface) * (cutoff / _N_NODES)
    if not np.isfinite(np.abs(mass).sum()):
        raise ValueError(
            f"The printed measure of {kernel!r} at d = {d} with cutoff = {cutoff:g} has a mass beyond the range "
            "of doubles: choose a smaller cutoff, or measure='minimum_variance'."
        )
    return jordan_measure(d, edges, mass)


def polynomial_density(
    kernel: RadialKernel, d: int, r: NDArray, log_factor: NDArray | float = 0.0
) -> NDArray[np.float64]:
    """Return exp(log_factor) p(r), where p is the Fourier density of the cut kernel on R^d (eq. 18).

    p(w) = (2 pi)^(-d/2) sum_i p!/(p-i)! (1 - 4/a^2)^(p-i) (2/a^2)^i (2/w)^(d/2+i) J_{d/2+i}(2w), evaluated with
    (2/w)^v J_v(2w) = 2^v Omega_{2v+2}(2w) / Gamma(v+1) and all factors as logarithms.

    Raises
    ------
    ValueError
        If the kernel is not a SphericalPolynomial.
    """
    if not isinstance(kernel, SphericalPolynomial):
        raise ValueError(f"luo2021 prints the density of SphericalPolynomial only, not of {kernel!r}.")
    p, square = kernel.p, kernel.a**2
    density = np.zeros_like(r)
    for i in range(p + 1):
        if square == 4 and i < p:
            continue
        order = d / 2 + i
        log_constant = (
            gammaln(p + 1)
            - gammaln(p - i + 1)
            + ((p - i) * np.log1p(-4 / square) if i < p else 0.0)
            + i * np.log(2 / square)
            + order * np.log(2)
            - gammaln(order + 1)
            - d / 2 * np.log(2 * np.pi)
        )
        density += np.exp(log_constant + log_factor) * omega(d + 2 * i + 2, 2 * r)
    return density


def jordan_measure(d: int, edges: NDArray, mass: NDArray) -> RadialMeasure:
    """Return the measure of signed masses on intervals of the norm, spread evenly in each."""
    parts = []
    for sign in (1, -1):
        part = np.maximum(sign * mass, 0)
        total = float(part.sum())
        cdf = np.concatenate([[0.0], np.cumsum(part)])
        parts.append(TablePart(total, edges, cdf / cdf[-1]) if total > 0 else None)
    return RadialMeasure(d, positive=parts[0], negative=parts[1])
