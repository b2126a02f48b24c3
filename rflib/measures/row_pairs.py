"""Pairs of training rows, over which the error of features is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from rflib.kernels.distances import euclidean_distances
from rflib.kernels.sparse_rows import Rows, ShiftedRows, dense, lexicographic_order, mean_row

# The diagonal counts as one of this many pairs at most, so that its weight is never smaller.
_LARGEST_SAMPLE = 1000
# Near pairs are rare but decide about narrow kernels. The sample has equally many pairs from each of the groups of
# pairs, sorted by distance, that these shares divide.
_NEAREST = (0.001, 0.01, 0.1, 1.0)
_SHARE_OF_DIAGONAL = 2
_N_ROWS = 1000
_N_ANCHORS = 32
_N_GRID_NORMS, _N_GRID_COSINES = 17, 25
_BLOCK_ELEMENTS = 1 << 20
# A sample of sparse rows is made dense up to this size, so that it gives the same numbers as dense rows even if
# distances are equal.
_DENSE_ELEMENTS = 1 << 23


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs of rows as seen from a centre: all that the error of randomly rotated Fourier features depends on.

    Attributes
    ----------
    centre : ndarray of shape (d,)
        Where they are seen from, usually the mean of the rows.
    norms : ndarray of shape (2, n_pairs)
        Distances of both rows from the centre.
    cosines : ndarray of shape (n_pairs,)
        Cosine of the angle between them, seen from the centre.
    distances : ndarray of shape (n_pairs,)
        Distance between the two rows; zero for a row and itself.
    shares : ndarray of shape (n_pairs,)
        Weights of the pairs, which sum to one. They represent all n^2 pairs of n rows, n of which pair a row with
        itself.
    """

    centre: NDArray
    norms: NDArray
    cosines: NDArray
    distances: NDArray
    shares: NDArray

    @property
    def anchors(self) -> NDArray[np.float64]:
        """The quantiles of the distances from the centre."""
        return np.quantile(self.norms, (np.arange(_N_ANCHORS) + 0.5) / _N_ANCHORS)

    def __eq__(self, other: object) -> bool:
        """Return whether randomly rotated features have the same errors at both."""
        return isinstance(other, RowPairs) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(self._numbers())

    def _numbers(self) -> tuple[int | bytes, ...]:
        arrays = (self.norms, self.cosines, self.distances, self.shares)
        return (len(self.centre), *(array.tobytes() for array in arrays))

    def thinned(self, some: slice) -> RowPairs:
        """Return some of the pairs, with weights that sum to one."""
        shares = self.shares[some] / self.shares[some].sum()
        return RowPairs(self.centre, self.norms[:, some], self.cosines[some], self.distances[some], shares)

    def from_the_origin(self) -> RowPairs:
        """Return the same pairs of rows of unit norm as seen from the origin."""
        cosines = np.clip(1 - self.distances**2 / 2, -1, 1)
        norms = np.ones_like(self.norms)
        return RowPairs(np.zeros_like(self.centre), norms, cosines, self.distances, self.shares)

    @staticmethod
    def at_distances(distances: NDArray, d: int) -> RowPairs:
        """Return pairs of rows in R^d that lie on opposite sides of the centre, at these distances."""
        n = len(distances)
        return RowPairs(
            np.zeros(d), np.tile(distances / 2, (2, 1)), -np.ones(n), distances, np.full(n, 1 / n)
        )

    @staticmethod
    def of_themselves(centre: NDArray, norms: NDArray) -> RowPairs:
        """Return pairs of a row and itself, at these distances from the centre."""
        n = len(norms)
        return RowPairs(centre, np.tile(norms, (2, 1)), np.ones(n), np.zeros(n), np.full(n, 1 / n))

    @staticmethod
    def within(nearest: float, farthest: float, d: int) -> RowPairs:
        """Return a grid of pairs of rows in R^d whose distances from the centre are in this range."""
        norms, cosines = np.linspace(nearest, farthest, _N_GRID_NORMS), np.linspace(-1, 1, _N_GRID_COSINES)
        i, j = np.triu_indices(len(norms))
        first, second = (np.repeat(norms[side], len(cosines)) for side in (i, j))
        cosines = np.tile(cosines, len(i))
        distances = np.sqrt(np.maximum(first**2 + second**2 - 2 * first * second * cosines, 0))
        shares = np.full(len(cosines), 1 / len(cosines))
        return RowPairs(np.zeros(d), np.array([first, second]), cosines, distances, shares)

    @staticmethod
    def of(X: Rows, n_pairs: int) -> RowPairs:
        """Return about n_pairs pairs of the rows X (n, d), dense or sparse, which do not depend on their order."""
        centre, n = mean_row(X), X.shape[0]
        order = lexicographic_order(X) if n > _N_ROWS else np.arange(n)
        sample = X[order[spread(n, _N_ROWS)]]
        if sample.shape[0] * sample.shape[1] <= _DENSE_ELEMENTS:
            sample = dense(sample)
        distances = euclidean_distances(sample.astype(np.float64) if issparse(sample) else sample - centre)
        itself = spread(sample.shape[0], n_pairs // _SHARE_OF_DIAGONAL + 1)
        i, j = np.triu_indices(sample.shape[0], 1)
        nearest = np.argsort(distances[i, j], kind="stable")
        edges = np.unique(np.append(0, np.ceil(len(i) * np.array(_NEAREST)))).astype(int)
        chosen = [
            nearest[start:stop][spread(stop - start, n_pairs // len(_NEAREST))]
            for start, stop in pairwise(edges)
        ]
        diagonal = share_of_diagonal(n)
        shares = [np.full(len(itself), (diagonal if len(i) else 1.0) / len(itself))]
        for part, (start, stop) in zip(chosen, pairwise(edges), strict=True):
            shares.append(np.full(len(part), (1 - diagonal) * (stop - start) / len(i) / len(part)))
        first, second = (np.concatenate([itself, *(side[part] for part in chosen)]) for side in (i, j))
        return RowPairs.between(sample, centre, first, second, np.concatenate(shares))

    @staticmethod
    def between(sample: Rows, centre: NDArray, first: NDArray, second: NDArray, shares: NDArray) -> RowPairs:
        """Return the pairs of the rows first[i] and second[i] of a sample (n, d), dense or sparse."""
        if issparse(sample):
            rows = ShiftedRows.less(sample, centre)
            norms, products = rows.norms(), rows.gram()[first, second]
            distances = row_norms(rows.sparse[first] - rows.sparse[second])
        else:
            norms = row_norms(sample - centre)
            products, distances = _products_and_distances(sample - centre, first, second)
        with np.errstate(invalid="ignore", divide="ignore"):
            cosines = products / (norms[first] * norms[second])
        cosines = np.clip(np.nan_to_num(cosines, nan=1.0), -1, 1)
        return RowPairs(centre, np.array([norms[first], norms[second]]), cosines, distances, shares)


def share_of_diagonal(n_rows: int) -> float:
    """Return the share of pairs of a row with itself in all pairs of rows, of at most 1,000 rows."""
    return 1 / min(n_rows, _LARGEST_SAMPLE)


def _products_and_distances(
    rows: NDArray, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray, NDArray]:
    """Return the inner product and the distance of each pair of rows, computed in blocks of pairs."""
    n_blocks = max(1, len(first) * rows.shape[1] // _BLOCK_ELEMENTS)
    blocks = zip(np.array_split(first, n_blocks), np.array_split(second, n_blocks), strict=True)
    found = [(np.einsum("ij,ij->i", rows[i], rows[j]), row_norms(rows[i] - rows[j])) for i, j in blocks]
    products, distances = zip(*found, strict=True)
    return np.concatenate(products), np.concatenate(distances)


def spread(n: int, most: int) -> NDArray[np.int64]:
    """Return at most ``most`` of the numbers 0, ..., n-1, evenly spread."""
    count = min(n, most)
    return ((np.arange(count) + 0.5) * n / max(count, 1)).astype(int)
