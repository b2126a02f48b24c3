"""Atomic signed measures, and the error that is predicted for frequencies that are drawn from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rflib.measures.base import DiscretePart, RadialMeasure, RadialPart, Sampling, SpectralMeasure
from rflib.measures.omega import omega
from rflib.measures.variance import cosine_moments, orthogonal_pairs


@dataclass(frozen=True, eq=False)
class AtomicMeasure(RadialMeasure):
    """A signed radial measure that consists of finitely many atoms.

    An atom is a frequency norm with a signed mass; its directions are uniform. An atom of norm zero represents a
    constant. The Jordan parts ``positive`` and ``negative`` are computed from the atoms.

    Parameters
    ----------
    dimension, zmax
        As for `RadialMeasure`.
    radii, weights : ndarray of shape (n_atoms,)
        Norms of the atoms, in inverse units of the inputs, and their signed masses, in units of the kernel.
    distances, values : ndarray of shape (n_distances,)
        Sample of the distances over which errors are averaged, and the kernel at these distances.
    bias_estimate : float
        Largest |profile(z) - k(z)| for z in [0, zmax], found on a fine grid.
    """

    positive: RadialPart | None = field(init=False)
    negative: RadialPart | None = field(init=False)
    radii: NDArray = field(kw_only=True)
    weights: NDArray = field(kw_only=True)
    distances: NDArray = field(kw_only=True)
    values: NDArray = field(kw_only=True)
    bias_estimate: float = field(kw_only=True)

    def __post_init__(self) -> None:
        for name, masses in (("positive", self.weights), ("negative", -self.weights)):
            object.__setattr__(self, name, DiscretePart.of_masses(self.radii, np.maximum(masses, 0)))

    def predicted_error(self, sampling: Sampling) -> float:
        """Return the predicted root mean square error of a kernel value over the distances.

        It is infinite if there are fewer frequencies than parts.
        """
        if sampling.n < len(self.parts()):
            return np.inf
        bias = self.weights @ self._cosines[0] - self.values
        return float(np.sqrt(np.mean(bias**2 + self.variance(sampling))))

    def variance(self, sampling: Sampling) -> NDArray:
        """Return the variance of the estimate at the distances, shape (n_distances,).

        It is the sum of the variances of the single cosines; the covariances of cosines whose directions are
        orthogonal; and the variance of the mean over the directions, if the norms are drawn independently.
        Norms drawn otherwise are treated as if they were in exact proportion to the masses, and all directions
        that are not orthogonal as independent ones, because they are rarely worse. Random phases are left out.
        """
        total = np.zeros_like(self.distances)
        means, variances = self._cosines
        for sign, part, count in self.shares(sampling.n):
            masses = np.maximum(sign * self.weights, 0)
            total += part.mass * masses @ variances / count
            if sampling.radii in ("iid", "paired"):
                total += (part.mass * masses @ means**2 - (masses @ means) ** 2) / count
            if sampling.directions == "orthogonal":
                first, second, covariances = self._pairs
                both = masses[first] * masses[second] * np.where(first == second, 1, 2)
                total += orthogonal_pairs(count, self.dimension) / count**2 * (both @ covariances)
        return np.maximum(total, 0)

    @cached_property
    def _cosines(self) -> tuple[NDArray, NDArray]:
        """The means and variances of the cosines at the distances, each of shape (n_atoms, n_distances)."""
        arguments = np.multiply.outer(self.radii, self.distances)
        return omega(self.dimension, arguments), np.maximum(cosine_moments(self.dimension, arguments)[0], 0)

    @cached_property
    def _pairs(self) -> tuple[NDArray, NDArray, NDArray]:
        """Two atoms of one sign in each pair, and the covariance of their cosines in orthogonal directions."""
        j, k = np.nonzero(np.triu(np.outer(self.weights, self.weights) > 0))
        norms = np.hypot(self.radii[j], self.radii[k])
        products = omega(self.dimension, np.multiply.outer(norms, self.distances))
        return j, k, products - self._cosines[0][j] * self._cosines[0][k]


@dataclass(frozen=True, eq=False)
class CandidateMeasures(SpectralMeasure):
    """A choice of atomic measures for one kernel, from few atoms with a rough fit to many atoms with a close fit.

    `for_sampling` returns the one with the least predicted error for a given number of frequencies.

    Parameters
    ----------
    dimension, zmax
        As for `RadialMeasure`.
    candidates : tuple of AtomicMeasure
        The measures.
    """

    dimension: int
    candidates: tuple[AtomicMeasure, ...]
    zmax: float

    def for_sampling(self, sampling: Sampling) -> AtomicMeasure:
        """Return the candidate with the least predicted root mean square error."""
        return min(self.candidates, key=lambda each: each.predicted_error(sampling))
