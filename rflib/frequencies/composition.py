"""The choice of columns for an atomic measure: its exact harmonics, and the cosines and sines of each atom.

The mean squared error of a kernel value over pairs of rows is the squared bias of the measure plus the variance of
the columns that are drawn. This variance is a sum over independent strata, which are the cosines and the sines of
each atom. The directions of a stratum form groups: sets of coupled bases, further whole bases, and a remainder.
Each group is weighted by the inverse of its variance, which follows from the energies of the stratum
(`rflib.measures.harmonics`). The lowest harmonics may be removed from the drawn columns and kept exactly, which
costs columns of their own (`rflib.measures.control_variates`). If the ranks of the exact parts are not given, each
stratum is multiplied by the factor at which its noise and the bias that the factor causes are least together
(Stein's effect; Chang et al. 2017), or it is left out. The composition with the least predicted error is chosen.
docs/mvorf.md derives the formulas.
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
from rflib.frequencies.coupled import coupled_factors
from rflib.frequencies.directions import DIRECTIONS
from rflib.frequencies.products import NO_PRODUCTS, Products
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.base import RadialMeasure
from rflib.measures.control_variates import ControlVariate, control_variates, polynomial_columns
from rflib.measures.harmonics import orthogonal_factors
from rflib.measures.plane_waves import KINDS, PlaneWaves, Stratum
from rflib.measures.row_pairs import RowPairs
from rflib.measures.variance import signed_atoms

_TINY = 1e-300
_NEGLIGIBLE = 1e-26
_N_PROMISING = 4
_PAIRS_A_TRIAL_SKIPS = 3
_N_NORMS = 48
_BISECTIONS = 50
_ROUNDS_OF_SHRINKAGE = 4
_N_NORMS_OF_BOUND = 64
ALL_RANKS = 1 << 30
_USUAL_RANKS = ((ALL_RANKS,), (1,), (0,), (0,))
# Each unit of rank costs one column for degree 0, d for degree 1, about d^2/2 for degree 2 and d^3/6 for degree 3.
_RANKS = ((ALL_RANKS, 0), (1, 0, ALL_RANKS), (1, 0), (0, 1))

Ranks = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Composition:
    """The columns that were chosen for an atomic measure.

    Attributes
    ----------
    measure : AtomicMeasure
        The atoms.
    controls : tuple of ControlVariate
        The exact harmonics, at most one control variate for each of the degrees 0 to 3.
    strata : tuple of Stratum
        The strata that are drawn.
    counts : ndarray of shape (n_strata,)
        Number of frequencies of each stratum.
    variances : ndarray of shape (n_strata,)
        Variance of each stratum with this number of frequencies, without its factor, averaged over the pairs.
    shrinkage : ndarray of shape (n_strata,)
        Factors of the kernels of the strata, between 0 and 1.
    odd : bool
        Whether the first stratum has one more cosine than sines, where cosines and sines share their frequencies.
    coupled : bool
        Whether the bases of a stratum are coupled.
    mean_squared_error : float
        Predicted mean squared error of a kernel value, averaged over the pairs.
    """

    measure: AtomicMeasure
    controls: tuple[ControlVariate, ...]
    strata: tuple[Stratum, ...]
    counts: NDArray[np.int64]
    variances: NDArray
    shrinkage: NDArray
    odd: bool
    coupled: bool
    mean_squared_error: float

    @property
    def n_exact(self) -> int:
        """The number of columns that are exact."""
        return sum(control.n_columns for control in self.controls)

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of the strata, including those that are not drawn."""
        return ("both",) if any(stratum.kind == "both" for stratum in self.strata) else KINDS

    def draw(self, rng: Generator) -> tuple[NDArray, NDArray, int]:
        """Return drawn frequencies (n, d), their signed weights (n,) and the number of sines, which come last."""
        d = self.measure.dimension
        rule = DIRECTIONS["coupled" if self.coupled else "orthogonal"]
        vectors: dict[str, list[NDArray]] = {kind: [np.empty((0, d))] for kind in KINDS}
        weights: dict[str, list[NDArray]] = {kind: [np.empty(0)] for kind in KINDS}
        each = zip(self.strata, self.counts, self.shrinkage, strict=True)
        for i, (stratum, count, factor) in enumerate(each):
            radius, weight = self.measure.radii[stratum.atom], factor * self.measure.weights[stratum.atom]
            precision = _Precision(stratum.energies, d, self.coupled)
            numbers = {stratum.kind: int(count)}
            if stratum.kind == "both":
                numbers = {"cos": int(count) + (self.odd and i == 0), "sin": int(count)}
            unit = rule(max(numbers.values()), d, rng)
            for kind, number in numbers.items():
                if radius or kind == "cos":
                    vectors[kind].append(radius * unit[:number])
                    weights[kind].append(weight * precision.shares(number))
        frequencies, signed = (
            np.concatenate([array for kind in KINDS for array in arrays[kind]])
            for arrays in (vectors, weights)
        )
        return frequencies, signed, sum(map(len, weights["sin"]))

    def products(self, rng: Generator) -> Products:
        """Return the products of directions that are columns, of which a composition has none."""
        return NO_PRODUCTS

    def error_over(self, exact: NDArray, pairs: RowPairs) -> float:
        """Return the mean squared error that is predicted over other pairs than those of the choice."""
        every, factors = self._strata_at(pairs)
        bias = expected(self.measure, self.controls, every, factors, pairs) - exact
        chosen = {
            (s.kind, s.atom): (_Precision(s.energies, len(pairs.centre), self.coupled), int(n))
            for s, n in zip(self.strata, self.counts, strict=True)
        }
        variance = 0.0
        for stratum, factor in zip(every, factors, strict=True):
            if factor:
                precision, count = chosen[stratum.kind, stratum.atom]
                variance += factor**2 * precision.variance(count, stratum.energies)
        return float(pairs.shares @ bias**2) + variance

    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return a bound on the bias of the atoms, and of strata that are shrunk or left out.

        Where strata of both signs are left out and nearly cancel, it is the largest bias on a grid of rows.

        Parameters
        ----------
        kernel : RadialKernel
            The kernel that is approximated.
        nearest, farthest : float
            Smallest and largest distance of a row from the pole of the control variates.
        """
        d = self.measure.dimension
        if _is_replaced(self.measure, self.strata):
            pairs = RowPairs.within(nearest, farthest, d)
            every, factors = self._strata_at(pairs)
            mean = expected(self.measure, self.controls, every, factors, pairs)
            return largest_bias(mean, kernel, pairs, self.measure)
        # The kernel of a stratum is positive or negative definite, and so is largest between a row and itself.
        pairs = RowPairs.of_themselves(np.zeros(d), np.linspace(nearest, farthest, _N_NORMS_OF_BOUND))
        every, factors = self._strata_at(pairs)
        left_out = sum((1 - f) * np.abs(s.means).max() for s, f in zip(every, factors, strict=True))
        return float(self.measure.bias_estimate + left_out)

    def _strata_at(self, pairs: RowPairs) -> tuple[list[Stratum], NDArray[np.float64]]:
        """Return all strata at the pairs, also those that are not drawn, and their factors, of these zero."""
        waves = PlaneWaves(self.measure.radii, self.measure.weights, pairs)
        every = [stratum for kind in self.kinds for stratum in waves.strata(kind, self.controls)]
        drawn = {(s.kind, s.atom): factor for s, factor in zip(self.strata, self.shrinkage, strict=True)}
        return every, np.array([drawn.get((s.kind, s.atom), 0.0) for s in every])


def expected(
    measure: AtomicMeasure,
    controls: Sequence[ControlVariate],
    strata: Sequence[Stratum],
    factors: NDArray,
    pairs: RowPairs,
) -> NDArray[np.float64]:
    """Return the expected kernel at the pairs, if all strata of the measure have these factors.

    The means of strata are found by a quadrature. They are therefore subtracted from the kernel of the atoms where
    little is left out. Where strata of both signs are left out, these may be large and nearly cancel, so that the
    means of those that are drawn are added to the exact harmonics instead.
    """
    means = np.array([stratum.means for stratum in strata]).reshape(len(strata), -1)
    if _is_replaced(measure, [s for s, factor in zip(strata, factors, strict=True) if factor]):
        exact = sum((control.kernel(pairs) for control in controls), start=np.zeros(len(pairs.distances)))
        return np.asarray(exact + factors @ means)
    return np.asarray(measure.profile(pairs.distances) - (1 - factors) @ means)


def largest_bias(mean: NDArray, kernel: RadialKernel, pairs: RowPairs, measure: AtomicMeasure) -> float:
    """Return the largest difference between an expected kernel and the kernel at pairs in the measure's range."""
    inside = pairs.distances <= measure.zmax
    return float(np.abs(mean[inside] - kernel.at_distance(pairs.distances[inside])).max())


def _is_replaced(measure: AtomicMeasure, drawn: Iterable[Stratum]) -> bool:
    """Return whether a measure has negative weights, of which none is drawn."""
    return measure.negative is not None and all(measure.weights[stratum.atom] > 0 for stratum in drawn)


def compose(
    measures: Iterable[AtomicMeasure],
    exact: NDArray,
    pairs: RowPairs,
    n_columns: int,
    *,
    ranks: Ranks | None = None,
    parity: bool | None = None,
    coupled: bool = True,
    shrunk: bool | None = None,
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
    ranks : tuple of 4 int, optional
        Ranks of the control variates of degree 0 to 3. By default the best ranks are chosen.
    parity : bool, optional
        Whether cosines and sines have different frequencies. By default the better choice is made.
    coupled : bool, default=True
        Whether the bases of a stratum are coupled.
    shrunk : bool, optional
        Whether strata are shrunk or left out if that lowers the error. By default they are if ``ranks`` is not
        given.
    positive : bool, default=False
        Whether all columns must have the sign +1. Harmonics of negative sign are then not exact, and strata of
        negative weight are left out. Where no stratum may be left out, measures with such strata are passed over.

    Returns
    -------
    Composition or None
        The chosen columns.
    """
    free = ranks is None if shrunk is None else shrunk
    return _composed(
        Question(tuple(measures), exact, pairs, n_columns, ranks, parity, coupled, free, positive)
    )


@dataclass(frozen=True)
class Question:
    """The arguments of `compose`, compared by their numbers, because maps with other seeds have the same ones."""

    measures: tuple[AtomicMeasure, ...] = field(compare=False)
    exact: NDArray = field(compare=False)
    pairs: RowPairs
    n_columns: int
    ranks: Ranks | None = None
    parity: bool | None = None
    coupled: bool = True
    free: bool = True
    positive: bool = False
    numbers: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        atoms = [array for measure in self.measures for array in (measure.radii, measure.weights)]
        object.__setattr__(self, "numbers", tuple(array.tobytes() for array in (*atoms, self.exact)))


@lru_cache(maxsize=32)
def _composed(question: Question) -> Composition | None:
    q = question
    choice = _Choice(
        q.exact,
        q.pairs,
        q.n_columns,
        ranks=[(rank,) for rank in q.ranks] if q.ranks else _RANKS,
        parity=q.parity,
        coupled=q.coupled,
        free=q.free,
        positive=q.positive,
    )
    for measure in choice.promising(q.measures):
        choice.try_measure(measure)
    return choice.best


class _Choice:
    """The best composition so far with the given ranks of each degree.

    If it is free, strata may be shrunk or left out. If it is positive, columns of sign -1 are not allowed.
    """

    def __init__(
        self,
        exact: NDArray,
        pairs: RowPairs,
        n_columns: int,
        *,
        ranks: Sequence[Sequence[int]],
        parity: bool | None,
        coupled: bool,
        free: bool,
        positive: bool,
    ) -> None:
        self.exact, self.pairs, self.n_columns = exact, pairs, n_columns
        self.ranks, self.parity, self.free, self.positive = ranks, parity, free, positive
        self.d = len(pairs.centre)
        self.coupled = coupled and n_columns >= 2 * self.d
        self.best: Composition | None = None

    def promising(self, measures: Iterable[AtomicMeasure]) -> list[AtomicMeasure]:
        """Return the measures that are best with the usual ranks; all if they are few or the ranks are given."""
        candidates = list(measures)
        if not self.free or len(candidates) <= _N_PROMISING:
            return candidates
        some = slice(None, None, _PAIRS_A_TRIAL_SKIPS)
        pairs = self.pairs.thinned(some)
        trial = _Choice(
            self.exact[some],
            pairs,
            self.n_columns,
            ranks=_USUAL_RANKS,
            parity=True,
            coupled=self.coupled,
            free=True,
            positive=self.positive,
        )
        errors = []
        for measure in candidates:
            trial.best = None
            trial.try_measure(measure)
            errors.append(trial.best.mean_squared_error if trial.best else np.inf)
        order = np.argsort(errors, kind="stable")[:_N_PROMISING]
        return [candidates[i] for i in order]

    def try_measure(self, measure: AtomicMeasure) -> None:
        known = candidate(measure, self.pairs)
        bias = known.profile - self.exact
        if self.best is not None and self.pairs.shares @ bias**2 >= self.best.mean_squared_error:
            return
        zeroth, first, second, third = (
            [
                known.control(degree, rank, positive=self.positive)
                for rank in self.ranks[degree]
                if rank * polynomial_columns(self.d, degree) <= self.n_columns
                or rank == ALL_RANKS
                or not self.free
            ]
            for degree in range(4)
        )
        odd_controls = list(product(first, third))
        odd = [] if self.parity is False else [(pair, known.strata("sin", pair)) for pair in odd_controls]
        for even_controls in product(zeroth, second):
            if sum(control.n_columns for control in even_controls) > self.n_columns:
                continue
            even = known.strata("cos", even_controls) if odd else []
            for pair, sines in odd:
                self._try(measure, (*even_controls, *pair), even + sines)
            if self.parity is not True:
                # If parity is open, shared frequencies are tried only where nothing is exact: there they are best.
                for pair in odd_controls:
                    controls = (*even_controls, *pair)
                    if self.parity is False or not any(control.n_columns for control in controls):
                        self._try(measure, controls, known.strata("both", controls))

    def _try(
        self,
        measure: AtomicMeasure,
        controls: Sequence[ControlVariate],
        strata: list[Stratum],
    ) -> None:
        controls = tuple(control for control in controls if control.n_columns)
        left = self.n_columns - sum(control.n_columns for control in controls)
        size = float(self.pairs.shares @ self.exact**2)
        signals = [float(self.pairs.shares @ s.means**2) for s in strata]
        drawn = [i for i, s in enumerate(strata) if s.energies.sum() + signals[i] > _NEGLIGIBLE * size]
        if self.positive:
            allowed = [i for i in drawn if measure.weights[strata[i].atom] > 0]
            if not self.free and len(allowed) < len(drawn):
                return
            drawn = allowed
        most = left // 2 if strata and strata[0].kind == "both" else left
        if self.free and len(drawn) > most:
            drawn = sorted(sorted(drawn, key=lambda i: -signals[i])[:most])

        def scored(kept: Sequence[int]) -> Composition | None:
            factors = np.isin(np.arange(len(strata)), kept).astype(float)
            bias = expected(measure, controls, strata, factors, self.pairs) - self.exact
            return self._scored(measure, controls, [strata[i] for i in kept], bias, left)

        chosen = scored(drawn)
        if chosen is None:
            return
        if self.free and len(drawn) > 1:
            kept = [i for i, variance in zip(drawn, chosen.variances, strict=True) if signals[i] > variance]
            fewer = scored(kept or [max(drawn, key=signals.__getitem__)])
            if fewer is not None and fewer.mean_squared_error < chosen.mean_squared_error:
                chosen = fewer
        if self.best is None or chosen.mean_squared_error < self.best.mean_squared_error:
            self.best = chosen

    def _scored(
        self,
        measure: AtomicMeasure,
        controls: tuple[ControlVariate, ...],
        strata: Sequence[Stratum],
        bias: NDArray,
        left: int,
    ) -> Composition | None:
        """Return the composition of these strata with its error, or None if there are too few columns for them."""
        both = any(stratum.kind == "both" for stratum in strata)
        frequencies = left // 2 if both else left
        if frequencies < len(strata) or left < 0:
            return None
        precisions = [_Precision(s.energies, self.d, self.coupled) for s in strata]
        counts, variances = _allocate(precisions, frequencies)
        shares, factors = self.pairs.shares, np.ones(len(strata))
        if self.free and strata:
            means = np.array([stratum.means for stratum in strata])
            factors = _shrinkage(means, variances, bias, shares)
            bias = bias - (1 - factors) @ means
        error = float(shares @ bias**2 + factors**2 @ variances)
        odd = both and left % 2 == 1
        return Composition(
            measure, controls, tuple(strata), counts, variances, factors, odd, self.coupled, error
        )


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
    """The inverse variance of a stratum as a function of its number of directions."""

    def __init__(self, energies: NDArray, d: int, coupled: bool) -> None:
        self.d, self.coupled = d, coupled
        of_sets = coupled_factors(d) if coupled else orthogonal_factors(d)[-1:]
        self.set_size = len(of_sets)
        self._of_bases = np.append(0, np.arange(1, self.set_size + 1) * d / (of_sets @ energies + _TINY))
        self._of_rest = np.append(0, np.arange(1, d + 1) / (orthogonal_factors(d) @ energies + _TINY))

    def __call__(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        whole, rest = np.divmod(counts, self.d)
        sets, bases = np.divmod(whole, self.set_size)
        return sets * self._of_bases[-1] + self._of_bases[bases] + self._of_rest[rest]

    def shares(self, count: int) -> NDArray[np.float64]:
        """Return weights of the directions that sum to one, in the order of `directions.coupled`."""
        groups = self._groups(count)
        precision = np.concatenate([np.full(size, total / size) for size, total in groups])
        return precision / precision.sum()

    def variance(self, count: int, energies: NDArray) -> float:
        """Return the variance of the mean with these weights for other energies."""
        other = _Precision(energies, self.d, self.coupled)
        total = self(np.array(count))
        pairs = zip(self._groups(count), other._groups(count), strict=True)
        return float(sum((mine / total) ** 2 / actual for (_, mine), (_, actual) in pairs))

    def _groups(self, count: int) -> list[tuple[int, float]]:
        """Return size and precision of each set of bases, of the bases that fill no set, and of the remainder."""
        whole, rest = divmod(count, self.d)
        sets, bases = divmod(whole, self.set_size)
        groups = [(self.set_size * self.d, self._of_bases[-1])] * sets
        groups += [(bases * self.d, self._of_bases[bases]), (rest, self._of_rest[rest])]
        return [group for group in groups if group[0]]


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


def share_of_cosines(measure: RadialMeasure, ranks: Ranks, pairs: RowPairs) -> float:
    """Return the share of cosines among the drawn columns that gives the least variance.

    Norms are drawn from the measure, so that each column has the variance of a mixture of norms.
    """
    radii, weights = signed_atoms(measure, _N_NORMS)
    return _share_of_cosines(radii.tobytes(), weights.tobytes(), ranks, pairs)


@lru_cache(maxsize=32)
def _share_of_cosines(radius_bytes: bytes, weight_bytes: bytes, ranks: Ranks, pairs: RowPairs) -> float:
    radii, weights = map(np.frombuffer, (radius_bytes, weight_bytes))
    controls = control_variates(len(pairs.centre), radii, weights, pairs.anchors, ranks)
    mass = np.where(weights > 0, weights[weights > 0].sum(), -weights[weights < 0].sum())
    waves = PlaneWaves(radii, np.sqrt(np.abs(weights) * mass), pairs)
    factors = orthogonal_factors(len(pairs.centre))[-1]
    even, odd = (np.sqrt(sum(s.energies @ factors for s in waves.strata(kind, controls))) for kind in KINDS)
    return float(even / (even + odd)) if even + odd else 0.5
