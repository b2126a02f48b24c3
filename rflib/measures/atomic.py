"""Atomic signed measures, how frequencies are divided among their atoms, and the error that is predicted for them.

A frequency of norm r with a uniform direction contributes cos(r <u, z>) to the estimate at a distance z. The
variance of this cosine is V(r z) = (1 + Omega_d(2 r z))/2 - Omega_d(r z)^2. The cosines of two orthogonal
directions have the covariance C(r z) = Omega_d(sqrt(2) r z) - Omega_d(r z)^2 (luo2021, theorem 5 with its sign
corrected). So the mean over m orthogonal directions has the variance (V + (m-1) C)/m. For small r z a complete
basis (m = d) is far better than d-1 directions, because it sums the squares <u_i, z>^2 exactly. Atoms are
therefore given whole bases where possible. The remaining directions, fewer than a basis, are weighted by the
inverse of their variance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rflib.measures.base import DiscretePart, RadialMeasure, RadialPart, Sampling, SpectralMeasure
from rflib.measures.omega import omega
from rflib.measures.variance import cosine_moments, orthogonal_pairs

_TINY = 1e-300
_BISECTIONS = 40


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
            part = DiscretePart.of_masses(self.radii[masses > 0], masses[masses > 0])
            object.__setattr__(self, name, part)

    def predicted_error(self, sampling: Sampling) -> float:
        """Return the predicted root mean square error of a kernel value over the distances.

        It is infinite if there are fewer frequencies than atoms, or than parts if the norms are not stratified.
        """
        atoms = len(self.radii) if sampling.radii == "stratified" else sum(1 for _ in self.parts())
        if sampling.n < atoms:
            return np.inf
        return float(np.sqrt(np.mean(self._bias**2 + self.variance(sampling))))

    def variance(self, sampling: Sampling) -> NDArray:
        """Return the variance of the estimate at the distances, shape (n_distances,).

        It is the sum of the variances of the single cosines; the covariances of cosines whose directions are
        orthogonal; and the variance of the mean over the directions, if the norms are drawn independently.
        Low-discrepancy norms are treated as if they were in exact proportion to the masses, and all directions
        that are not orthogonal as independent ones, because they are rarely worse. Random phases are left out.
        """
        total = np.zeros_like(self.distances)
        variance, covariance = self._moments
        is_orthogonal, d = sampling.directions == "orthogonal", self.dimension
        if sampling.radii == "stratified":
            block = d if is_orthogonal else 1
            for j, (_, weights) in enumerate(self.strata(sampling.n, block)):
                sums = np.add.reduceat(weights, np.arange(0, len(weights), block))
                total += weights @ weights * (variance[j] - covariance[j]) + sums @ sums * covariance[j]
            return np.maximum(total, 0)
        means = self._means
        for sign, part, count in self.shares(sampling.n):
            masses = np.maximum(sign * self.weights, 0)
            total += part.mass * masses @ variance / count
            if sampling.radii in ("iid", "paired"):
                total += (part.mass * masses @ means**2 - (masses @ means) ** 2) / count
            if is_orthogonal:
                first, second, covariances = self._pairs
                both = masses[first] * masses[second] * np.where(first == second, 1, 2)
                total += orthogonal_pairs(count, d) / count**2 * (both @ covariances)
        return np.maximum(total, 0)

    @cached_property
    def _means(self) -> NDArray:
        """The means of the cosines at the distances, shape (n_atoms, n_distances)."""
        return omega(self.dimension, np.multiply.outer(self.radii, self.distances))

    @cached_property
    def _moments(self) -> tuple[NDArray, NDArray]:
        """The variance V and the covariance C at the distances, each of shape (n_atoms, n_distances)."""
        variance, covariance = cosine_moments(self.dimension, np.multiply.outer(self.radii, self.distances))
        return np.maximum(variance, 0), covariance

    @cached_property
    def _pairs(self) -> tuple[NDArray, NDArray, NDArray]:
        """Two atoms of one sign in each pair, and the covariance of their cosines in orthogonal directions."""
        j, k = np.nonzero(np.triu(np.outer(self.weights, self.weights) > 0))
        norms = np.hypot(self.radii[j], self.radii[k])
        products = omega(self.dimension, np.multiply.outer(norms, self.distances))
        return j, k, products - self._means[j] * self._means[k]

    @cached_property
    def _bias(self) -> NDArray:
        """The bias of the estimate at the distances."""
        return self.profile(self.distances) - self.values

    def _mean_variance(self, sizes: NDArray[np.int64]) -> NDArray:
        """Return the mean over the distances of the variance of means over orthogonal directions.

        The result has a row for each atom and a column for each of the numbers of directions.
        """
        variance, covariance = (moment.mean(axis=1)[:, None] for moment in self._moments)
        return np.maximum(variance + (sizes - 1) * covariance, _TINY) / sizes

    def strata(self, n: int, block: int) -> list[tuple[float, NDArray]]:
        """Return the norm of each atom, and one signed weight for each of its frequencies.

        The n frequencies are divided among the atoms so that the variance is least. The directions of an atom are
        orthogonal in blocks of ``block``, which are weighted by the inverse of their mean variance.

        Raises
        ------
        ValueError
            If there are fewer frequencies than atoms.
        """
        found = []
        for j, count in enumerate(self._allocate(n, block).tolist()):
            whole, rest = divmod(count, block)
            sizes = np.array([block] * (whole > 0) + [rest] * (rest > 0))
            blocks = np.where(sizes == rest, 1, whole)
            precision = 1 / self._mean_variance(sizes)[j]
            shares = np.repeat(precision / (precision @ blocks) / sizes, sizes * blocks)
            found.append((float(self.radii[j]), self.weights[j] * shares))
        return found

    def _allocate(self, n: int, block: int) -> NDArray[np.int64]:
        """Return the number of frequencies of each atom, at least one, with the least mean variance.

        A Lagrange multiplier is found by bisection; with it each atom chooses its best number separately. The
        frequencies that remain go to the atoms that gain most, in the steps that gain most.
        """
        atoms = len(self.radii)
        if n < atoms:
            raise ValueError(
                f"{n} frequencies are too few for {atoms} atoms, each of which needs at least one."
            )
        counts = np.arange(1, n - atoms + 2)
        whole, rest = divmod(counts, block)
        of_whole = self._mean_variance(np.array([block]))
        of_rest = self._mean_variance(np.maximum(rest, 1))
        cost = self.weights[:, None] ** 2 / (whole / of_whole + np.where(rest, 1 / of_rest, 0))

        def best(multiplier: float) -> NDArray[np.int64]:
            return np.argmin(cost + multiplier * counts, axis=1) + 1

        low, high = _TINY, cost.max() + _TINY
        for _ in range(_BISECTIONS):
            middle = np.sqrt(low) * np.sqrt(high)
            low, high = (low, middle) if best(middle).sum() <= n else (middle, high)
        chosen = best(high)
        while (left := n - chosen.sum()) > 0:
            gains = [row[k - 1] - row[k : k + left] for row, k in zip(cost, chosen.tolist(), strict=True)]
            most = np.array([gain.max(initial=-np.inf) for gain in gains])
            j = int(np.argmax(np.where(self.radii == 0, -np.inf, most)))
            chosen[j] += int(np.argmax(gains[j])) + 1 if most[j] > 0 else left
        return chosen


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
        """Return the candidate with the least predicted root mean square error.

        Raises
        ------
        ValueError
            If there are too few frequencies for every candidate.
        """
        errors = [each.predicted_error(sampling) for each in self.candidates]
        if not np.isfinite(min(errors)):
            least = min(len(each.radii) for each in self.candidates)
            raise ValueError(
                f"The minimum-variance measure has at least {least} atoms, each of which needs a frequency. Set "
                f"n_components to at least {2 * least}, or to at least {least} with layout='phase'."
            )
        return self.candidates[int(np.argmin(errors))]
