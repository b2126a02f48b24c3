"""A sample of rows that is stratified by the distance from their mean, and pairs among them.

Few rows far from all others may have most of the error of harmonics, and a sample of all rows alike has few of
them. Therefore both ends of the range of distances have strata of their own. Near pairs are sampled more often, as
in ``RowPairs``, because narrow kernels have most of their error there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.distances import euclidean_distances
from rflib.kernels.sparse_rows import Rows, lexicographic_order, mean_row
from rflib.measures.domain import distances_from
from rflib.measures.row_pairs import RowPairs, spread

_STRATA = (0, 0.001, 0.01, *np.arange(1, 10) / 10, 0.99, 0.999, 1)
_ROWS_OF_STRATUM = 64
# Functions are fitted to fewer rows.
_ROWS_OF_FUNCTIONS = 8
# The groups of pairs, sorted by distance, and the number of pairs from each of them.
_NEAREST = (0.001, 0.01, 0.1, 1.0)
_PAIRS_OF_GROUP = 500
# The diagonal counts as one of this many pairs at most, as in `RowPairs`.
_LARGEST_SAMPLE = 1000
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class StratifiedPairs:
    """A sample of rows that is stratified by the distance from their mean.

    Attributes
    ----------
    norms, weights : ndarray of shape (n_rows,)
        Distances from the mean of some rows that represent all of them, and their shares of all rows.
    pairs : RowPairs
        Pairs of more rows, seen from the mean.
    """

    norms: NDArray
    weights: NDArray
    pairs: RowPairs

    @staticmethod
    def of(X: Rows) -> StratifiedPairs:
        """Return a sample of the rows X (n, d), dense or sparse, which does not depend on their order."""
        mean, n = mean_row(X), X.shape[0]
        norms = np.asarray(distances_from(mean, X), dtype=np.float64)
        order = lexicographic_order(X)
        order = order[np.argsort(norms[order].round(_DIGITS), kind="stable")]
        few, shares = _strata(n, _ROWS_OF_FUNCTIONS)
        many, weights = _strata(n, _ROWS_OF_STRATUM)
        sample = X[order[many]].astype(np.float64)
        pairs = _pairs(sample, weights, mean, min(n, _LARGEST_SAMPLE))
        return StratifiedPairs(norms[order[few]], shares, pairs)


def joined(first: RowPairs, second: RowPairs) -> RowPairs:
    """Return two samples of pairs, seen from the same centre, which count equally."""
    return RowPairs(
        first.centre,
        np.hstack([first.norms, second.norms]),
        np.append(first.cosines, second.cosines),
        np.append(first.distances, second.distances),
        np.append(first.shares, second.shares) / 2,
    )


def _strata(n: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return places among n sorted rows, at most so many in each stratum, and the shares that they represent."""
    edges = np.unique(np.ceil(n * np.array(_STRATA)).astype(int))
    places = [start + spread(stop - start, most) for start, stop in pairwise(edges)]
    shares = [
        np.full(len(each), size / n / len(each)) for each, size in zip(places, np.diff(edges), strict=True)
    ]
    return np.concatenate(places), np.concatenate(shares)


def _pairs(sample: Rows, weights: NDArray, mean: NDArray, n_itself: int) -> RowPairs:
    """Return pairs of the sample, each row with itself and others that are stratified by distance."""
    i, j = np.triu_indices(len(weights), 1)
    shares = 2 * weights[i] * weights[j]
    order = np.argsort(euclidean_distances(sample)[i, j], kind="stable")
    total = np.cumsum(shares[order])
    edges = np.searchsorted(total, np.array(_NEAREST) * total.max(initial=0)) + 1
    chosen, rescaled = [np.zeros(0, dtype=int)], [weights / n_itself]
    for start, stop in pairwise(np.unique(np.append(0, np.minimum(edges, len(order))))):
        group = order[start:stop]
        some = group[spread(len(group), _PAIRS_OF_GROUP)]
        chosen.append(some)
        rescaled.append(shares[some] * shares[group].sum() / shares[some].sum())
    itself, others = np.arange(len(weights)), np.concatenate(chosen)
    first, second = np.append(itself, i[others]), np.append(itself, j[others])
    part = np.concatenate(rescaled)
    return RowPairs.between(sample, mean, first, second, part / part.sum())
