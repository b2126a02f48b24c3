"""Atomic signed measures, their sampling by strata, and the error that it will have.

A frequency of norm r with a uniform direction contributes cos(r <u, z>) to the estimate at a distance z.
Its variance is V(r z) = (1 + Omega_d(2 r z))/2 - Omega_d(r z)^2, and two orthogonal directions have the
covariance C(r z) = Omega_d(sqrt(2) r z) - Omega_d(r z)^2 (luo2021, theorem 5 with its sign corrected). So the
mean over m orthogonal directions has the variance (V + (m-1) C)/m: for small r z a complete basis (m = d) is
far better than d-1 directions, since it sums the squares <u_i, z>^2 exactly. Sampling therefore gives whole
bases to the atoms where it can, and weights a rest of fewer directions by its inverse variance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rflib.measures.base import DiscretePart, RadialMeasure, SpectralMeasure
from rflib.measures.omega import omega

_TINY = 1e-300
_BISECTIONS = 40


@dataclass(frozen=True, eq=False)
class Stratum:
    """Frequencies of one atom: their norm, and one signed weight for each."""

    radius: float
    weights: NDArray


@dataclass(frozen=True, eq=False)
class AtomicMeasure(RadialMeasure):
    """Finitely many signed atoms; an atom of norm zero is a constant.

    Use `of` to make one from its atoms.

    Attributes
    ----------
    radii, weights : ndarray of shape (n_atoms,)
        Norms and signed masses.
    distances, values : ndarray of shape (n_distances,)
        Sample of the distances over which errors are averaged, and the kernel there.
    bias_bound : float
        Largest |profile(z) - k(z)| on the whole range of distances.
    """

    radii: NDArray = field(kw_only=True)
    weights: NDArray = field(kw_only=True)
    distances: NDArray = field(kw_only=True)
    values: NDArray = field(kw_only=True)
    bias_bound: float = field(kw_only=True)

    @classmethod
    def of(
        cls,
        dimension: int,
        radii: NDArray,
        weights: NDArray,
        *,
        distances: NDArray,
        values: NDArray,
        bias_bound: float,
    ) -> AtomicMeasure:
        """Build the measure and its Jordan parts from the atoms."""
        return cls(
            dimension=dimension,
            positive=_jordan_part(radii, weights),
            negative=_jordan_part(radii, -weights),
            radii=radii,
            weights=weights,
            distances=distances,
            values=values,
            bias_bound=bias_bound,
        )

    def predicted_error(self, n: int, block: int | None) -> float:
        """Root mean square error of a kernel value, over the distances; infinite if n are too few.

        For ``strata(n, block)``, or, if block is None, for n independent draws from the Jordan parts.
        """
        if n < (sum(1 for _ in self.parts()) if block is None else len(self.radii)):
            return np.inf
        variance = self.variance_of_parts(n) if block is None else self.variance(n, block)
        bias = self.profile(self.distances) - self.values
        return float(np.sqrt(np.mean(bias**2 + variance)))

    @cached_property
    def _moments(self) -> tuple[NDArray, NDArray]:
        """V and C at the distances, shape (n_atoms, n_distances) each."""
        rz = np.multiply.outer(self.radii, self.distances)
        square = omega(self.dimension, rz) ** 2
        variance = np.maximum((1 + omega(self.dimension, 2 * rz)) / 2 - square, 0)
        return variance, omega(self.dimension, np.sqrt(2) * rz) - square

    def _block_variance(self, size: int) -> NDArray:
        """Variance of the mean over ``size`` orthogonal directions, shape (n_atoms, n_distances)."""
        variance, covariance = self._moments
        return np.maximum(variance + (size - 1) * covariance, 0) / size

    def strata(self, n: int, block: int) -> list[Stratum]:
        """Divide n frequencies, orthogonal in blocks of ``block``, among the atoms with the least variance.

        Raises
        ------
        ValueError
            If there are fewer frequencies than atoms.
        """
        return [
            Stratum(float(radius), weight * self._shares(j, count, block))
            for j, (radius, weight, count) in enumerate(
                zip(self.radii, self.weights, self._allocate(n, block), strict=True)
            )
        ]

    def variance(self, n: int, block: int) -> NDArray:
        """Variance of the estimate from ``strata(n, block)`` at the distances."""
        total = np.zeros_like(self.distances)
        for j, count in enumerate(self._allocate(n, block)):
            whole, rest = divmod(count, block)
            share = self._shares(j, count, block)
            if whole:
                total += whole * (self.weights[j] * share[0] * block) ** 2 * self._block_variance(block)[j]
            if rest:
                total += (self.weights[j] * share[-1] * rest) ** 2 * self._block_variance(rest)[j]
        return total

    def variance_of_parts(self, n: int) -> NDArray:
        """Variance of the estimate from n independent frequencies, half of them for each Jordan part."""
        rz = np.multiply.outer(self.distances, self.radii)
        first, second = omega(self.dimension, rz), (1 + omega(self.dimension, 2 * rz)) / 2
        parts = [np.maximum(sign * self.weights, 0) for sign, _ in self.parts()]
        spread = [part.sum() * (second @ part) - (first @ part) ** 2 for part in parts]
        return np.sum(spread, axis=0) * len(parts) / n

    def _shares(self, j: int, count: int, block: int) -> NDArray:
        """Return each frequency's share in atom j's mean: blocks by inverse mean variance, summing to one."""
        whole, rest = divmod(int(count), block)
        sizes = np.array([block] * (whole > 0) + [rest] * (rest > 0))
        blocks = np.where(sizes == rest, 1, whole)
        precision = np.array([1 / max(self._block_variance(size)[j].mean(), _TINY) for size in sizes])
        return np.repeat(precision / (precision @ blocks) / sizes, sizes * blocks)

    def _allocate(self, n: int, block: int) -> NDArray[np.int64]:
        """Counts of frequencies, at least one an atom: minimise the mean variance, a sum over the atoms.

        A Lagrange multiplier is found by bisection (each atom then chooses its best count alone); what is
        left over goes, in the largest steps that pay, to the atoms that gain most.
        """
        atoms = len(self.radii)
        constant = self.radii == 0
        if n < atoms:
            raise ValueError(f"{n} frequencies cannot serve {atoms} atoms.")
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
        """Mean variance of each atom's part with 1, ..., n frequencies, shape (n_atoms, n)."""
        variance, covariance = (moment.mean(axis=1)[:, None] for moment in self._moments)
        counts = np.arange(1, n + 1)
        whole, rest = counts // block, counts % block
        of_whole = np.maximum(variance + (block - 1) * covariance, _TINY) / block
        of_rest = np.maximum(variance + (np.maximum(rest, 1) - 1) * covariance, _TINY) / np.maximum(rest, 1)
        return self.weights[:, None] ** 2 / (whole / of_whole + np.where(rest, 1 / of_rest, 0))


def _jordan_part(radii: NDArray, weights: NDArray) -> DiscretePart | None:
    inside = weights > 0
    if not inside.any():
        return None
    mass = float(weights[inside].sum())
    return DiscretePart(mass, radii[inside], weights[inside] / mass)


@dataclass(frozen=True, eq=False)
class AtomicLadder(SpectralMeasure):
    """Atomic measures for one kernel, of different fit and cost; the number of frequencies decides.

    Attributes
    ----------
    dimension : int
        Input dimension d.
    rungs : tuple of AtomicMeasure
        The measures.
    """

    dimension: int
    rungs: tuple[AtomicMeasure, ...]

    def for_frequencies(self, n: int, block: int, *, by_atom: bool = False) -> AtomicMeasure:
        """Return the rung with the smallest predicted root mean square error.

        ``by_atom`` tells whether the frequencies will be divided among the atoms (`AtomicMeasure.strata`), or
        drawn from the two Jordan parts as those of any measure.

        Raises
        ------
        ValueError
            If n is smaller than the number of atoms of every rung.
        """
        errors = [rung.predicted_error(n, block if by_atom else None) for rung in self.rungs]
        if not np.isfinite(min(errors)):
            least = min(len(rung.radii) for rung in self.rungs)
            raise ValueError(
                f"The minimum-variance measure has at least {least} atoms, each of which needs two columns: "
                f"n_components must be at least {2 * least}."
            )
        return self.rungs[int(np.argmin(errors))]
