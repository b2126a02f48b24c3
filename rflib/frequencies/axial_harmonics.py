"""Harmonics about an axis, for kernels that are positive definite on the unit sphere only, and their choice.

The axis is the direction of the mean of the rows. Seen from there, an expansion in all d coordinates has negative
parts unless the kernel is positive definite on the whole space, which a polynomial kernel is not; the parts of the
expansion about the axis are all positive (`rflib.frequencies.axial_functions`). Rows near their mean have a small
part across the axis, so that low degrees hold nearly all of the kernel.

Some functions have all harmonics of their degree as columns, and are exact. Others have a sample of them
(`rflib.frequencies.products`), multiplied by a factor at which its noise and its bias are least together. What is
left out of the kernel is positive definite, so that its largest value on the diagonal bounds the bias.
docs/mvorf.md derives this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.axial_functions import AxialFunctions, leading_functions, unit_kernel
from rflib.frequencies.axial_pairs import AxialPairs
from rflib.frequencies.leading_harmonics import LeadingHarmonics
from rflib.frequencies.products import NO_PRODUCTS, Products, draw_products, relative_variance
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import ControlVariate, polynomial_columns
from rflib.measures.harmonics import legendre
from rflib.measures.row_pairs import RowPairs

# Degrees of functions that have all their harmonics as columns, and of those that have a sample of them.
_HIGHEST_EXACT, _HIGHEST = 3, 4
_MOST_SAMPLES = 4
# Of the functions that are not exact, this number with the largest eigenvalues may have samples.
_TRIED = 8
_LEAST_GAIN = 0.99
_N_GRID = 201
# Rows whose mean is nearer to the origin have no axis.
_LEAST_MEAN = 1e-3


@dataclass(frozen=True, eq=False)
class AxialHarmonics(LeadingHarmonics):
    """Functions of the coordinate along an axis, with the harmonics of the perpendicular part of the rows.

    Attributes
    ----------
    functions : AxialFunctions
        The functions. Those that have a sample of their harmonics are multiplied by the root of their factor.
    counts : tuple of int
        Number of columns of each function's sample; 0 for a function that has all its harmonics.
    length : float
        Norm of the mean of the rows.
    n_columns : int
        Number of columns.
    measure : AtomicMeasure
        The measure of the best other columns; it is not used.
    radial, n_products, factor, mean_squared_error
        Empty, 0, 1 and inf: there are no radial functions, and the error is computed over the pairs of the caller.
    """

    functions: AxialFunctions
    counts: tuple[int, ...]
    length: float
    n_columns: int

    @property
    def n_exact(self) -> int:
        """The number of columns that are not cosines or sines, which is the number of all columns."""
        return self.n_columns

    @property
    def controls(self) -> tuple[ControlVariate, ...]:
        """No radial functions."""
        return ()

    def products(self, rng: Generator) -> Products:
        """Return no products; those across the axis are `samples`."""
        return NO_PRODUCTS

    def samples(self, rng: Generator) -> list[Products]:
        """Draw the samples, across the axis, of the functions that have one."""
        e, degrees = self.measure.dimension - 1, self.functions.degrees.tolist()
        return [
            draw_products(count, e, degree, rng)
            for degree, count in zip(degrees, self.counts, strict=True)
            if count
        ]

    def moments(self, pairs: RowPairs) -> tuple[NDArray, NDArray, NDArray]:
        """Return the mean of the kernel estimate, zeros, and its variance, each of shape (n_pairs,).

        The pairs are seen from the mean of the rows.
        """
        e, t, cosines = self.measure.dimension - 1, *_along(pairs, self.length)
        mean, variance = np.zeros(len(cosines)), np.zeros(len(cosines))
        for degree, count, part in zip(
            self.functions.degrees.tolist(), self.counts, _parts(self.functions, e, t), strict=True
        ):
            mean += part * legendre(e, degree, cosines)
            if count:
                variance += part**2 * relative_variance(count, e, degree, cosines)
        return mean, np.zeros(len(cosines)), variance

    def bias_bound(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return the largest value on the diagonal of what is left out, which is positive definite."""
        t = np.linspace(-1, 1, _N_GRID)
        norms = np.sqrt(np.maximum(1 + self.length**2 - 2 * self.length * t, 0))
        mean, _, _ = self.moments(RowPairs.of_themselves(np.zeros(self.measure.dimension), norms))
        return float(np.abs(float(kernel.at_distance(np.zeros(1))[0]) - mean).max())


def axial_harmonics(
    kernel: RadialKernel, rows: AxialPairs, n_columns: int, measure: AtomicMeasure
) -> AxialHarmonics | None:
    """Return the harmonics with the least predicted error, or None if the mean of the rows is near the origin.

    Parameters
    ----------
    kernel : RadialKernel
        A kernel that is positive definite on the unit sphere.
    rows : AxialPairs
        Rows of unit norm, over whose pairs the error is averaged.
    n_columns : int
        Number of columns D.
    measure : AtomicMeasure
        The measure of the best other columns.
    """
    if rows.length < _LEAST_MEAN or len(rows.pairs.centre) < 3:
        return None
    along = tuple(rows.coordinates.tolist()), tuple(rows.weights.tolist())
    functions, counts = _found(kernel, rows.length, *along, rows.pairs, n_columns)
    return AxialHarmonics(measure, (), 0, 1.0, np.inf, functions, counts, rows.length, n_columns)


@lru_cache(maxsize=32)
def _found(
    kernel: RadialKernel,
    length: float,
    coordinates: tuple[float, ...],
    weights: tuple[float, ...],
    pairs: RowPairs,
    n_columns: int,
) -> tuple[AxialFunctions, tuple[int, ...]]:
    """Return the best functions and the numbers of columns of their samples."""
    functions = leading_functions(kernel, coordinates, weights, len(pairs.centre), _HIGHEST)
    search = _Search(functions, kernel.at_distance(pairs.distances), pairs, length)
    _, whole, sampled, counts, factors = min(search.choices(n_columns), key=lambda choice: choice[0])
    chosen, scales = [*whole, *sampled], np.append(np.ones(len(whole)), np.sqrt(factors))
    found = AxialFunctions(functions.degrees[chosen], functions.coefficients[:, chosen] * scales)
    return found, (*(0 for _ in whole), *counts)


_Choice = tuple[float, Sequence[int], Sequence[int], Sequence[int], NDArray]


class _Search:
    """The mean squared error of choices of functions, from a few sums over the pairs."""

    def __init__(self, functions: AxialFunctions, exact: NDArray, pairs: RowPairs, length: float) -> None:
        e, (t, cosines) = len(pairs.centre) - 1, _along(pairs, length)
        self.exact, self.shares = exact, pairs.shares
        self.degrees = functions.degrees.tolist()
        self.sizes = [polynomial_columns(e, degree) for degree in self.degrees]
        self.bases = [comb(e, degree) for degree in self.degrees]
        parts = _parts(functions, e, t)
        across = {degree: legendre(e, degree, cosines) for degree in set(self.degrees)}
        self.kernels = parts * np.array([across[degree] for degree in self.degrees])
        noise = {
            degree: [relative_variance(n, e, degree, cosines) for n in (1, comb(e, degree))]
            for degree in set(self.degrees)
            if comb(e, degree)
        }
        none = [np.zeros(len(cosines))] * 2
        self.noise = np.array(
            [
                [self.shares @ (part**2 * each) for each in noise.get(degree, none)]
                for degree, part in zip(self.degrees, parts, strict=True)
            ]
        )

    def choices(self, n_columns: int) -> Iterator[_Choice]:
        """Yield the best choice for each number of leading functions that may be exact."""
        whole: list[int] = []
        left = n_columns
        yield self._with_samples(whole, left)
        for k, (degree, size) in enumerate(zip(self.degrees, self.sizes, strict=True)):
            if degree <= _HIGHEST_EXACT and size <= left:
                whole, left = [*whole, k], left - size
                yield self._with_samples(whole, left)

    def _with_samples(self, whole: list[int], left: int) -> _Choice:
        """Add samples of other functions, the best one first, as long as each lowers the error."""
        residual = self.exact - self.kernels[whole].sum(axis=0)
        best: _Choice = (float(self.shares @ residual**2), whole, (), (), np.zeros(0))
        others = [k for k in range(len(self.degrees)) if k not in whole and self.degrees[k] and self.bases[k]]
        while len(best[2]) < min(_MOST_SAMPLES, left):
            more = [
                self._sampled(residual, whole, [*best[2], k], left)
                for k in others[:_TRIED]
                if k not in best[2]
            ]
            next_best = min(more, key=lambda choice: choice[0], default=best)
            if next_best[0] > _LEAST_GAIN * best[0]:
                break
            best = next_best
        return best

    def _sampled(self, residual: NDArray, whole: list[int], sampled: list[int], left: int) -> _Choice:
        """Divide columns among samples in proportion to the roots of their variances, and find their factors."""
        counts = _divided(left, np.sqrt(self.noise[sampled, 0]), [self.sizes[k] - 1 for k in sampled])
        variances = np.array([self._variance(k, n) for k, n in zip(sampled, counts, strict=True)])
        kernels = self.kernels[sampled]
        second = (kernels * self.shares) @ kernels.T + np.diag(variances)
        factors = np.clip(np.linalg.lstsq(second, kernels @ (self.shares * residual))[0], 0, 1)
        bias = residual - factors @ kernels
        return float(self.shares @ bias**2 + variances @ factors**2), whole, sampled, counts, factors

    def _variance(self, k: int, n: int) -> float:
        """Return the mean variance of a sample of n products; with several bases, all of them count as whole."""
        of_one, of_basis = self.noise[k].tolist()
        total = self.bases[k]
        if n >= total:
            return of_basis * total / n
        covariance = (of_basis - of_one / total) / (1 - 1 / total)
        return max(of_one / n + (1 - 1 / n) * covariance, 0.0)


def _divided(n: int, weights: NDArray, most: Sequence[int]) -> list[int]:
    """Divide n columns in proportion to the weights, at least one and at most so many to each."""
    counts, open_ = [0] * len(most), list(range(len(most)))
    while open_:
        left = n - sum(counts) - len(open_)
        shares = weights[open_] / (weights[open_].sum() or 1.0) * left
        full = [k for k, share in zip(open_, shares, strict=True) if 1 + share >= most[k]]
        for k, share in zip(open_, shares, strict=True):
            if k in full or not full:
                counts[k] = min(1 + int(share), most[k])
        open_ = [k for k in open_ if k not in full] if full else []
    return counts


def _parts(functions: AxialFunctions, e: int, t: NDArray) -> NDArray[np.float64]:
    """Return the kernels of the functions on a line across the axis, at pairs of coordinates (2, n_pairs)."""
    distinct, places = np.unique(t, return_inverse=True)
    values = chebval(distinct, functions.coefficients)[:, places.reshape(t.shape)].prod(axis=1)
    size = np.sqrt(np.maximum(1 - t**2, 0)).prod(axis=0)
    return np.array(
        [
            unit_kernel(e, degree) * size**degree * value
            for degree, value in zip(functions.degrees.tolist(), values, strict=True)
        ]
    )


def _coordinate(norms: NDArray, length: float) -> NDArray[np.float64]:
    """Return the coordinate t of rows of unit norm at these distances from the mean."""
    return np.clip((1 + length**2 - norms**2) / (2 * length), -1, 1)


def _along(pairs: RowPairs, length: float) -> tuple[NDArray, NDArray]:
    """Return the coordinates (2, n_pairs) of pairs, and the cosines of the angles between perpendicular parts."""
    t = _coordinate(pairs.norms, length)
    across = np.sqrt(np.maximum(1 - t**2, 0)).prod(axis=0)
    products = 1 - pairs.distances**2 / 2 - t.prod(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = products / across
    return t, np.clip(np.nan_to_num(cosines, nan=1.0), -1, 1)
