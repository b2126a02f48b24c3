"""Weighted frequencies of a spectral measure: measure x directions x radii."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.directions import DIRECTIONS, points
from rflib.frequencies.radii import RADII, uniforms
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.base import ProductMeasure, RadialMeasure, SpectralMeasure

_POINT_SETS = ("iid", "halton", "sobol")


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
    directions : {"iid", "orthogonal", "frame", "halton", "sobol"}
        "orthogonal" draws separate blocks for each part (or atom), "frame" one set for all (luo2021, eq. 10).
    radii : {"iid", "stratified", "halton"}
        How the norms are drawn.
    rng : Generator
        Source of randomness.

    Raises
    ------
    ValueError
        For an unknown rule, too few frequencies, or directions that the measure does not allow.
    """
    if directions not in DIRECTIONS:
        raise ValueError(f"Unknown directions {directions!r}: choose one of {tuple(DIRECTIONS)}.")
    if radii not in RADII:
        raise ValueError(f"Unknown radii {radii!r}: choose one of {RADII}.")
    coordinates = measure if isinstance(measure, ProductMeasure) else None
    if isinstance(measure, RadialMeasure) and radii == "iid":
        coordinates = measure.coordinates
    if coordinates is not None and directions in _POINT_SETS:
        vectors = coordinates.quantile(points(directions, n, coordinates.dimension, rng))
        return Frequencies(vectors, np.full(n, 1 / n))
    if not isinstance(measure, RadialMeasure):
        raise ValueError(
            f"directions={directions!r} need a kernel of the Euclidean distance, but this one is a product "
            "over the coordinates: use RFF or QMC."
        )
    d = measure.dimension
    strata = list(_strata(measure, n, directions, radii, rng))
    if directions == "orthogonal":
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
        for stratum in sorted(measure.strata(n, block), key=lambda s: s.weights[0] < 0):
            yield np.full(len(stratum.weights), stratum.radius), stratum.weights
        return
    parts = list(measure.parts())
    if n < len(parts):
        raise ValueError(
            f"A signed measure needs a frequency for each of its 2 parts, but {n} were asked for."
        )
    for i, (sign, part) in enumerate(parts):
        count = (n + len(parts) - 1 - i) // len(parts)
        yield part.quantile(uniforms(count, radii, rng)), np.full(count, sign * part.mass / count)
