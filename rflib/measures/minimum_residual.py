"""Atomic measures whose features have the least variance once their lowest harmonics are exact.

The linear program is that of `rflib.measures.minimum_variance` with other prices. The price of an atom is the
standard deviation, for a whole orthogonal basis, of its cosines and sines without their harmonics of degree 0 and
1 (`rflib.measures.control_variates`). Atoms of small norm are then nearly free, so that few norms are enough, and
so is one program for each error of the fit. A surcharge on |mu_j| keeps the sum of the absolute weights small,
because a large sum costs accuracy in single precision and in learners that ignore signs. A positive definite
kernel has atoms of positive weight only. The construction was introduced in rflib.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicLadder
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import has_positive_measure
from rflib.measures.harmonics import orthogonal_factors
from rflib.measures.minimum_variance import (
    DELTAS,
    check_options,
    fitted_weights,
    frequency_norms,
    ladder_of,
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
# Surcharges as shares of the largest price. The closest fit is also made with the small one: kernels with hardly
# any degree above 2 need large weights of small norms.
_SURCHARGE = 0.01
_SMALL_SURCHARGE = 1e-5


def minimum_residual(
    kernel: RadialKernel, domain: Domain, *, deltas: tuple[float, ...] = DELTAS, largest_radius: float = 4.0
) -> AtomicLadder:
    """Return a ladder of atomic measures for the kernel on the domain, to be used with exact harmonics.

    Parameters and exceptions are those of `rflib.measures.minimum_variance.minimum_variance`.
    """
    check_options("minimum_residual", deltas, largest_radius)
    ranges, quantiles = ranges_of(domain), quantiles_of(domain)
    values = profile_values(kernel, ranges, _N_DISTANCES, quantiles)
    return _ladder(
        domain.dimension,
        ranges,
        largest_radius,
        domain.pairs(_N_PAIRS),
        quantiles.tobytes(),
        tuple(value.tobytes() for value in values),
        tuple(deltas),
        has_positive_measure(kernel),
    )


def _prices(radii: NDArray, pairs: RowPairs) -> NDArray[np.float64]:
    """Return the standard deviations of a whole basis without its harmonics of degree 0 and 1."""
    factors = orthogonal_factors(len(pairs.centre))[-1]
    waves = PlaneWaves(radii, np.ones(len(radii)), pairs)
    prices = sum(np.sqrt(waves.own_removed(kind) @ factors) for kind in KINDS)
    return prices if prices.any() else np.ones(len(radii))


@lru_cache(maxsize=64)
def _ladder(
    d: int,
    ranges: tuple[float, ...],
    largest_radius: float,
    pairs: RowPairs,
    quantile_bytes: bytes,
    value_bytes: tuple[bytes, ...],
    deltas: tuple[float, ...],
    positive: bool,
) -> AtomicLadder:
    quantiles = np.frombuffer(quantile_bytes)
    targets, values, exact = map(np.frombuffer, value_bytes)
    solutions = []
    for zmax, target in zip(ranges, np.split(targets, len(ranges)), strict=True):
        radii = frequency_norms(largest_radius * 2 * np.sqrt(d) / zmax, _N_RADII, _N_TAIL)
        prices = _prices(radii, pairs)
        design = omega(d, np.multiply.outer(nodes(zmax, _N_DISTANCES), radii))
        errors = [delta * float(np.abs(target).max()) for delta in deltas]
        solutions.append(nearest_single_norm(d, radii[1:], quantiles, values))
        for share, some in ((_SURCHARGE, errors), (_SMALL_SURCHARGE, errors[-1:])):
            surcharged = prices + share * prices.max()
            for mu in fitted_weights(design, target, surcharged, some, positive=positive):
                solutions.extend(with_merged(radii, mu))
    return ladder_of(solutions, d, ranges, quantiles, values, exact)
