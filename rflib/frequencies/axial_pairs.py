"""A sample of rows of unit norm that is stratified along the axis through their mean, and all pairs among them.

The error of harmonics about an axis depends on the coordinate t along it, and few rows far from all others may
have most of it. Therefore both ends of the range of t have strata of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.sparse_rows import Rows, lexicographic_order, mean_row
from rflib.measures.row_pairs import RowPairs

_STRATA = (0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1)
_ROWS_OF_STRATUM = 16
# The diagonal counts as one of this many pairs at most, as in `RowPairs`.
_LARGEST_SAMPLE = 1000
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class AxialPairs:
    """Rows of unit norm, seen along the axis through their mean.

    Attributes
    ----------
    length : float
        Norm of the mean.
    coordinates, weights : ndarray of shape (n_rows,)
        Coordinate t of each row along the axis, and its share of all rows.
    pairs : RowPairs
        All pairs of these rows, seen from the mean. Their cosines are not computed.
    """

    length: float
    coordinates: NDArray
    weights: NDArray
    pairs: RowPairs

    @staticmethod
    def of(X: Rows) -> AxialPairs:
        """Return a sample of the rows X (n, d), dense or sparse, which does not depend on their order."""
        mean, n = mean_row(X), X.shape[0]
        length = float(np.linalg.norm(mean))
        t = np.asarray(X @ (mean / (length or 1.0)), dtype=np.float64).round(_DIGITS)
        order = lexicographic_order(X)
        order = order[np.argsort(t[order], kind="stable")]
        edges = np.unique(np.ceil(n * np.array(_STRATA)).astype(int))
        places = [
            start + ((np.arange(count) + 0.5) * (stop - start) / count).astype(int)
            for start, stop in pairwise(edges)
            for count in [min(stop - start, _ROWS_OF_STRATUM)]
        ]
        sizes = np.diff(edges) / n
        weights = np.concatenate(
            [np.full(len(p), size / len(p)) for p, size in zip(places, sizes, strict=True)]
        )
        chosen = order[np.concatenate(places)]
        sample, along = X[chosen], t[chosen]
        gram = sample @ sample.T
        products = np.asarray(gram.toarray() if issparse(gram) else gram, dtype=np.float64)
        np.fill_diagonal(products, 1.0)
        i, j = np.triu_indices(len(along))
        shares = np.where(i == j, weights[i] / min(n, _LARGEST_SAMPLE), 2 * weights[i] * weights[j])
        norms = np.sqrt(np.maximum(1 + length**2 - 2 * length * along, 0))
        return AxialPairs(
            length,
            along,
            weights,
            RowPairs(
                mean,
                norms[[i, j]],
                np.zeros(len(i)),
                np.sqrt(np.maximum(2 - 2 * products[i, j], 0)),
                shares / shares.sum(),
            ),
        )
