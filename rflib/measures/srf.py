"""The positive measure nearest to a kernel: a sum of Gaussians (pennington2015), or the exact optimum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar, nnls
from scipy.special import gammaln

from rflib.kernels.base import RadialKernel
from rflib.measures.base import DiscretePart, RadialMeasure, RadialPart, TablePart
from rflib.measures.domain import Domain
from rflib.measures.omega import omega

_N_DISTANCES = 48
_N_RADII = 800
_OPTIMUM_RADII = 300
_REFINEMENTS = 6
_SPREADS = (0.02, 0.05, 0.1, 0.2)
_LARGEST = 100.0
_ITERATIONS = 300
_CONSTRAINT = 1e3


def srf(
    kernel: RadialKernel, domain: Domain, *, n_gaussians: int = 10, method: str = "gaussians"
) -> RadialMeasure:
    """Return the positive radial measure whose kernel K_hat minimises L = 1/2 int_0^zmax (K - K_hat)^2 dz.

    K_hat(0) = K(0), so that the measure is a probability for K(0) = 1, unless K(0) is not positive.

    Parameters
    ----------
    kernel : RadialKernel
        Any kernel of the distance, definite or not.
    domain : Domain
        For the dimension d and zmax (2 on the unit sphere).
    n_gaussians : int
        Number N of Gaussians (10 in the paper).
    method : {"gaussians", "optimum"}
        "gaussians": the spectrum max(0, sum_i c_i (1/(sqrt(2) sigma_i))^d exp(-w^2 / (4 sigma_i^2)))
        (pennington2015, eq. 9), fitted by L-BFGS from the best single Gaussian. "optimum": the best of all
        positive measures, by non-negative least squares over the norm; for large d mostly one norm.

    Raises
    ------
    ValueError
        For an unknown method, or n_gaussians below 1.
    """
    if method not in ("gaussians", "optimum"):
        raise ValueError(f"srf: method must be 'gaussians' or 'optimum', got {method!r}.")
    if n_gaussians < 1:
        raise ValueError(f"srf: n_gaussians must be at least 1, got {n_gaussians!r}.")
    if method == "optimum":
        return _optimum(kernel, domain.dimension, domain.zmax)
    return _gaussians(kernel, domain.dimension, domain.zmax, n_gaussians)


def loss(kernel: RadialKernel, measure: RadialMeasure, zmax: float) -> float:
    """Return L of a measure, by Gauss-Legendre quadrature."""
    z, weights = _distances(zmax)
    return float(0.5 * weights @ (kernel.at_distance(z) - measure.profile(z)) ** 2)


def single_gaussian(kernel: RadialKernel, zmax: float) -> float:
    """Return sigma^2 of the Gaussian exp(-sigma^2 z^2) that is nearest to the kernel's shape on [0, zmax]."""
    z, weights = _distances(zmax)
    target = kernel.at_distance(z)

    def misfit(log_square: float) -> float:
        shape = np.exp(-np.exp(log_square) * z**2)
        scale = max(weights @ (shape * target) / (weights @ shape**2), 0.0)
        return float(weights @ (target - scale * shape) ** 2)

    grid = np.log(np.geomspace(1e-2, 1e4, 200) / zmax**2)
    best = grid[int(np.argmin([misfit(value) for value in grid]))]
    step = grid[1] - grid[0]
    return float(np.exp(minimize_scalar(misfit, bounds=(best - step, best + step), method="bounded").x))


class GaussianSum:
    """The loss of a cut sum of Gaussians and its gradient, on fixed quadratures of distance and norm.

    A Gaussian exp(-sigma^2 z^2) is the kernel of frequencies sqrt(2) sigma times a standard normal vector, so
    its norm has the density of sqrt(2) sigma chi_d.

    Parameters
    ----------
    target, z, weights : ndarray of shape (n_distances,)
        Kernel, distances and quadrature weights.
    radii : ndarray of shape (n_radii,)
        Equidistant norms.
    dimension : int
        Input dimension d.
    mass : float
        Total mass that the spectrum is scaled to; 0 leaves it free.
    """

    def __init__(
        self, target: NDArray, z: NDArray, weights: NDArray, radii: NDArray, dimension: int, mass: float
    ) -> None:
        self.target, self.weights, self.radii, self.dimension = target, weights, radii, dimension
        self.mass = mass
        self.step = radii[1] - radii[0]
        self.transform = omega(dimension, np.multiply.outer(z, radii)) * self.step

    def densities(self, log_sigma: NDArray) -> tuple[NDArray, NDArray]:
        """Return each Gaussian's density of the norm, and its derivative in log sigma: (n, n_radii) each."""
        d, scale = self.dimension, np.sqrt(2) * np.exp(log_sigma)[:, None]
        square = (self.radii / scale) ** 2
        log_density = (
            (d - 1) * np.log(self.radii / scale)
            - square / 2
            - np.log(scale)
            - (d / 2 - 1) * np.log(2)
            - gammaln(d / 2)
        )
        density = np.exp(log_density)
        return density, density * (square - d)

    def __call__(self, parameters: NDArray) -> tuple[float, NDArray]:
        """Return L and its gradient at (c_1..c_N, log sigma_1..log sigma_N)."""
        c, log_sigma = np.split(parameters, 2)
        density, slope = self.densities(log_sigma)
        spectrum = c @ density
        cut = np.maximum(spectrum, 0)
        total = cut.sum() * self.step
        if self.mass and not total > 0:
            return np.inf, np.zeros_like(parameters)
        scale = self.mass / total if self.mass else 1.0
        estimate = scale * (self.transform @ cut)
        weighted = self.weights * (estimate - self.target)
        outer = scale * weighted @ self.transform
        if self.mass:
            outer = outer - weighted @ estimate / total * self.step
        outer = outer * (spectrum > 0)
        gradient = np.concatenate([density @ outer, c * (slope @ outer)])
        return float(0.5 * weighted @ (estimate - self.target)), gradient


@lru_cache(maxsize=64)
def _gaussians(kernel: RadialKernel, d: int, zmax: float, n: int) -> RadialMeasure:
    z, weights = _distances(zmax)
    sigma = np.sqrt(single_gaussian(kernel, zmax))
    reach = np.sqrt(2) * sigma * (np.sqrt(d) + 8)
    radii = (np.arange(_N_RADII) + 0.5) * 1.3 * reach / _N_RADII
    fit = GaussianSum(kernel.at_distance(z), z, weights, radii, d, _mass(kernel))
    bounds = [(-_LARGEST, _LARGEST)] * n + [(np.log(sigma / 4), np.log(sigma * 1.25))] * n
    best = min((_descend(fit, start, bounds) for start in _starts(sigma, n)), key=lambda found: found[0])[1]
    c, log_sigma = np.split(best, 2)
    spectrum = np.maximum(c @ fit.densities(log_sigma)[0], 0) * fit.step
    mass = fit.mass or float(spectrum.sum())
    spectrum /= spectrum.sum()
    edges = np.concatenate([[0.0], (radii[1:] + radii[:-1]) / 2, [1.5 * radii[-1] - 0.5 * radii[-2]]])
    return RadialMeasure(d, positive=TablePart(mass, edges, np.concatenate([[0.0], np.cumsum(spectrum)])))


def _starts(sigma: float, n: int) -> Iterator[NDArray]:
    """Starting points about the best single Gaussian: all coefficients positive, and of alternating sign.

    A norm that is more concentrated than chi_d needs coefficients of both signs.
    """
    spread = np.linspace(-1, 1, n)
    yield np.concatenate([np.full(n, 1 / n), np.log(sigma) + _SPREADS[0] * spread])
    alternating = np.where(np.arange(n) % 2, -1.0, 1.0) + 1 / n
    for width in _SPREADS:
        yield np.concatenate([alternating, np.log(sigma) + width * spread])


def _descend(fit: GaussianSum, start: NDArray, bounds: list[tuple[float, float]]) -> tuple[float, NDArray]:
    """Loss and parameters that L-BFGS reaches; the loss is scaled to the size that its tolerances expect."""
    unit = fit(start)[0]
    if not 0 < unit < np.inf:
        return unit, start
    solution = minimize(
        lambda x: tuple(value / unit for value in fit(x)),
        start,
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS, "ftol": 1e-14, "gtol": 1e-12},
    )
    return float(solution.fun) * unit, solution.x


@lru_cache(maxsize=64)
def _optimum(kernel: RadialKernel, d: int, zmax: float) -> RadialMeasure:
    z, weights = _distances(zmax)
    root = np.sqrt(weights)
    target = kernel.at_distance(z)
    reach = np.sqrt(2 * single_gaussian(kernel, zmax)) * (np.sqrt(d) + 8)
    radii = np.linspace(0, 1.3 * reach, _OPTIMUM_RADII)
    step = radii[1]
    for _ in range(_REFINEMENTS):
        masses = _nonnegative(d, radii, z, root, target, _mass(kernel))
        step /= 8
        around = np.add.outer(radii[masses > 0], step * np.arange(-10, 11))
        radii = np.unique(np.abs(around))
    masses = _nonnegative(d, radii, z, root, target, _mass(kernel))
    total = float(masses.sum())
    inside = masses > 0
    part: RadialPart = DiscretePart(total, radii[inside], masses[inside] / total)
    return RadialMeasure(d, positive=part)


def _nonnegative(d: int, radii: NDArray, z: NDArray, root: NDArray, target: NDArray, mass: float) -> NDArray:
    design = root[:, None] * omega(d, np.multiply.outer(z, radii))
    if mass:
        design = np.vstack([design, np.full(len(radii), _CONSTRAINT)])
        target = np.append(root * target, _CONSTRAINT * mass)
    else:
        target = root * target
    return nnls(design, target)[0]


def _distances(zmax: float) -> tuple[NDArray, NDArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_N_DISTANCES)
    return (nodes + 1) * zmax / 2, weights * zmax / 2


def _mass(kernel: RadialKernel) -> float:
    """Return k(0), or 0 for a mass that is free."""
    return max(float(kernel.at_distance(np.zeros(1))[0]), 0.0)
