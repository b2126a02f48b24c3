"""Columns that are harmonics alone, of which some functions have all and others a sample; and their choice.

A kernel is a sum of terms f_k(x) f_k(y) P_n(cos), each of a function f_k of one coordinate of the rows and a
degree n of the harmonics in the others. The coordinate is the distance from a pole
(`rflib.frequencies.radial_harmonics`) or the place along an axis (`rflib.frequencies.axial_harmonics`). A function
either has all harmonics of its degree as columns, and is exact, or a sample of them
(`rflib.frequencies.coordinate_products`). The sample is multiplied by a factor at which its noise and its bias are
least together. docs/mvorf.md derives this.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.coordinate_products import (
    PARTS,
    CoordinateProducts,
    Parts,
    covariances,
    draw_products,
    overlaps,
    products_in_basis,
    relative_variance,
)
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import polynomial_columns
from rflib.measures.harmonics import legendre
from rflib.measures.row_pairs import RowPairs

# Degrees of functions that have all their harmonics as columns, and of those that have a sample of them.
_HIGHEST_EXACT, HIGHEST_DEGREE = 3, 4
_MOST_SAMPLES = 4
# Of the functions that are not exact, this number with the largest eigenvalues may have samples.
_TRIED = 8
_LEAST_GAIN = 0.99
# Columns of a sample: those of one complex product.
_LEAST = 2
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a kernel at pairs of rows.

    Attributes
    ----------
    dimension : int
        Dimension of the space in which the harmonics are.
    cosines : ndarray of shape (n_pairs,)
        Cosines of the angles between the rows there.
    degrees : list of int
        Degree n of each function.
    radial_factors : ndarray of shape (n_functions, n_pairs)
        The term of each function between rows in the same direction.
    """

    dimension: int
    cosines: NDArray
    degrees: list[int]
    radial_factors: NDArray

    def kernels(self) -> NDArray[np.float64]:
        """Return the terms at the pairs, shape (n_functions, n_pairs)."""
        across = {n: legendre(self.dimension, n, self.cosines) for n in set(self.degrees)}
        return self.radial_factors * np.array([across[n] for n in self.degrees]).reshape(
            self.radial_factors.shape
        )


Sample = tuple[int, Parts]


@dataclass(frozen=True, eq=False)
class SampledHarmonics:
    """Functions with all their harmonics, followed by functions with a sample of them.

    Attributes
    ----------
    measure : AtomicMeasure
        The atoms that represent the kernel.
    samples : tuple of (int, {1, 2})
        For each of the last functions, the number of products in its sample and the number of columns of each.
    mean_squared_error : float
        Predicted mean squared error of a kernel value over the pairs of the choice.
    """

    measure: AtomicMeasure
    samples: tuple[Sample, ...]
    mean_squared_error: float

    @abstractmethod
    def terms(self, pairs: RowPairs) -> Terms:
        """Return the terms of the functions; those with a sample are multiplied by their factor."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The dimension of the space in which the harmonics are."""

    @property
    @abstractmethod
    def degrees(self) -> list[int]:
        """The degree of each function."""

    def draw(self, rng: Generator) -> list[CoordinateProducts]:
        """Draw the samples of the last functions."""
        of_samples = self.degrees[len(self.degrees) - len(self.samples) :]
        return [
            draw_products(n, self.dimension, degree, parts, rng)
            for degree, (n, parts) in zip(of_samples, self.samples, strict=True)
        ]

    def error_over(self, exact: NDArray, pairs: RowPairs) -> float:
        """Return the mean squared error that is predicted over pairs of rows at which the kernel is ``exact``."""
        terms = self.terms(pairs)
        squares = (terms.kernels().sum(axis=0) - exact) ** 2
        for k, (n, parts) in enumerate(self.samples, len(terms.degrees) - len(self.samples)):
            variance = relative_variance(n, terms.dimension, terms.degrees[k], parts, terms.cosines)
            squares += terms.radial_factors[k] ** 2 * variance
        return float(pairs.shares @ squares)

    @abstractmethod
    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return a bound on the bias for rows with these distances from the pole."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The functions that are exact, those that have samples, and these samples with their factors."""

    whole: Sequence[int]
    sampled: Sequence[int]
    samples: tuple[Sample, ...]
    factors: NDArray
    mean_squared_error: float

    @property
    def functions(self) -> list[int]:
        """The chosen functions."""
        return [*self.whole, *self.sampled]

    @property
    def scales(self) -> NDArray[np.float64]:
        """What the chosen functions are multiplied by, shape (n_chosen,)."""
        return np.append(np.ones(len(self.whole)), np.sqrt(self.factors))


def choose(exact: NDArray, terms: Terms, shares: NDArray, n_columns: int) -> Choice:
    """Return the choice with the least predicted mean squared error.

    A function is exact if its harmonics fit into the columns that the functions before it have left; others are
    passed over. All numbers of exact functions are tried. Some of the other functions have samples.

    Parameters
    ----------
    exact : ndarray of shape (n_pairs,)
        The kernel at the pairs.
    terms : Terms
        The terms of the functions, in descending order of their eigenvalues.
    shares : ndarray of shape (n_pairs,)
        Weights of the pairs, which sum to one.
    n_columns : int
        Number of columns D.
    """
    return min(_Search(exact, terms, shares).choices(n_columns), key=lambda each: each.mean_squared_error)


class _Search:
    """Mean squared errors from a few sums over the pairs."""

    def __init__(self, exact: NDArray, terms: Terms, shares: NDArray) -> None:
        self.exact, self.shares = exact, shares
        self.kernels = kernels = terms.kernels()
        self.products = (kernels * shares) @ kernels.T
        self.dimension, self.degrees = d, degrees = terms.dimension, terms.degrees
        self.sizes = [polynomial_columns(d, n) for n in degrees]
        kinds: dict[int, list[Parts]] = {
            n: [parts for parts in PARTS if products_in_basis(d, n, parts)]
            for n in set(degrees)
            if n and polynomial_columns(d, n) > _LEAST
        }
        noise = {(n, parts): covariances(d, n, parts, terms.cosines) for n in kinds for parts in kinds[n]}
        squares = shares * terms.radial_factors**2
        self.noise = {
            k: {parts: noise[n, parts] @ squares[k] for parts in kinds[n]}
            for k, n in enumerate(degrees)
            if kinds.get(n)
        }

    def choices(self, n_columns: int) -> Iterator[Choice]:
        """Yield the best choice for each number of leading functions that may be exact."""
        whole: list[int] = []
        left, residual = n_columns, self.exact
        yield self._with_samples(whole, residual, left)
        for k, (degree, size) in enumerate(zip(self.degrees, self.sizes, strict=True)):
            if degree <= _HIGHEST_EXACT and size <= left:
                whole, left, residual = [*whole, k], left - size, residual - self.kernels[k]
                yield self._with_samples(whole, residual, left)

    def _with_samples(self, whole: list[int], residual: NDArray, left: int) -> Choice:
        """Add samples of other functions, the best one first, as long as each lowers the error.

        Sums of the residual, what the exact functions lack of the kernel, have no cancellation.
        """
        weighted = self.shares * residual
        square, first = float(weighted @ residual), self.kernels @ weighted
        best = Choice(whole, [], (), np.zeros(0), square)
        others = [k for k in self.noise if k not in whole][:_TRIED]
        while len(best.sampled) < min(_MOST_SAMPLES, left // 2):
            more = [
                self._sampled(whole, [*best.sampled, k], left, square, first)
                for k in others
                if k not in best.sampled
            ]
            next_best = min(more, key=lambda each: each.mean_squared_error, default=best)
            if next_best.mean_squared_error >= _LEAST_GAIN * best.mean_squared_error:
                break
            best = next_best
        return best

    def _sampled(
        self, whole: list[int], sampled: list[int], left: int, square: float, first: NDArray
    ) -> Choice:
        """Divide columns among samples in proportion to the roots of their variances."""
        most = [self.sizes[k] - 1 for k in sampled]
        columns = _divided(left, np.ones(len(sampled)), most)
        for _ in range(_ROUNDS):
            variances = np.array([self._best_sample(k, n)[0] for k, n in zip(sampled, columns, strict=True)])
            columns = _divided(left, np.sqrt(variances * columns), most)
        found = [self._best_sample(k, n) for k, n in zip(sampled, columns, strict=True)]
        return self._scaled(whole, sampled, found, square, first)

    def _scaled(
        self,
        whole: list[int],
        sampled: list[int],
        found: Sequence[tuple[float, Sample]],
        square: float,
        first: NDArray,
    ) -> Choice:
        """Return the choice of samples, each with its variance, with their best factors."""
        variances = np.array([variance for variance, _ in found])
        of_bias, first = self.products[np.ix_(sampled, sampled)], first[sampled]
        factors = np.clip(np.linalg.lstsq(of_bias + np.diag(variances), first)[0], 0, 1)
        error = square - 2 * factors @ first + factors @ of_bias @ factors + variances @ factors**2
        samples = tuple(sample for _, sample in found)
        return Choice(whole, sampled, samples, factors, max(float(error), 0.0))

    def _best_sample(self, k: int, n_columns: int) -> tuple[float, Sample]:
        """Return the least mean variance of a sample in at most so many columns, at least 2, and the sample."""
        d, degree = self.dimension, self.degrees[k]
        found: list[tuple[float, Sample]] = []
        for parts, noise in self.noise[k].items():
            n = max(1, n_columns // parts)
            found.append((max(float(overlaps(n, d, degree, parts) @ noise), 0.0), (n, parts)))
        return min(found)


def _divided(n: int, weights: NDArray, most: Sequence[int]) -> list[int]:
    """Divide n in proportion to the weights, at least `_LEAST` and at most so many to each."""
    counts, open_ = [0] * len(most), list(range(len(most)))
    while open_:
        left = n - sum(counts) - _LEAST * len(open_)
        shares = weights[open_] / (weights[open_].sum() or 1.0) * left
        full = [k for k, share in zip(open_, shares, strict=True) if _LEAST + share >= most[k]]
        for k, share in zip(open_, shares, strict=True):
            if k in full or not full:
                counts[k] = min(_LEAST + int(share), most[k])
        open_ = [k for k in open_ if k not in full] if full else []
    return counts
