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
from rflib.measures.variance import cosine_moments, frame_angles, orthogonal_pairs

_TINY = 1e-300
_BISECTIONS = 40
_ANGLE_BINS = 2


@dataclass(frozen=True, eq=False)
class AtomicMeasure(RadialMeasure):
    """A signed radial measure that consists of finitely many atoms.

    An atom is a frequency norm with a signed mass; its directions are uniform. An atom of norm zero represents a
    constant. The Jordan parts ``positive`` and ``negative`` are computed from the atoms.

    Parameters
    ----------
    dimension : int
        Number of input columns d.
    coordinates : ProductMeasure or None, default=None
        Not used.
    zmax : float, default=inf
        Largest distance at which the measure represents the kernel, in units of the inputs.
    radii, weights : ndarray of shape (n_atoms,)
        Norms of the atoms, in inverse units of the inputs, and their signed masses, in units of the kernel.
    distances, values : ndarray of shape (n_distances,)
        Sample of the distances over which errors are averaged, and the kernel at these distances.
    bias_estimate : float
        Largest |profile(z) - k(z)| for z in [0, zmax], found on a fine grid.

    Attributes
    ----------
    positive, negative : RadialPart or None
        Jordan parts; None for a part without atoms.
    """

    positive: RadialPart | None = field(init=False)
    negative: RadialPart | None = field(init=False)
    radii: NDArray = field(kw_only=True)
    weights: NDArray = field(kw_only=True)
    distances: NDArray = field(kw_only=True)
    values: NDArray = field(kw_only=True)
    bias_estimate: float = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positive", _jordan_part(self.radii, self.weights))
        object.__setattr__(self, "negative", _jordan_part(self.radii, -self.weights))

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

        It is the sum of the variances of the single cosines; the covariances of cosines whose directions depend on
        each other; the variance of the mean over the directions, if the norms are drawn independently; and the
        variance of the random phases, each of which adds half the squared weight of its frequency unless the
        frequency is zero. Low-discrepancy norms are treated as if they were in exact proportion to the masses.
        Low-discrepancy directions are treated as independent ones, because they are rarely worse.
        """
        if sampling.radii == "stratified":
            return self._variance_of_strata(sampling)
        return self._variance_of_parts(sampling)

    def _variance_of_strata(self, sampling: Sampling) -> NDArray:
        variance, covariance = self._moments
        block = self.dimension if sampling.directions == "orthogonal" else 1
        strata = [weights for _, weights in self.strata(sampling.n, block)]
        squares = np.array([w @ w for w in strata])
        total = squares @ variance
        if sampling.directions == "orthogonal":
            sums = [np.add.reduceat(w, np.arange(0, len(w), block)) for w in strata]
            total += (np.array([w @ w for w in sums]) - squares) @ covariance
        elif sampling.directions == "frame":
            total += self._covariance(np.outer(self.weights, self.weights) - np.diag(squares), sampling)
        moving = self.radii > 0
        if sampling.phases == sampling.n:
            total += squares[moving].sum() / 2
        elif sampling.phases and moving.all():
            total += strata[_drawn_order(self.weights)[-1]][-1] ** 2 / 2
        return np.maximum(total, 0)

    def _variance_of_parts(self, sampling: Sampling) -> NDArray:
        variance, _ = self._moments
        means = self._means
        squares = np.zeros(len(self.radii))
        pairs = np.outer(self.weights, self.weights) * (sampling.directions == "frame")
        between = np.zeros_like(self.distances)
        none_zero = 0.0  # Logarithm of the probability that no frequency is zero.
        for sign, _, count in self.shares(sampling.n):
            part = np.maximum(sign * self.weights, 0)
            mass = part.sum()
            squares += mass * part / count
            together = {
                "orthogonal": orthogonal_pairs(count, self.dimension),
                "frame": count * (count - 1),
            }
            inside = np.outer(part, part)
            pairs[inside > 0] = inside[inside > 0] * together.get(sampling.directions, 0) / count**2
            if sampling.radii in ("iid", "paired"):
                between += (mass * part @ means**2 - (part @ means) ** 2) / count
            with np.errstate(divide="ignore"):
                none_zero += count * np.log1p(-part[self.radii == 0].sum() / mass)
            last = (mass / count) ** 2
        total = squares @ variance + between + self._covariance(pairs, sampling)
        if sampling.phases == sampling.n:
            total += squares[self.radii > 0].sum() / 2
        elif sampling.phases:
            total += np.exp(none_zero) * last / 2
        return np.maximum(total, 0)

    def _covariance(self, pairs: NDArray, sampling: Sampling) -> NDArray:
        """Return the sum over pairs of atoms of ``pairs`` times the covariance of their cosines."""
        j, k = np.nonzero(np.triu(pairs))
        if not j.size:
            return np.zeros_like(self.distances)
        angles, probabilities = np.zeros(1), np.ones(1)
        if sampling.directions == "frame":
            angles, probabilities = frame_angles(
                self.dimension, max(sampling.n, 2 * self.dimension), _ANGLE_BINS
            )
        key = tuple(array.tobytes() for array in (j, k, angles, probabilities))
        if key not in self._covariances:
            self._covariances[key] = self._covariance_of_pairs(j, k, angles, probabilities)
        return (pairs[j, k] * np.where(j == k, 1, 2)) @ self._covariances[key]

    def _covariance_of_pairs(
        self, j: NDArray, k: NDArray, angles: NDArray, probabilities: NDArray
    ) -> NDArray:
        """Return the covariance of the cosines of the atoms j and k, shape (n_pairs, n_distances)."""
        r = self.radii
        both = (r[j] ** 2 + r[k] ** 2)[:, None]
        cross = np.multiply.outer(2 * r[j] * r[k], np.sqrt(angles))
        norms = np.sqrt(np.maximum([both + cross, both - cross], 0))
        products = probabilities @ omega(self.dimension, np.multiply.outer(norms, self.distances)).mean(
            axis=0
        )
        return products - self._means[j] * self._means[k]

    @cached_property
    def _covariances(self) -> dict[tuple[bytes, ...], NDArray]:
        """What `_covariance_of_pairs` returned before, because maps of one measure need the same pairs again."""
        return {}

    @cached_property
    def _means(self) -> NDArray:
        """The means of the cosines at the distances, shape (n_atoms, n_distances)."""
        return omega(self.dimension, np.multiply.outer(self.radii, self.distances))

    @cached_property
    def _bias(self) -> NDArray:
        """The bias of the estimate at the distances."""
        return self.profile(self.distances) - self.values

    @cached_property
    def _moments(self) -> tuple[NDArray, NDArray]:
        """The variance V and the covariance C at the distances, each of shape (n_atoms, n_distances)."""
        variance, covariance = cosine_moments(self.dimension, np.multiply.outer(self.radii, self.distances))
        return np.maximum(variance, 0), covariance

    def _block_variance(self, size: int) -> NDArray:
        """Return the variance of the mean over ``size`` orthogonal directions, shape (n_atoms, n_distances)."""
        variance, covariance = self._moments
        return np.maximum(variance + (size - 1) * covariance, 0) / size

    def strata(self, n: int, block: int) -> list[tuple[float, NDArray]]:
        """Divide n frequencies among the atoms so that the variance is least.

        The directions of an atom are orthogonal in blocks of ``block``.

        Returns
        -------
        list of tuple
            For each atom its norm, and an array with one signed weight for each of its frequencies.

        Raises
        ------
        ValueError
            If there are fewer frequencies than atoms.
        """
        return [
            (float(radius), weight * self._shares(j, count, block))
            for j, (radius, weight, count) in enumerate(
                zip(self.radii, self.weights, self._allocate(n, block), strict=True)
            )
        ]

    def _shares(self, j: int, count: int, block: int) -> NDArray:
        """Return the share of each frequency in the mean of atom j.

        Blocks are weighted by the inverse of their mean variance, and the shares sum to one.
        """
        whole, rest = divmod(int(count), block)
        sizes = np.array([block] * (whole > 0) + [rest] * (rest > 0))
        blocks = np.where(sizes == rest, 1, whole)
        precision = np.array([1 / max(self._block_variance(size)[j].mean(), _TINY) for size in sizes])
        return np.repeat(precision / (precision @ blocks) / sizes, sizes * blocks)

    def _allocate(self, n: int, block: int) -> NDArray[np.int64]:
        """Return the number of frequencies of each atom, at least one, with the least mean variance.

        A Lagrange multiplier is found by bisection; with it each atom chooses its best number separately. The
        frequencies that remain go to the atoms that gain most, in the steps that gain most.
        """
        atoms = len(self.radii)
        constant = self.radii == 0
        if n < atoms:
            raise ValueError(
                f"{n} frequencies are too few for {atoms} atoms, each of which needs at least one."
            )
        cost = self._costs(n - atoms + 1, block)
        counts = np.arange(1, cost.shape[1] + 1)

        def best(multiplier: float) -> NDArray[np.int64]:
            return np.argmin(cost + multiplier * counts, axis=1) + 1

        low, high = _TINY, cost.max() + _TINY
        for _ in range(_BISECTIONS):
            middle = np.sqrt(low) * np.sqrt(high)
            low, high = (low, middle) if best(middle).sum() <= n else (middle, high)
        chosen = best(high)
        while (left := n - chosen.sum()) > 0:
            gains = [
                cost[j, chosen[j] - 1] - cost[j, chosen[j] : chosen[j] + left]
                if not constant[j]
                else np.zeros(0)
                for j in range(atoms)
            ]
            steps = [int(np.argmax(gain)) + 1 if gain.size else 0 for gain in gains]
            gain = [g[step - 1] if step else -np.inf for g, step in zip(gains, steps, strict=True)]
            j = int(np.argmax(gain))
            chosen[j] += steps[j] if gain[j] > 0 else left
        return chosen

    def _costs(self, n: int, block: int) -> NDArray:
        """Return the mean variance of each atom with 1, ..., n frequencies, shape (n_atoms, n)."""
        variance, covariance = (moment.mean(axis=1)[:, None] for moment in self._moments)
        counts = np.arange(1, n + 1)
        whole, rest = counts // block, counts % block
        of_whole = np.maximum(variance + (block - 1) * covariance, _TINY) / block
        of_rest = np.maximum(variance + (np.maximum(rest, 1) - 1) * covariance, _TINY) / np.maximum(rest, 1)
        return self.weights[:, None] ** 2 / (whole / of_whole + np.where(rest, 1 / of_rest, 0))


def _drawn_order(weights: NDArray) -> NDArray:
    """Return the order in which frequencies of the atoms are drawn: atoms of positive weight come first."""
    return np.argsort(weights < 0, kind="stable")


def _jordan_part(radii: NDArray, weights: NDArray) -> DiscretePart | None:
    inside = weights > 0
    return DiscretePart.of_masses(radii[inside], weights[inside])


@dataclass(frozen=True, eq=False)
class CandidateMeasures(SpectralMeasure):
    """A choice of atomic measures for one kernel, from few atoms with a rough fit to many atoms with a close fit.

    `for_sampling` returns the one with the least predicted error for a given number of frequencies.

    Parameters
    ----------
    dimension : int
        Number of input columns d.
    candidates : tuple of AtomicMeasure
        The measures.
    zmax : float
        Largest distance at which the measures represent the kernel, in units of the inputs.
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
