"""Atomic measures whose features have the least variance once their lowest harmonics are exact.

The linear program is that of `rflib.measures.minimum_variance` with other prices. The price of an atom is the
standard deviation, for a whole orthogonal basis, of its cosines and sines without their harmonics of degree 0 and
1 (`rflib.measures.control_variates`). Atoms of small norm are then nearly free, so that few norms are enough, and
so is one program for each error of the fit. A surcharge on |mu_j| keeps the sum of the absolute weights small,
because a large sum costs accuracy in single precision and in learners that ignore signs. A kernel with a positive
measure has atoms of positive weight only. A kernel that is positive definite on the unit sphere alone has further
candidates with such atoms, which do not represent it as closely. With up to three input columns, the programs have
more norms where those are not enough. The construction was introduced in rflib.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import CandidateMeasures
from rflib.measures.base import RadialMeasure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure, has_positive_measure, is_positive_definite
from rflib.measures.harmonics import orthogonal_factors
from rflib.measures.minimum_variance import (
    DELTAS,
    candidates_of,
    check_options,
    distances_to_fit,
    fitted_weights,
    frequency_norms,
    nearest_single_norm,
    nodes,
    profile_values,
    quantiles_of,
    ranges_of,
    with_merged,
)
from rflib.measures.omega import omega
from rflib.measures.plane_waves import KINDS, PlaneWaves
from rflib.measures.row_pairs import RowPairs

_N_RADII = 64
_N_TAIL = 12
_N_DISTANCES = 40
_N_PAIRS = 72
# With up to this number of input columns, a kernel that is narrow in its range needs equally spaced norms,
# 1.5 / zmax apart, and if they are not enough, many norms of the exact measure.
_FEW_COLUMNS = 3
_N_SERIES = 256
_STEP = 1.5
_N_DISTANCES_OF_SERIES = 96
_N_MIDPOINTS = 256
# Surcharges as shares of the largest price. The closest fit is also made with the small one: kernels with hardly
# any degree above 2 need large weights of small norms.
_SURCHARGE = 0.01
_SMALL_SURCHARGE = 1e-5


def minimum_residual(
    kernel: RadialKernel, domain: Domain, *, deltas: tuple[float, ...] = DELTAS, largest_radius: float = 4.0
) -> CandidateMeasures:
    """Return candidate measures of atoms for the kernel on the domain, to be used with exact harmonics.

    Parameters and exceptions are those of `rflib.measures.minimum_variance.minimum_variance`.
    """
    check_options("minimum_residual", deltas, largest_radius)
    ranges, quantiles = ranges_of(domain), quantiles_of(domain)
    few = domain.dimension <= _FEW_COLUMNS
    values = profile_values(kernel, ranges, _N_DISTANCES_OF_SERIES if few else _N_DISTANCES, quantiles)
    positive = has_positive_measure(kernel)
    signs = (True,) if positive else (False, True) if is_positive_definite(kernel) else (False,)
    return _candidates(
        domain.dimension,
        ranges,
        largest_radius,
        domain.pairs(_N_PAIRS),
        quantiles.tobytes(),
        tuple(value.tobytes() for value in values),
        tuple(deltas),
        signs,
        _midpoints(kernel, domain.dimension).tobytes() if positive and few else b"",
    )


def _midpoints(kernel: RadialKernel, d: int) -> NDArray[np.float64]:
    """Return norms in the middle of equal shares of the exact measure of a positive definite kernel.

    Atoms of these norms with equal weights represent kernels of any width, so that errors fall with the number of
    columns where no linear program represents the kernel.
    """
    measure, n = exact_measure(kernel, d), _N_MIDPOINTS // d**2
    assert isinstance(measure, RadialMeasure)
    ((_, part),) = measure.parts()
    return part.quantile((np.arange(n) + 0.5) / n)


def _prices(radii: NDArray, pairs: RowPairs) -> NDArray[np.float64]:
    """Return the standard deviations of a whole basis without its harmonics of degree 0 and 1."""
    factors = orthogonal_factors(len(pairs.centre))[-1]
    waves = PlaneWaves(radii, np.ones(len(radii)), pairs)
    prices = sum(np.sqrt(waves.own_removed(kind) @ factors) for kind in KINDS)
    return prices if prices.any() else np.ones(len(radii))


@lru_cache(maxsize=64)
def _candidates(
    d: int,
    ranges: tuple[float, ...],
    largest_radius: float,
    pairs: RowPairs,
    quantile_bytes: bytes,
    value_bytes: tuple[bytes, ...],
    deltas: tuple[float, ...],
    signs: tuple[bool, ...],
    midpoint_bytes: bytes,
) -> CandidateMeasures:
    quantiles, midpoints = np.frombuffer(quantile_bytes), np.frombuffer(midpoint_bytes)
    targets, values, exact = map(np.frombuffer, value_bytes)
    solutions: list[tuple[NDArray, NDArray]] = []
    all_reached = True
    for zmax, target in zip(ranges, np.split(targets, len(ranges)), strict=True):
        known = distances_to_fit(zmax, target, quantiles, values)
        left = {positive: [delta * float(np.abs(target).max()) for delta in deltas] for positive in signs}
        for radii in _grids(d, zmax, largest_radius):
            prices = _prices(radii, pairs)
            design = omega(d, np.multiply.outer(nodes(zmax, len(target)), radii))
            solutions.append(nearest_single_norm(d, radii[1:], *known))
            for positive, errors in left.items():
                reached = 0
                for share, tried in ((_SURCHARGE, errors), (_SMALL_SURCHARGE, errors[-1:])):
                    surcharged = prices + share * prices.max()
                    for mu in fitted_weights(design, target, surcharged, tried, positive=positive):
                        solutions.extend(with_merged(radii, mu))
                        reached += 1
                left[positive] = errors[reached:]
            if not any(left.values()):
                break
        all_reached &= not any(left.values())
    if midpoints.size and not all_reached:
        solutions.append((midpoints, np.full(midpoints.size, exact[0] / midpoints.size)))
    return replace(candidates_of(solutions, d, ranges, quantiles, values, exact), definite=True in signs)


def _grids(d: int, zmax: float, largest_radius: float) -> Iterator[NDArray[np.float64]]:
    """Yield norms, and for few input columns others that are taken if those do not reach every error.

    Omega_d(t) decays as t^(-(d - 1) / 2). Where that is slow, no weights of norms that are much farther apart than
    1 / zmax represent a kernel that is narrow in its range.
    """
    radii = frequency_norms(largest_radius * 2 * np.sqrt(d) / zmax, _N_RADII, _N_TAIL)
    yield radii
    if d <= _FEW_COLUMNS:
        series = np.arange(1, _N_SERIES + 1) * _STEP / zmax
        yield np.concatenate([radii[:_N_RADII], series[series > radii[_N_RADII - 1]]])
