"""Exact spectral measures: closed forms, and the Jordan parts of signed Gaussian mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, singledispatch

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import fdtri, gammainc

from rflib.kernels.base import Kernel
from rflib.kernels.cauchy import Cauchy
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.laplacian import Laplacian
from rflib.kernels.matern import Matern
from rflib.kernels.rational_quadratic import RationalQuadratic
from rflib.measures.base import (
    ChiPart,
    ProductMeasure,
    RadialMeasure,
    RadialPart,
    SpectralMeasure,
    TablePart,
    chi_quantile,
)

_TABLE_NODES = 20_001
_ROOT_NODES = 4_001
_MIXTURE_NODES = 8_001
# The trapezoidal rule of `_gamma_mixture`: the step, what is left out on either side, the largest -log.
_LOG_STEP, _LOG_ROUNDING, _LEAST_LOG = 0.25, 37.0, -300.0
_NO_MASS = 1e-11  # As a share of the terms; below it are the rounding errors of the tables.


@singledispatch
def exact_measure(kernel: Kernel, dimension: int) -> SpectralMeasure:
    """Return the exact spectral measure of a kernel on R^dimension, whose total mass is finite.

    Gaussian, Matern, RationalQuadratic, Laplacian, Cauchy and DeltaGaussian kernels have one, which is signed for
    DeltaGaussian, and kernels of your own if they have a method ``spectral_measure``.

    Raises
    ------
    ValueError
        If no finite spectral measure of the kernel is known, or a DeltaGaussian is zero everywhere.
    """
    if (found := kernel.spectral_measure(dimension)) is not None:
        own: SpectralMeasure = found
        return own
    raise ValueError(
        f"{kernel!r} has no exact finite spectral measure. Use a map that needs none: MVORF or SRF (for any "
        "kernel of the distance), RandomMaclaurin or TensorSketch (for polynomial kernels), or Nystroem."
    )


def has_exact_measure(kernel: Kernel) -> bool:
    """Return whether the kernel has an `exact_measure`."""
    known = exact_measure.dispatch(type(kernel)) is not exact_measure.dispatch(object)
    return known or type(kernel).spectral_measure is not Kernel.spectral_measure


def has_positive_measure(kernel: Kernel) -> bool:
    """Return whether the kernel has an `exact_measure` that is positive."""
    return has_exact_measure(kernel) and kernel.definite_on == "all"


@exact_measure.register
def _(kernel: Gaussian, dimension: int) -> SpectralMeasure:
    coordinates = ProductMeasure(dimension, "normal", 1 / kernel.single_width)
    return RadialMeasure(dimension, ChiPart(1.0, dimension, kernel.single_width), coordinates=coordinates)


@exact_measure.register
def _(kernel: Laplacian, dimension: int) -> SpectralMeasure:
    return ProductMeasure(dimension, "cauchy", kernel.single_width)


@exact_measure.register
def _(kernel: Cauchy, dimension: int) -> SpectralMeasure:
    return ProductMeasure(dimension, "laplace", kernel.single_width)


@dataclass(frozen=True)
class StudentPart(RadialPart):
    """The norm r of a d-variate t vector with 2 nu degrees of freedom and scale 1 / length_scale.

    In units of the scale, r^2 / d has the distribution F(d, 2 nu).
    """

    mass: float
    dimension: int
    nu: float
    length_scale: float

    def quantile(self, u: NDArray) -> NDArray:
        """Return the norms at the probabilities u in (0, 1)."""
        radii = np.sqrt(self.dimension * fdtri(self.dimension, 2 * self.nu, u))
        # For nu near zero the norms overflow. At the largest one allowed, rows are as far apart as beyond.
        return np.minimum(radii, 1e15) / self.length_scale


@exact_measure.register
def _(kernel: Matern, dimension: int) -> SpectralMeasure:
    return RadialMeasure(dimension, positive=StudentPart(1.0, dimension, kernel.nu, kernel.single_width))


@exact_measure.register
def _(kernel: RationalQuadratic, dimension: int) -> SpectralMeasure:
    return RadialMeasure(dimension, positive=_gamma_mixture(kernel.alpha, kernel.single_width, dimension))


@lru_cache(maxsize=32)
def _gamma_mixture(alpha: float, width: float, dimension: int) -> TablePart:
    """Return the norm of a normal vector times sqrt(s / alpha) / width; s has the gamma law of shape alpha.

    The mean over s is taken by the trapezoidal rule in log s, whose error falls exponentially.
    """
    start, stop = max(-_LOG_ROUNDING / alpha, _LEAST_LOG), np.log(alpha + _LOG_ROUNDING + 9 * np.sqrt(alpha))
    logs = np.arange(start, stop, _LOG_STEP / (1 + np.sqrt(alpha)))
    weights = np.exp(alpha * (logs - np.log(alpha)) - (np.exp(logs) - alpha))
    logs, weights = logs[weights > 0], weights[weights > 0] / weights.sum()
    scales = np.exp(logs / 2) / np.sqrt(alpha)
    ends = scales[[0, -1]] * chi_quantile(dimension, np.array([1e-16, 1 - 1e-16]))
    radii = np.geomspace(ends[0], ends[1], _MIXTURE_NODES)
    cdf = gammainc(dimension / 2, np.divide.outer(radii, scales) ** 2 / 2) @ weights
    return TablePart(1.0, np.append(0, radii) / width, np.append(0, cdf) / cdf[-1])


@exact_measure.register
def _(kernel: DeltaGaussian, dimension: int) -> SpectralMeasure:
    """Return the Jordan parts of the radial density rho(r) = sum_i a_i sigma_i chi_d(sigma_i r).

    The density includes the surface factor. It changes its sign at the roots of sum_i a_i sigma_i^d exp(-sigma_i^2
    r^2 / 2). Between two roots a part has the closed-form distribution function of the chi terms.
    """
    a, sigma = np.array(kernel.coefficients), np.array(kernel.scaled_sigmas)

    def scaled_density(r: ArrayLike) -> NDArray:
        exponent = dimension * np.log(sigma) - np.multiply.outer(r, sigma) ** 2 / 2
        return np.exp(exponent - exponent.max(axis=-1, keepdims=True)) @ a

    tails = np.concatenate([np.geomspace(1e-16, 0.5, _ROOT_NODES), 1 - np.geomspace(0.5, 1e-16, _ROOT_NODES)])
    grid = np.unique(np.multiply.outer(1 / sigma, chi_quantile(dimension, np.unique(tails))))
    density = np.sign(scaled_density(grid))
    crossings = np.flatnonzero(density[1:] * density[:-1] < 0)
    roots = [brentq(scaled_density, grid[i], grid[i + 1], xtol=1e-15) for i in crossings]

    u = (np.arange(1, _TABLE_NODES) - 0.5) / _TABLE_NODES
    bulk = np.multiply.outer(1 / sigma, chi_quantile(dimension, u))
    nodes = np.unique(np.concatenate([grid, bulk.ravel(), roots, [0.0]]))
    rise = np.diff(gammainc(dimension / 2, np.multiply.outer(nodes, sigma) ** 2 / 2) @ a)
    sign = np.sign(scaled_density((nodes[1:] + nodes[:-1]) / 2))
    measure = RadialMeasure.of_masses(TablePart, dimension, nodes, rise * (rise * sign > 0))
    if measure.total_mass < _NO_MASS * np.abs(a).sum():
        raise ValueError(
            f"{kernel!r} is zero everywhere: its terms cancel, so it has no measure to draw frequencies from."
        )
    return measure
