"""The choice of columns for an atomic measure: its exact harmonics, and the cosines and sines of each atom.

The mean squared error of a kernel value over pairs of rows is the squared bias of the measure plus the variance of
the columns that are drawn. This variance is a sum over independent groups, which are the cosines and the sines of
each atom. The directions of a group form whole orthogonal bases and a remainder. Each is weighted by the inverse
of its variance, which follows from the energies of the group (`rflib.measures.harmonics`). The lowest harmonics
may be removed from the drawn columns and kept exactly, which costs columns of their own
(`rflib.measures.control_variates`). Each group is multiplied by the factor at which its noise and the bias that
the factor causes are least together (Stein's effect; Chang et al. 2017), or it is left out. The composition with
the least predicted error is chosen. docs/mvorf.md derives the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.candidate import candidate
from rflib.frequencies.directions import orthogonal
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import ControlVariate, polynomial_columns
from rflib.measures.harmonics import orthogonal_factors
from rflib.measures.plane_waves import KINDS, PlaneWaves, WaveGroup
from rflib.measures.row_pairs import RowPairs

_TINY = 1e-300
_NEGLIGIBLE = 1e-26
_N_PROMISING = 4
_PAIRS_A_TRIAL_SKIPS = 3
_BISECTIONS = 50
_ROUNDS_OF_SHRINKAGE = 4
_N_NORMS_OF_BOUND = 64
ALL_RANKS = 1 << 30
_USUAL_RANKS = ((ALL_RANKS,), (1,), (0,), (0,))
# Each unit of rank costs one column for degree 0, d for degree 1, about d^2/2 for degree 2 and d^3/6 for degree 3.
_RANKS = ((ALL_RANKS, 0), (1, 0, ALL_RANKS), (1, 0), (0, 1))


@dataclass(frozen=True, eq=False)
class Composition:
    """The columns that were chosen for an atomic measure.

    Attributes
    ----------
    measure : AtomicMeasure
        The atoms.
    controls : tuple of ControlVariate
        The exact harmonics, at most one control variate for each of the degrees 0 to 3.
    groups : tuple of WaveGroup
        The groups that are drawn.
    counts : ndarray of shape (n_groups,)
        Number of frequencies of each group.
    variances : ndarray of shape (n_groups,)
        Variance of each group with this number of frequencies, without its factor, averaged over the pairs.
    shrinkage : ndarray of shape (n_groups,)
        Factors of the kernels of the groups, between 0 and 1.
    mean_squared_error : float
        Predicted mean squared error of a kernel value, averaged over the pairs.
    """

    measure: AtomicMeasure
    controls: tuple[ControlVariate, ...]
    groups: tuple[WaveGroup, ...]
    counts: NDArray[np.int64]
    variances: NDArray
    shrinkage: NDArray
    mean_squared_error: float

    @property
    def n_exact(self) -> int:
        """The number of columns that are exact."""
        return sum(control.n_columns for control in self.controls)

    def draw(self, rng: Generator) -> tuple[NDArray, NDArray, int]:
        """Return drawn frequencies (n, d), their signed weights (n,) and the number of sines, which come last."""
        d = self.measure.dimension
        vectors: dict[str, list[NDArray]] = {kind: [np.empty((0, d))] for kind in KINDS}
        weights: dict[str, list[NDArray]] = {kind: [np.empty(0)] for kind in KINDS}
        each = zip(self.groups, self.counts.tolist(), self.shrinkage, strict=True)
        for group, count, factor in each:
            radius, weight = self.measure.radii[group.atom], factor * self.measure.weights[group.atom]
            unit = orthogonal(count, d, rng)
            if radius or group.kind == "cos":
                vectors[group.kind].append(radius * unit)
                weights[group.kind].append(weight * _Precision(group.energies, d).shares(count))
        frequencies, signed = (
            np.concatenate([array for kind in KINDS for array in arrays[kind]])
            for arrays in (vectors, weights)
        )
        return frequencies, signed, sum(map(len, weights["sin"]))

    def error_over(self, exact: NDArray, pairs: RowPairs) -> float:
        """Return the mean squared error that is predicted over other pairs than those of the choice."""
        every, factors = self._groups_at(pairs)
        bias = expected(self.measure, self.controls, every, factors, pairs) - exact
        chosen = {
            (s.kind, s.atom): (_Precision(s.energies, len(pairs.centre)), int(n))
            for s, n in zip(self.groups, self.counts, strict=True)
        }
        variance = 0.0
        for group, factor in zip(every, factors, strict=True):
            if factor:
                precision, count = chosen[group.kind, group.atom]
                variance += factor**2 * precision.variance(count, group.energies)
        return float(pairs.shares @ bias**2) + variance

    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return a bound on the bias of the atoms, and of groups that are shrunk or left out.

        Where groups of both signs are left out and nearly cancel, it is the largest bias on a grid of rows.

        Parameters
        ----------
        kernel : RadialKernel
            The kernel that is approximated.
        nearest, farthest : float
            Smallest and largest distance of a row from the pole of the control variates.
        """
        d = self.measure.dimension
        if _is_replaced(self.measure, self.groups):
            pairs = RowPairs.within(nearest, farthest, d)
            every, factors = self._groups_at(pairs)
            mean = expected(self.measure, self.controls, every, factors, pairs)
            return largest_bias(mean, kernel, pairs, self.measure)
        # The kernel of a group is positive or negative definite, and so is largest between a row and itself.
        pairs = RowPairs.of_themselves(np.zeros(d), np.linspace(nearest, farthest, _N_NORMS_OF_BOUND))
        every, factors = self._groups_at(pairs)
        left_out = sum((1 - f) * np.abs(s.means).max() for s, f in zip(every, factors, strict=True))
        return float(self.measure.bias_estimate + left_out)

    def _groups_at(self, pairs: RowPairs) -> tuple[list[WaveGroup], NDArray[np.float64]]:
        """Return all groups at the pairs, also those that are not drawn, and their factors, of these zero."""
        waves = PlaneWaves(self.measure.radii, self.measure.weights, pairs)
        every = [group for kind in KINDS for group in waves.groups(kind, self.controls)]
        drawn = {(s.kind, s.atom): factor for s, factor in zip(self.groups, self.shrinkage, strict=True)}
        return every, np.array([drawn.get((s.kind, s.atom), 0.0) for s in every])


def expected(
    measure: AtomicMeasure,
    controls: Sequence[ControlVariate],
    groups: Sequence[WaveGroup],
    factors: NDArray,
    pairs: RowPairs,
) -> NDArray[np.float64]:
    """Return the expected kernel at the pairs, if all groups of the measure have these factors.

    The means of groups are found by a quadrature. They are therefore subtracted from the kernel of the atoms where
    little is left out. Where groups of both signs are left out, these may be large and nearly cancel, so that the
    means of those that are drawn are added to the exact harmonics instead.
    """
    means = np.array([group.means for group in groups]).reshape(len(groups), -1)
    if _is_replaced(measure, [s for s, factor in zip(groups, factors, strict=True) if factor]):
        exact = sum((control.kernel(pairs) for control in controls), start=np.zeros(len(pairs.distances)))
        return np.asarray(exact + factors @ means)
    return np.asarray(measure.profile(pairs.distances) - (1 - factors) @ means)


def largest_bias(mean: NDArray, kernel: RadialKernel, pairs: RowPairs, measure: AtomicMeasure) -> float:
    """Return the largest difference between an expected kernel and the kernel at pairs in the measure's range."""
    inside = pairs.distances <= measure.zmax
    return float(np.abs(mean[inside] - kernel.at_distance(pairs.distances[inside])).max())


def _is_replaced(measure: AtomicMeasure, drawn: Iterable[WaveGroup]) -> bool:
    """Return whether a measure has negative weights, of which none is drawn."""
    return measure.negative is not None and all(measure.weights[group.atom] > 0 for group in drawn)


def compose(
    measures: Iterable[AtomicMeasure],
    exact: NDArray,
    pairs: RowPairs,
    n_columns: int,
    *,
    positive: bool = False,
) -> Composition | None:
    """Return the composition with the least predicted error, or None if there are too few columns for any.

    Parameters
    ----------
    measures : iterable of AtomicMeasure
        Candidate measures.
    exact : ndarray of shape (n_pairs,)
        The kernel at the pairs.
    pairs : RowPairs
        Pairs over which errors are averaged.
    n_columns : int
        Number of columns D.
    positive : bool, default=False
        Whether all columns must have the sign +1. Harmonics of negative sign are then not exact, and groups of
        negative weight are left out.

    Returns
    -------
    Composition or None
        The chosen columns.
    """
    return _composed(_Question(tuple(measures), exact, pairs, n_columns, positive))


@dataclass(frozen=True)
class _Question:
    """The arguments of `compose`, compared by their numbers, because maps with other seeds have the same ones."""

    measures: tuple[AtomicMeasure, ...] = field(compare=False)
    exact: NDArray = field(compare=False)
    pairs: RowPairs
    n_columns: int
    positive: bool
    numbers: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        atoms = [array for measure in self.measures for array in (measure.radii, measure.weights)]
        object.__setattr__(self, "numbers", tuple(array.tobytes() for array in (*atoms, self.exact)))


@lru_cache(maxsize=32)
def _composed(question: _Question) -> Composition | None:
    q = question
    choice = _Choice(q.exact, q.pairs, q.n_columns, _RANKS, positive=q.positive)
    for measure in choice.promising(q.measures):
        choice.try_measure(measure)
    return choice.best


class _Choice:
    """The best composition so far with some ranks of each degree.

    If it is positive, columns of sign -1 are not allowed.
    """

    def __init__(
        self,
        exact: NDArray,
        pairs: RowPairs,
        n_columns: int,
        ranks: Sequence[Sequence[int]],
        *,
        positive: bool,
    ) -> None:
        self.exact, self.pairs, self.n_columns = exact, pairs, n_columns
        self.ranks, self.positive, self.d = ranks, positive, len(pairs.centre)
        self.best: Composition | None = None

    def promising(self, measures: Sequence[AtomicMeasure]) -> Sequence[AtomicMeasure]:
        """Return the measures that are best with the usual ranks; all of them if they are few."""
        if len(measures) <= _N_PROMISING:
            return measures
        some = slice(None, None, _PAIRS_A_TRIAL_SKIPS)
        trial = _Choice(
            self.exact[some], self.pairs.thinned(some), self.n_columns, _USUAL_RANKS, positive=self.positive
        )
        errors = []
        for measure in measures:
            trial.best = None
            trial.try_measure(measure)
            errors.append(trial.best.mean_squared_error if trial.best else np.inf)
        order = np.argsort(errors, kind="stable")[:_N_PROMISING]
        return [measures[i] for i in order]

    def try_measure(self, measure: AtomicMeasure) -> None:
        known = candidate(measure, self.pairs)
        bias = known.profile - self.exact
        if self.best is not None and self.pairs.shares @ bias**2 >= self.best.mean_squared_error:
            return
        zeroth, first, second, third = (
            [
                known.control(degree, rank, positive=self.positive)
                for rank in self.ranks[degree]
                if rank == ALL_RANKS or rank * polynomial_columns(self.d, degree) <= self.n_columns
            ]
            for degree in range(4)
        )
        odd = [(controls, known.groups("sin", controls)) for controls in product(first, third)]
        for even_controls in product(zeroth, second):
            if sum(control.n_columns for control in even_controls) <= self.n_columns:
                even = known.groups("cos", even_controls)
                for odd_controls, sines in odd:
                    self._try(measure, (*even_controls, *odd_controls), even + sines)

    def _try(
        self, measure: AtomicMeasure, controls: Sequence[ControlVariate], groups: list[WaveGroup]
    ) -> None:
        controls = tuple(control for control in controls if control.n_columns)
        left = self.n_columns - sum(control.n_columns for control in controls)
        if left < 0:
            return
        size = float(self.pairs.shares @ self.exact**2)
        signals = [float(self.pairs.shares @ s.means**2) for s in groups]
        drawn = [
            i
            for i, group in enumerate(groups)
            if group.energies.sum() + signals[i] > _NEGLIGIBLE * size
            and (measure.weights[group.atom] > 0 or not self.positive)
        ]
        drawn = sorted(sorted(drawn, key=lambda i: -signals[i])[:left])

        def scored(kept: Sequence[int]) -> Composition:
            factors = np.isin(np.arange(len(groups)), kept).astype(float)
            bias = expected(measure, controls, groups, factors, self.pairs) - self.exact
            return self._scored(measure, controls, [groups[i] for i in kept], bias, left)

        chosen = scored(drawn)
        if len(drawn) > 1:
            kept = [i for i, variance in zip(drawn, chosen.variances, strict=True) if signals[i] > variance]
            fewer = scored(kept or [max(drawn, key=signals.__getitem__)])
            chosen = min(chosen, fewer, key=lambda each: each.mean_squared_error)
        if self.best is None or chosen.mean_squared_error < self.best.mean_squared_error:
            self.best = chosen

    def _scored(
        self,
        measure: AtomicMeasure,
        controls: tuple[ControlVariate, ...],
        groups: Sequence[WaveGroup],
        bias: NDArray,
        n_waves: int,
    ) -> Composition:
        """Return the composition of these groups, which share n_waves columns, with its error."""
        counts, variances = _allocate([_Precision(s.energies, self.d) for s in groups], n_waves)
        shares, factors = self.pairs.shares, np.ones(len(groups))
        if groups:
            means = np.array([group.means for group in groups])
            factors = _shrinkage(means, variances, bias, shares)
            bias = bias - (1 - factors) @ means
        error = float(shares @ bias**2 + factors**2 @ variances)
        return Composition(measure, controls, tuple(groups), counts, variances, factors, error)


def _shrinkage(means: NDArray, variances: NDArray, bias: NDArray, shares: NDArray) -> NDArray[np.float64]:
    """Return factors in [0, 1] with nearly the least error; those that would be outside are kept at 0 or 1."""
    weighted = means * shares
    quadratic = weighted @ means.T + np.diag(variances)
    linear = weighted @ (means.sum(axis=0) - bias)
    factors, inside = np.ones(len(means)), np.ones(len(means), dtype=bool)
    best = factors.copy()
    for _ in range(_ROUNDS_OF_SHRINKAGE):
        fixed = quadratic[np.ix_(inside, ~inside)] @ factors[~inside]
        factors[inside] = np.linalg.lstsq(quadratic[np.ix_(inside, inside)], linear[inside] - fixed)[0]
        outside = (factors < 0) | (factors > 1)
        factors = np.clip(factors, 0, 1)
        if factors @ (quadratic @ factors - 2 * linear) < best @ (quadratic @ best - 2 * linear):
            best = factors.copy()
        inside &= ~outside
        if not outside.any() or not inside.any():
            break
    return best


class _Precision:
    """The inverse variance of a group as a function of its number of directions."""

    def __init__(self, energies: NDArray, d: int) -> None:
        self.d = d
        of_rest = np.arange(1, d + 1) / (orthogonal_factors(d) @ energies + _TINY)
        self._of_rest = np.append(0, of_rest)

    def __call__(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        whole, rest = np.divmod(counts, self.d)
        return whole * self._of_rest[-1] + self._of_rest[rest]

    def shares(self, count: int) -> NDArray[np.float64]:
        """Return weights of the directions that sum to one, those of whole bases first."""
        rest = count % self.d
        precision = np.full(count, self._of_rest[-1] / self.d)
        precision[count - rest :] = self._of_rest[rest] / max(rest, 1)
        return precision / precision.sum()

    def variance(self, count: int, energies: NDArray) -> float:
        """Return the variance of the mean with these weights for other energies."""
        other, total = _Precision(energies, self.d), self(np.array(count))
        whole, rest = divmod(count, self.d)
        noise = whole * (self._of_rest[-1] / total) ** 2 / other._of_rest[-1]
        return float(noise + ((self._of_rest[rest] / total) ** 2 / other._of_rest[rest] if rest else 0.0))


def _allocate(precisions: Sequence[_Precision], n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return counts of at least one that sum to n and have nearly the least total variance, and the variances.

    A Lagrange multiplier is found over numbers of whole bases, and over numbers less than one basis. What remains
    goes where it gains most.
    """
    if not precisions:
        return np.zeros(0, dtype=int), np.zeros(0)
    d, most = precisions[0].d, n - len(precisions) + 1
    grid = np.append(np.arange(1, min(d, most + 1)), d * np.arange(1, most // d + 1)).astype(int)
    variances = np.array([1 / np.maximum(precision(grid), _TINY) for precision in precisions])

    def best(multiplier: float) -> NDArray[np.int64]:
        return grid[np.argmin(variances + multiplier * grid, axis=1)]

    low, high = _TINY, float(variances.max()) + _TINY
    counts, left = np.ones(len(precisions), dtype=int), n - len(precisions)
    for _ in range(_BISECTIONS):
        middle = np.sqrt(low) * np.sqrt(high)
        found = best(middle)
        if (spare := n - int(found.sum())) < 0:
            low = middle
        else:
            high, counts, left = middle, found, spare
        if not left:
            break
    now = _variances(precisions, counts)
    if left:
        then = _variances(precisions, counts + left)
        gainer = int(np.argmax(now - then))
        counts[gainer] += left
        now[gainer] = then[gainer]
    return counts, now


def _variances(precisions: Sequence[_Precision], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.array([1 / np.maximum(p(c), _TINY) for p, c in zip(precisions, counts, strict=True)])
