"""The best positive radial measure for a kernel: a clipped sum of Gaussians, or the optimum over all measures.

No positive measure has the polynomial kernel on the sphere as its transform (pennington2015, theorem 3). So a
positive definite kernel near it is used: the transform K_hat of k_hat(w) = max(0, sum_i c_i (sqrt(2) sigma_i)^-d
exp(-w^2 / (4 sigma_i^2))) (equation 4) with the least loss L = 1/2 int_0^zmax (K - K_hat)^2 dz (equation 5). Each
Gaussian is the distribution of a frequency whose norm is sqrt(2) sigma_i chi_d. So all computations are
one-dimensional: K_hat(z) = int rho(r) Omega_d(r z) dr, where rho is the positive part of the sum of the chi
densities with the coefficients c_i.

Algorithm 1 gives each feature the weight sqrt(2/D), so the measure must be a probability distribution up to a
factor: its mass is held at k(0). The paper does not treat kernels with k(0) <= 0, and no positive measure comes
near them. They are first raised by a constant so that their minimum is zero; so only their shape is fitted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar, nnls
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from rflib.kernels.base import RadialKernel
from rflib.measures.base import DiscretePart, RadialMeasure, TablePart
from rflib.measures.domain import Domain
from rflib.measures.omega import omega

_N_GAUSSIANS = 10
_N_DISTANCES = 64
_SINGLES = np.geomspace(1e-2, 30, 200)
_SPAN = 2.5
_NODES_PER_WIDTH = 20
_OPTIMUM_RADII = 400
_REFINEMENTS = 4
_SUBDIVISIONS = 10
_MERGE = 1e-3
_EQUALITY = 1e3
_SCALE = 1e4


def srf(kernel: RadialKernel, domain: Domain, *, method: str = "gaussians") -> RadialMeasure:
    """Return the positive measure nearest to the kernel on [0, zmax] (pennington2015, algorithm 1, step 1).

    Parameters
    ----------
    kernel, domain
        As for `rflib.measures.construct`.
    method : {"gaussians", "optimum"}, default="gaussians"
        "gaussians" fits the paper's clipped sum of N = 10 Gaussians by L-BFGS, starting from the best single one
        (such as that of the paper, with sigma^2 = p/a^2). "optimum" searches all positive measures of the same
        mass by non-negative least squares; the result has a few atoms, and a single one for d >= 123 and p <= 20.

    Raises
    ------
    ValueError
        If the method is unknown, the kernel is constant, not finite, or not positive and least at 0, or no sum of
        Gaussians is near it.
    """
    if method not in ("gaussians", "optimum"):
        raise ValueError(f"srf: method must be one of 'gaussians', 'optimum', got {method!r}.")
    z, weights = _distances(domain.zmax)
    values = kernel.at_distance(np.concatenate([[0.0], z])).astype(np.float64)
    finite = np.isfinite(values).all()
    if finite and values[0] <= 0:
        if values[0] == values.min() < values.max():
            raise ValueError(
                f"srf: {kernel!r} is not positive at the distance 0 and least there, on [0, {domain.zmax:.6g}]. "
                "No positive measure comes near such a kernel. Use MVORF or GORF instead of SRF."
            )
        values = values - values.min()
    if not (finite and values[0] > 0):
        raise ValueError(f"srf: {kernel!r} must be finite and not constant on [0, {domain.zmax:.6g}].")
    mass, target = float(values[0]), values[1:] / values[0]
    sigma = _single_gaussian(z, weights, target)
    # One thread: sums in another order would send L-BFGS down another path.
    given = domain.dimension, z, weights, target, sigma
    with threadpool_limits(limits=1, user_api="blas"):
        part = (
            _optimum(*given, mass) if method == "optimum" else _clipped_gaussians(GaussianFit(*given), mass)
        )
    if part is None:
        raise ValueError(
            f"srf: no sum of {_N_GAUSSIANS} Gaussians was found near {kernel!r} on [0, {domain.zmax:.6g}], "
            "because it is nearly constant except for a jump at zero. Use method='optimum', or MVORF or RFF "
            "instead of SRF."
        )
    return RadialMeasure(domain.dimension, positive=part, zmax=domain.zmax)


def fit_loss(kernel: RadialKernel, profile: Callable[[NDArray], NDArray], zmax: float) -> float:
    """Return the loss 1/2 int_0^zmax (K - K_hat)^2 dz of pennington2015 (equation 5) for a profile K_hat(z)."""
    z, weights = _distances(zmax)
    return float(weights @ (kernel.at_distance(z) - profile(z)) ** 2 / 2)


def _distances(zmax: float) -> tuple[NDArray, NDArray]:
    """Return Gauss-Legendre nodes and weights on [0, zmax]."""
    x, weights = np.polynomial.legendre.leggauss(_N_DISTANCES)
    return zmax * (x + 1) / 2, weights * zmax / 2


def _single_gaussian(z: NDArray, weights: NDArray, target: NDArray) -> float:
    """Return the sigma for which exp(-sigma^2 z^2) is nearest to the target."""

    def loss(log_sigma: float) -> float:
        return float(weights @ (np.exp(-((np.exp(log_sigma) * z) ** 2)) - target) ** 2)

    grid = np.log(_SINGLES / z[-1])
    best = int(np.argmin([loss(x) for x in grid]))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


class GaussianFit:
    """The fit of a clipped sum of Gaussians in d dimensions as a function of its parameters.

    Given are distances z, the weights of the integral over them, the kernel at them divided by k(0), and the sigma
    of a single Gaussian, about whose norms the grid of norms is. The logarithms of the norms sqrt(2) sigma chi_d
    have the same distribution for every sigma, up to a shift. Its width is about 1/sqrt(2 d), which is the unit of
    the positions. At position zero, log(sqrt(2) sigma) is the ``centre``.
    """

    def __init__(self, d: int, z: NDArray, weights: NDArray, target: NDArray, sigma: float) -> None:
        self.dimension, self.weights, self.target = d, weights, target
        self.centre, width = np.log(np.sqrt(2) * sigma), 1 / np.sqrt(2 * d)
        left, right = max(_SPAN, 12 / d), max(_SPAN, 12 * width)
        n = int(np.ceil((left + right) / width * _NODES_PER_WIDTH))
        self.log_radii = np.linspace(-left, right, n) + self.centre + np.log(d) / 2
        self.transform = omega(d, np.multiply.outer(z, np.exp(self.log_radii)))

    def loss_and_gradient(self, parameters: NDArray) -> tuple[float, NDArray]:
        """Return the loss and its gradient; a sum without a positive part counts as K_hat = 0."""
        masses, total, basis, slope = self.clipped(parameters)
        if not total:
            return float(self.weights @ self.target**2 / 2), np.zeros_like(parameters)
        residual = self.transform @ masses - self.target
        by_mass = self.transform.T @ (self.weights * residual)
        by_sum = (by_mass - masses @ by_mass) * (masses > 0) / total
        coefficients = parameters[: basis.shape[1]]
        gradient = np.concatenate([by_sum @ basis, (by_sum @ slope) * coefficients])
        return float(self.weights @ residual**2 / 2), gradient

    def clipped(self, parameters: NDArray) -> tuple[NDArray, float, NDArray, NDArray]:
        """Return the normalised masses, their former sum (0 if negligible), the chi densities and their slopes.

        The parameters are the N coefficients c_i and N positions.
        """
        coefficients, positions = np.split(parameters, 2)
        d, width = self.dimension, 1 / np.sqrt(2 * self.dimension)
        v = self.log_radii[:, None] - (self.centre + width * positions)
        square = np.exp(2 * v)
        log_norm = np.log(self.log_radii[1] - self.log_radii[0]) + (1 - d / 2) * np.log(2) - gammaln(d / 2)
        basis = np.exp(log_norm + d * v - square / 2)
        masses = np.maximum(basis @ coefficients, 0)
        total = float(masses.sum())
        if total <= 1e-8 * np.abs(coefficients).sum():
            return masses, 0.0, basis, basis
        return masses / total, total, basis, basis * (square - d) * width


def _clipped_gaussians(fit: GaussianFit, mass: float) -> TablePart | None:
    n = _N_GAUSSIANS
    positions = np.arange(n) - float(n // 2)
    start = np.concatenate([positions == 0, positions])
    scale = _SCALE / float(fit.weights.sum())

    def objective(parameters: NDArray) -> tuple[float, NDArray]:
        loss, gradient = fit.loss_and_gradient(parameters)
        return scale * loss, scale * gradient

    reach = _SPAN * np.sqrt(2 * fit.dimension) - 3
    result = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * n + [(-reach, reach)] * n,
        options={"maxiter": 500, "maxcor": 50, "ftol": 1e-12, "gtol": 1e-8},
    )
    step = fit.log_radii[1] - fit.log_radii[0]
    edges = np.exp(np.append(fit.log_radii - step / 2, fit.log_radii[-1] + step / 2))
    return TablePart.of_masses(edges, mass * fit.clipped(result.x)[0])


def _optimum(
    d: int, z: NDArray, weights: NDArray, target: NDArray, sigma: float, mass: float
) -> DiscretePart:
    """Return the optimum by non-negative least squares on a grid of norms, which is refined around its support.

    Norms that are close to each other are merged.
    """
    spacing = 2 * _SPAN / _OPTIMUM_RADII
    grid = np.log(np.sqrt(2 * d) * sigma) + spacing * (np.arange(_OPTIMUM_RADII) - _OPTIMUM_RADII / 2)
    fine = np.linspace(-1, 1, 2 * _SUBDIVISIONS + 1)
    root = np.sqrt(weights / weights.sum())
    for _ in range(1 + _REFINEMENTS):
        design = root[:, None] * omega(d, np.multiply.outer(z, np.exp(grid)))
        # One more equation with a large weight makes the probabilities sum to one.
        rows = np.vstack([design, np.full(len(grid), _EQUALITY)])
        solution, _ = nnls(rows, np.append(root * target, _EQUALITY), maxiter=30 * len(grid))
        support, probabilities = grid[solution > 0], solution[solution > 0] / solution.sum()
        grid = np.unique(np.add.outer(support, spacing * fine).round(12))
        spacing /= _SUBDIVISIONS
    groups = np.split(np.arange(len(support)), np.flatnonzero(np.diff(support) > _MERGE) + 1)
    merged = np.array([probabilities[group].sum() for group in groups])
    centres = np.array([support[g] @ probabilities[g] for g in groups]) / merged
    return DiscretePart(mass, np.exp(centres), merged)
