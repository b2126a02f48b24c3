"""Minimum-variance signed measures: a few atoms that are found by a linear program.

Among the signed atomic measures that represent the kernel on [0, zmax] up to an error delta, the program finds one
whose features have little variance. It minimises sum_j |mu_j| sd_j subject to |k(z_i) - sum_j mu_j Omega_d(r_j
z_i)| <= delta at distances z_i, where sd_j is the standard deviation of a cosine of norm r_j. Only the profile of
the kernel is needed and no Fourier transform, so that the program can be solved for every kernel of the distance.
The construction was introduced in rflib.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure, CandidateMeasures
from rflib.measures.domain import Domain
from rflib.measures.omega import omega
from rflib.measures.variance import cosine_moments
from rflib.warn import warn

# Frequency norms: evenly spaced ones up to so many units of 2 sqrt(d) / zmax, and more that grow geometrically to
# so many times the largest of these.
_N_RADII, _BULK, _N_TAIL, _TAIL = 96, 4.0, 16, 16.0
_N_DISTANCES = 64
_N_QUANTILES = 200
_N_CHECK = 2001
_N_CHECK_NEAR_ZERO = 1200
_NEAREST = 1e-14
_NEGLIGIBLE = 1e-9
_AWAY = 0.4
# A range of nearly all pairs counts if it is much nearer than the one before; it has the margin of the ball of
# `Domain`. A row takes part in 2 / n of all pairs, so that the first share misses an outlier among few rows.
_NEARLY_ALL = (0.99, 0.8)
_MUCH_NEARER = 0.25
_MARGIN = 1.5
_DELTAS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


def minimum_variance(
    kernel: RadialKernel, domain: Domain, *, deltas: Sequence[float] = _DELTAS
) -> CandidateMeasures:
    """Return candidate measures of atoms for the kernel on the domain.

    A linear program is solved for each delta, and for three models of the directions, which are independent, half
    orthogonal bases or whole ones. Each is solved with and without norms near zero. The best single norm is one
    more candidate. `CandidateMeasures` then chooses by the error that is predicted for a number of frequencies.

    Parameters
    ----------
    kernel, domain
        As for `rflib.measures.construct`. Candidates are cached by the values of the kernel's profile.
    deltas : sequence of float
        Largest errors of the fit, relative to the largest |k(z)|. Errors that cannot be reached are left out.

    Raises
    ------
    ValueError
        If the kernel is not finite on [0, zmax] or is zero there.

    Warns
    -----
    UserWarning
        If the kernel is zero at all distances of the sample.
    """
    ranges, quantiles = ranges_of(domain), _quantiles_of(domain)
    z = np.concatenate([*map(_nodes, ranges), quantiles, _check_grid(ranges)])
    values = np.asarray(kernel.at_distance(z), dtype=np.float64)
    if not np.isfinite(values).all() or not values.any():
        fault = "is zero at" if np.isfinite(values).all() else "is not finite on"
        raise ValueError(
            f"{kernel!r} {fault} the distances [0, {ranges[0]:.6g}]. Change its profile or its width."
        )
    if not _split(values, ranges)[1][quantiles > 0].any():
        warn(
            f"{kernel!r} is zero at the distances between the training rows, "
            f"{quantiles[quantiles > 0].min():.4g} to {quantiles[-1]:.4g}, so that different rows have "
            "nothing in common. If the kernel has a width, choose one that suits the units of the data.",
            cause="nothing in common",
        )
    return _candidates(domain.dimension, ranges, quantiles.tobytes(), values.tobytes(), tuple(deltas))


def ranges_of(domain: Domain) -> tuple[float, ...]:
    """Return the largest distances up to which the kernel is fitted.

    They are zmax, and if a few rows are far from all others, also ranges that most pairs are in: a fit to zmax has
    too few norms to resolve the kernel within them.
    """
    ranges = [float(domain.zmax)]
    for nearer in _MARGIN * np.quantile(domain.distances, _NEARLY_ALL):
        if 0 < nearer < _MUCH_NEARER * ranges[-1]:
            ranges.append(float(nearer))
    return tuple(ranges)


def _quantiles_of(domain: Domain) -> NDArray[np.float64]:
    """Return the distances over which errors are averaged, with zeros for the share of equal rows."""
    apart = domain.distances[domain.distances > 0]
    n = max(1, round(_N_QUANTILES * len(apart) / len(domain.distances)))
    return np.append(np.zeros(_N_QUANTILES - n), np.quantile(apart, (np.arange(n) + 0.5) / n))


def _nodes(zmax: float) -> NDArray[np.float64]:
    """Return Chebyshev nodes, which are dense at both ends, where the fit would otherwise overshoot."""
    return zmax * (1 - np.cos(np.pi * np.arange(_N_DISTANCES) / (_N_DISTANCES - 1))) / 2


def _check_grid(ranges: Sequence[float]) -> NDArray[np.float64]:
    """Return the distances at which the bias is computed, dense near zero, where narrow kernels fall."""
    grid = np.append(np.linspace(0, 1, _N_CHECK), np.geomspace(_NEAREST, 1, _N_CHECK_NEAR_ZERO))
    return np.multiply.outer(ranges, grid).ravel()


def _split(values: NDArray, ranges: Sequence[float]) -> list[NDArray[np.float64]]:
    """Return the values at the nodes of all ranges, at the quantiles, and at the points of `_check_grid`."""
    n = len(ranges) * _N_DISTANCES
    return np.split(values, [n, n + _N_QUANTILES])


@lru_cache(maxsize=64)
def _candidates(
    d: int, ranges: tuple[float, ...], quantile_bytes: bytes, value_bytes: bytes, deltas: tuple[float, ...]
) -> CandidateMeasures:
    quantiles = np.frombuffer(quantile_bytes)
    targets, values, exact = _split(np.frombuffer(value_bytes), ranges)
    solutions = []
    for zmax, target in zip(ranges, np.split(targets, len(ranges)), strict=True):
        unit = 2 * np.sqrt(d) / zmax
        bulk = np.linspace(0, _BULK * unit, _N_RADII)
        radii = np.append(bulk, bulk[-1] * np.geomspace(1, _TAIL, _N_TAIL + 1)[1:])
        away = int(np.searchsorted(radii, _AWAY * unit))
        deltas_of_kernel = [delta * float(np.abs(target).max()) for delta in deltas]
        design = omega(d, np.multiply.outer(_nodes(zmax), radii))
        to_fit = (quantiles, values) if values.any() else (_nodes(zmax), target)
        solutions.append(_nearest_single_norm(d, radii[1:], *to_fit))
        variance, covariance = cosine_moments(d, np.multiply.outer(radii, quantiles))
        for block in sorted({1, max(1, d // 2), d}):
            cost = np.sqrt(np.maximum((variance + (block - 1) * covariance).mean(axis=1), 0))
            for first in (0, away):
                for mu in _fitted_weights(design[:, first:], target, cost[first:], deltas_of_kernel):
                    solutions.extend(_with_merged(radii[first:], mu))
    check, candidates = _check_grid(ranges), []
    measure = partial(AtomicMeasure, d, zmax=ranges[0], distances=quantiles, values=values)
    for radii, weights in solutions:
        bound = float(np.abs(omega(d, np.multiply.outer(check, radii)) @ weights - exact).max())
        candidates.append(measure(radii=radii, weights=weights, bias_estimate=bound))
    return CandidateMeasures(d, tuple(candidates), ranges[0])


def _nearest_single_norm(d: int, radii: NDArray, z: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
    """Return the norm and weight of the single atom that is nearest to the kernel in mean square."""
    basis = omega(d, np.multiply.outer(z, radii))
    # For large d, the transforms of norms in the far tail underflow and represent nothing.
    weights = (values @ basis) / np.maximum((basis**2).sum(axis=0), np.finfo(float).tiny)
    best = int(np.argmin(((basis * weights - values[:, None]) ** 2).sum(axis=0)))
    return radii[best : best + 1], weights[best : best + 1]


def _with_merged(radii: NDArray, mu: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield the atoms of a solution, and the atoms after merging neighbours on the grid into one norm."""
    inside = np.flatnonzero(np.abs(mu) > _NEGLIGIBLE * np.abs(mu).max())
    if not inside.size:
        return
    yield radii[inside], mu[inside]
    apart = (np.diff(inside) > 1) | (np.diff(np.sign(mu[inside])) != 0) | (radii[inside[:-1]] == 0)
    groups = np.split(inside, np.flatnonzero(apart) + 1)
    if len(groups) < len(inside):
        weights = np.array([mu[group].sum() for group in groups])
        yield np.array([radii[group] @ np.abs(mu[group]) for group in groups]) / np.abs(weights), weights


def _fitted_weights(
    design: NDArray, target: NDArray, cost: NDArray, deltas: Iterable[float]
) -> Iterator[NDArray]:
    """Yield the weights of least cost within each delta of the target, until there are none."""
    signed = np.hstack([design, -design])
    for delta in deltas:
        result = linprog(
            np.concatenate([cost, cost]),
            A_ub=np.vstack([signed, -signed]),
            b_ub=np.concatenate([target + delta, delta - target]),
            bounds=(0, None),
            method="highs",
        )
        if result.status != 0:
            return
        yield result.x[: len(cost)] - result.x[len(cost) :]
