"""Weighted frequencies that are drawn from a spectral measure, with rules for their directions and norms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from rflib.frequencies.directions import DIRECTIONS, normalised, points
from rflib.measures.base import ProductMeasure, RadialMeasure, SpectralMeasure
from rflib.measures.digmm_reference import DifferenceOfMixtures

RADII = ("iid", "paired", "stratified", "halton", "joint")
_POINT_SETS = ("iid", "halton", "sobol")


@dataclass(frozen=True, eq=False)
class Frequencies:
    """A signed sum of cosines: k_hat(z) = sum_f weights[f] cos(<vectors[f], z>).

    The frequencies ``vectors`` (n, d) are in inverse units of the inputs, and those of positive weight come first.
    The signed ``weights`` (n,) are in units of the kernel, and their sum is k(0) or nearly so.
    """

    vectors: NDArray[np.float64]
    weights: NDArray[np.float64]


def sample_frequencies(
    measure: SpectralMeasure, n: int, *, directions: str, radii: str, rng: Generator
) -> Frequencies:
    """Draw n frequencies whose weighted sum of cosines is unbiased for the kernel of the measure.

    Parameters
    ----------
    measure : SpectralMeasure
        A radial measure allows all directions. A product measure (of the Laplacian or Cauchy kernel) allows only
        "iid", "halton" and "sobol", because its directions and norms are not independent. A difference
        of mixtures (``DifferenceOfMixtures``) allows only "iid" for directions and norms.
    n : int
        Number of frequencies. If the measure has a negative part, they are divided equally between both parts, as
        in luo2021.
    directions : {"iid", "orthogonal", "distance", "frame", "halton", "sobol"}
        How the directions are drawn (`rflib.frequencies.directions`). "orthogonal" and "distance" draw
        separate sets for each part; "frame" draws one set for all (luo2021, equation 10).
    radii : {"iid", "paired", "stratified", "halton", "joint"}
        How the norms are drawn.

        - "iid": independently from the distribution of each part.
        - "paired": at the probabilities u and 1 - u for each two successive frequencies, so that a large norm
          comes with a small one (Reid, Markou, Choromanski, Turner and Weller, *Variance-reducing couplings for
          random features*, ICLR 2025).
        - "stratified": one from each of as many equally probable intervals as there are frequencies.
        - "halton": at the quantiles of a scrambled Halton sequence.
        - "joint": together with the directions, from one point set for each part (Yang et al. 2014). The norm is
          the first of d + 1 coordinates; if the measure has independent coordinates, these are drawn instead of a
          norm and a direction. It needs the directions "iid", "halton" or "sobol".

    Raises
    ------
    ValueError
        If a rule is unknown, there are too few frequencies, or the measure does not allow the directions.
    """
    for name, rule, rules in (("directions", directions, DIRECTIONS), ("radii", radii, RADII)):
        if rule not in rules:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, rules))}, got {rule!r}.")
    if isinstance(measure, DifferenceOfMixtures):
        if not directions == radii == "iid":
            raise ValueError("measure='digmm_reference' needs directions='iid' and radii='iid'.")
        return Frequencies(measure.vectors(n, rng), np.full(n, 1 / n))
    coordinates = measure if isinstance(measure, ProductMeasure) else None
    if isinstance(measure, RadialMeasure) and radii in ("iid", "joint"):
        coordinates = measure.coordinates
    if coordinates is not None and directions in _POINT_SETS:
        vectors = coordinates.quantile(points(directions, n, coordinates.dimension, rng))
        return Frequencies(vectors, np.full(n, 1 / n))
    if not isinstance(measure, RadialMeasure):
        raise ValueError(
            f"directions={directions!r} needs a kernel of the Euclidean distance, but this kernel is a product "
            "over the input columns. Use RFF or QMC."
        )
    d = measure.dimension
    shares = measure.shares(n)
    weights = np.concatenate([np.full(count, sign * part.mass / count) for sign, part, count in shares])
    if radii == "joint":
        if directions not in _POINT_SETS:
            raise ValueError(
                f"directions must be one of {', '.join(map(repr, _POINT_SETS))} with radii='joint', got "
                f"{directions!r}."
            )
        cubes = [points(directions, count, d + 1, rng) for *_, count in shares]
        norms = [part.quantile(u[:, 0]) for (_, part, _), u in zip(shares, cubes, strict=True)]
        unit = normalised(ndtri(np.concatenate(cubes)[:, 1:]))
    else:
        norms = [part.quantile(uniforms(count, radii, rng)) for _, part, count in shares]
        counts = [count for *_, count in shares] if directions in ("orthogonal", "distance") else [n]
        unit = np.concatenate([DIRECTIONS[directions](count, d, rng) for count in counts])
    return Frequencies(np.concatenate(norms)[:, None] * unit, weights)


def uniforms(n: int, rule: str, rng: Generator) -> NDArray[np.float64]:
    """Return n numbers, in random order but for pairs, each of them uniformly distributed in (0, 1).

    ``rule`` is "iid", "paired" for pairs u and 1 - u that stay together, "stratified" for one number in each of n
    equal intervals, or "halton" for a scrambled Halton sequence in base 2.
    """
    if rule == "paired":
        u = points("iid", (n + 1) // 2, 1, rng)
        return np.hstack([u, 1 - u]).ravel()[:n]
    if rule == "stratified":
        return rng.permutation((np.arange(n) + points("iid", n, 1, rng)[:, 0]) / n)
    u = points(rule, n, 1, rng)[:, 0]
    return rng.permutation(u) if rule == "halton" else u
