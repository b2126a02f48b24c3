"""Weighted frequencies of a spectral measure: measure x directions x radii."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from rflib.frequencies.directions import DIRECTIONS, normalised, points
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.base import ProductMeasure, RadialMeasure, SpectralMeasure

RADII = ("iid", "stratified", "halton", "joint")
_POINT_SETS = ("iid", "halton", "sobol")
IN_BASES = ("orthogonal", "coupled")


@dataclass(frozen=True, eq=False)
class Frequencies:
    """A signed sum of cosines: k_hat(z) = sum_f weights[f] cos(<vectors[f], z>).

    Attributes
    ----------
    vectors : ndarray of shape (n, d)
        Frequencies, in inverse units of the inputs; those of positive weight first.
    weights : ndarray of shape (n,)
        Signed weights, which sum to (about) k(0).
    """

    vectors: NDArray[np.float64]
    weights: NDArray[np.float64]


def sample_frequencies(
    measure: SpectralMeasure, n: int, *, directions: str, radii: str, rng: Generator
) -> Frequencies:
    """Draw n frequencies, so that their sum of cosines is unbiased for the measure's kernel.

    Parameters
    ----------
    measure : SpectralMeasure
        A radial measure takes all directions. A product measure (Laplacian, Cauchy) takes "iid", "halton" and
        "sobol" only: its directions and norms are not independent.
    n : int
        Number of frequencies. A measure with a negative part divides them equally between both parts, as
        luo2021 does; an atomic one with stratified radii divides them by least variance.
    directions : {"iid", "orthogonal", "coupled", "frame", "halton", "sobol"}
        "orthogonal" and "coupled" draw separate blocks for each part (or atom), "frame" one set for all (luo2021,
        eq. 10).
    radii : {"iid", "stratified", "halton", "joint"}
        How the norms are drawn. "joint": with the directions, as the first coordinate of one point set of
        d + 1 coordinates for each part of the measure, or, where the measure has independent coordinates, with
        no norms at all (Yang et al. 2014); for the directions "iid", "halton" and "sobol".
    rng : Generator
        Source of randomness.

    Raises
    ------
    ValueError
        For an unknown rule, too few frequencies, or directions that the measure does not allow.
    """
    for name, rule, rules in (("directions", directions, DIRECTIONS), ("radii", radii, RADII)):
        if rule not in rules:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, rules))}, got {rule!r}.")
    coordinates = measure if isinstance(measure, ProductMeasure) else None
    if isinstance(measure, RadialMeasure) and radii in ("iid", "joint"):
        coordinates = measure.coordinates
    if coordinates is not None and directions in _POINT_SETS:
        vectors = coordinates.quantile(points(directions, n, coordinates.dimension, rng))
        return Frequencies(vectors, np.full(n, 1 / n))
    if not isinstance(measure, RadialMeasure):
        raise ValueError(
            f"directions={directions!r} need a kernel of the Euclidean distance, but this one is a product "
            "over the coordinates: use RFF or QMC."
        )
    if radii == "joint":
        return _joint(measure, n, directions, rng)
    d = measure.dimension
    strata = list(_strata(measure, n, directions, radii, rng))
    if directions in IN_BASES:
        unit = np.concatenate([DIRECTIONS[directions](len(r), d, rng) for r, _ in strata])
    else:
        unit = DIRECTIONS[directions](n, d, rng)
    norms, weights = (np.concatenate(column) for column in zip(*strata, strict=True))
    return Frequencies(norms[:, None] * unit, weights)


def _strata(
    measure: RadialMeasure, n: int, directions: str, radii: str, rng: Generator
) -> Iterator[tuple[NDArray, NDArray]]:
    """Norms and weights, by atoms or by Jordan parts."""
    if isinstance(measure, AtomicMeasure) and radii == "stratified":
        block = measure.dimension if directions == "orthogonal" else 1
        for radius, weights in sorted(measure.strata(n, block), key=lambda atom: atom[1][0] < 0):
            yield np.full(len(weights), radius), weights
        return
    for sign, part, count in measure.shares(n):
        yield part.quantile(uniforms(count, radii, rng)), np.full(count, sign * part.mass / count)


def _joint(measure: RadialMeasure, n: int, directions: str, rng: Generator) -> Frequencies:
    """Norm and direction of a frequency from one point of the unit cube."""
    if directions not in _POINT_SETS:
        raise ValueError(f"radii='joint' needs directions of {_POINT_SETS}, not {directions!r}.")
    vectors, weights = [], []
    for sign, part, count in measure.shares(n):
        u = points(directions, count, measure.dimension + 1, rng)
        vectors.append(part.quantile(u[:, 0])[:, None] * normalised(ndtri(u[:, 1:])))
        weights.append(np.full(count, sign * part.mass / count))
    return Frequencies(np.concatenate(vectors), np.concatenate(weights))


def uniforms(n: int, rule: str, rng: Generator) -> NDArray[np.float64]:
    """Return n uniforms in (0, 1), each of them uniform, in random order.

    ``rule`` is "iid", "stratified" (one in each of n equal strata) or "halton" (scrambled, base 2).
    """
    if rule == "stratified":
        return rng.permutation((np.arange(n) + points("iid", n, 1, rng)[:, 0]) / n)
    u = points(rule, n, 1, rng)[:, 0]
    return rng.permutation(u) if rule == "halton" else u
