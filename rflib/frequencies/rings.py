"""Rings of equispaced directions for two input columns, whose error falls faster than any power of their number.

In the plane, the mean of cos(r <u, z>) over n directions u, with equal angles pi/n between them and one random
rotation, has the expectation J_0(r |z|) and the variance

    V_n(r |z|) = 2 sum_{k > 0} J_{2nk}(r |z|)^2,

because directions at equal angles integrate all harmonics exactly but those of degree 2nk (Jacobi-Anger). It
vanishes faster than exponentially once 2n exceeds r |z|: this is the trapezoidal rule for a periodic function. So
each atom of a measure has one ring of directions, with cosines and sines, and no exact harmonics are needed. A
Lagrange multiplier divides the directions among the atoms, and the measure with the least predicted error is
chosen. docs/mvorf.md derives the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import jv

from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.row_pairs import RowPairs

_BISECTIONS = 60
_TINY = 1e-300
# Sizes of rings grow by this factor, and mean variances are interpolated between values of t with this step.
_GROWTH = 1.04
_STEP = 0.25
# The variance also counts at the largest distance of the sample, at two thirds of the range of the measure, which
# is the diameter of the training rows, and at the end of the range, with these weights beside 1 for each distance
# of the sample; and the bound on the bias counts with this share of the pairs.
_BEYOND = (2 / 3, 1.0)
_SHARES_BEYOND = (0.5, 0.02, 0.002)
_SHARE_OF_BOUND = 1e-4
# Harmonics whose degree exceeds t by more than this and six cube roots of t are below rounding.
_MARGIN = 25
# Beyond this t, the variance is that of independent directions, which it hardly exceeds.
_LARGEST_T = 512.0


@dataclass(frozen=True, eq=False)
class Rings:
    """A ring of equispaced directions for each atom of a measure in the plane.

    Attributes
    ----------
    measure : AtomicMeasure
        The atoms.
    counts : ndarray of shape (n_atoms,)
        Number of directions of each atom.
    """

    measure: AtomicMeasure
    counts: NDArray[np.int64]

    def draw(self, rng: Generator) -> tuple[NDArray, NDArray, int]:
        """Return drawn frequencies (n, 2), their signed weights (n,) and the number of sines, which come last."""
        turns = rng.random(len(self.counts))
        angles = np.concatenate(
            [np.pi * (turn + np.arange(n)) / n for turn, n in zip(turns, self.counts, strict=True)]
        )
        radii = np.repeat(self.measure.radii, self.counts)
        weights = np.repeat(self.measure.weights / self.counts, self.counts)
        vectors = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        moving = radii > 0
        return (
            np.concatenate([vectors, vectors[moving]]),
            np.concatenate([weights, weights[moving]]),
            int(moving.sum()),
        )

    def error_over(self, exact: NDArray, pairs: RowPairs) -> float:
        """Return the mean squared error that is predicted over pairs of rows at which the kernel is ``exact``."""
        z, atoms = pairs.distances, zip(self.measure.radii, self.measure.weights, self.counts, strict=True)
        variance = sum(w**2 * ring_variance(int(n), r * z) for r, w, n in atoms if r)
        return float(pairs.shares @ ((self.measure.profile(z) - exact) ** 2 + variance))

    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return the bound for the atoms, because nothing of them is shrunk or left out."""
        return self.measure.bias_estimate


def ring_variance(n: int, t: NDArray) -> NDArray[np.float64]:
    """Return V_n(t), the variance of the mean of the cosines of n equispaced directions, shape (n_t,)."""
    near = np.minimum(t, _LARGEST_T)
    orders = np.arange(2 * n, _highest_degree(float(near.max())) + 2 * n + 1, 2 * n)
    return np.where(t > _LARGEST_T, 0.5 / n, 2 * (jv(orders[:, None], near) ** 2).sum(axis=0))


def rings(measures: Sequence[AtomicMeasure], exact: NDArray, pairs: RowPairs, n_columns: int) -> Rings | None:
    """Return the rings with the least predicted error, or None if there are too few columns for any.

    Parameters
    ----------
    measures : sequence of AtomicMeasure
        Candidate measures in the plane, which share their sample of distances.
    exact : ndarray of shape (n_pairs,)
        The kernel at the pairs.
    pairs : RowPairs
        Pairs over which the error of the result is averaged.
    n_columns : int
        Number of columns D.
    """
    radii = np.unique(np.concatenate([measure.radii for measure in measures]))
    sizes, variances = _mean_variances(radii, *_distances(measures[0], pairs))
    misfits = [
        float(pairs.shares @ (m.profile(pairs.distances) - exact) ** 2) + _SHARE_OF_BOUND * m.bias_estimate**2
        for m in measures
    ]
    best: Rings | None = None
    least = np.inf
    for i in np.argsort(misfits, kind="stable"):
        measure = measures[i]
        if misfits[i] >= least:
            break
        table = measure.weights[:, None] ** 2 * variances[np.searchsorted(radii, measure.radii)]
        chosen = _allocate(sizes, table, measure.radii > 0, n_columns)
        if chosen is not None:
            error = misfits[i] + table[np.arange(len(chosen)), chosen].sum()
            if error < least:
                best, least = Rings(measure, sizes[chosen]), error
    return best


def _distances(measure: AtomicMeasure, pairs: RowPairs) -> tuple[NDArray, NDArray]:
    """Return distances and their shares in the pairs of different rows.

    The errors of rings are at large distances, of which a sample has few. So some that are larger count too.
    """
    largest = max(pairs.distances.max(), measure.distances.max())
    reach = measure.zmax if np.isfinite(measure.zmax) else largest
    beyond = np.maximum(largest, reach * np.array([0.0, *_BEYOND]))
    shares = np.concatenate([np.ones(len(measure.distances)), _SHARES_BEYOND])
    different = 1 - pairs.shares[pairs.distances == 0].sum()
    return np.concatenate([measure.distances, beyond]), different * shares / shares.sum()


def _mean_variances(radii: NDArray, z: NDArray, shares: NDArray) -> tuple[NDArray, NDArray]:
    """Return sizes of rings (n_sizes,), and their variance for each norm, averaged over z, (n_radii, n_sizes)."""
    t = np.multiply.outer(radii, z)
    far = (t > _LARGEST_T) @ shares
    near = np.minimum(t, _LARGEST_T)
    grid, squares = _squares(float(2.0 ** np.ceil(np.log2(max(near.max(), 1.0)))))
    useful = _highest_degree(float(near.max())) // 2 + 1
    steps = np.cumprod(np.full(int(np.log(useful) / np.log(_GROWTH)) + 1, _GROWTH))
    sizes = np.unique(np.append(1, np.ceil(steps)).astype(int))
    inside = np.where(t > _LARGEST_T, 0.0, shares)
    by_size = [
        far * 0.5 / n + (np.interp(near, grid, squares[n::n].sum(axis=0)) * inside).sum(axis=1) for n in sizes
    ]
    return sizes, np.array(by_size).T


@lru_cache(maxsize=4)
def _squares(largest: float) -> tuple[NDArray, NDArray]:
    """Return values of t up to the largest, and 2 J_{2l}(t)^2 for l = 0, 1, ..., until they vanish."""
    grid = np.linspace(0, largest, int(largest / _STEP) + 2)
    orders = np.arange(0, _highest_degree(largest) + 2, 2)
    return grid, 2 * jv(orders[:, None], grid) ** 2


def _highest_degree(t: float) -> int:
    """Return an even degree from which on the harmonics of a wave of this t are below rounding."""
    return 2 * int((t + 6 * np.cbrt(t) + _MARGIN) / 2)


def _allocate(
    sizes: NDArray[np.int64], table: NDArray, moving: NDArray[np.bool_], n_columns: int
) -> NDArray[np.int64] | None:
    """Return which size each atom gets, with nearly the least total variance; None if there are too few columns.

    An atom of norm zero is a constant and has one column; each direction of another has two.
    """
    rows, columns = np.arange(len(table)), np.where(moving[:, None], 2 * sizes, 1)
    chosen = np.zeros(len(table), dtype=int)
    if columns[rows, chosen].sum() > n_columns:
        return None
    low, high = _TINY, max(float(table.max()), _TINY)
    for _ in range(_BISECTIONS):
        price = np.sqrt(low) * np.sqrt(high)
        found = np.argmin(table + price * columns, axis=1)
        if columns[rows, found].sum() > n_columns:
            low = price
        else:
            high, chosen = price, found
    while True:
        larger = np.minimum(chosen + 1, len(sizes) - 1)
        more = columns[rows, larger] - columns[rows, chosen]
        gains = np.where(
            (more > 0) & (more <= n_columns - columns[rows, chosen].sum()),
            (table[rows, chosen] - table[rows, larger]) / np.maximum(more, 1),
            0.0,
        )
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            return chosen
        chosen[best] = larger[best]
