"""The distances at which a radial kernel is needed: a ball around the data, and a sample of their distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from rflib.kernels.base import UNIT_NORM_TOLERANCE
from rflib.kernels.distances import euclidean_distances
from rflib.kernels.namespaces import Array, beside, namespace, widest
from rflib.kernels.sparse_rows import Rows, ShiftedRows, dense, largest_size, lexicographic_order, mean_row

_SAMPLE_ROWS = 1000
_RESOLUTION = 1e-7  # Distances up to this multiple of the largest entry are rounding errors.
_BALL_STEPS = 8
_MARGIN = 1.5
_BLOCK_ELEMENTS = 1 << 17


@dataclass(frozen=True, eq=False)
class Domain:
    """The number of input columns, and the distances at which a measure must represent the kernel.

    It has the number d of input columns, the largest distance and a sorted sample of pairwise distances, both in
    units of the inputs.
    """

    dimension: int
    zmax: float
    distances: NDArray

    @staticmethod
    def of(X: Rows) -> DomainOfRows:
        """Return the domain of the rows X (n, d), dense or sparse, which does not depend on their order."""
        return DomainOfRows(X)


class DomainOfRows(Domain):
    """The domain of given rows, which is computed on demand.

    zmax is the diameter of their `enclosing_ball`, which is 2 if all rows have unit norm.
    """

    rows: Rows

    def __init__(self, rows: Rows) -> None:
        vars(self).update(dimension=rows.shape[1], rows=rows)

    @cached_property
    def ball(self) -> tuple[NDArray[np.float64], float]:
        """The centre (d,) and the radius of the ball around the rows."""
        return enclosing_ball(self.rows)

    @cached_property
    def zmax(self) -> float:
        """The largest distance, which is the diameter of the ball."""
        return 2 * self.ball[1]

    @cached_property
    def distances(self) -> NDArray:
        """The sorted sample of distances between different rows, which are zero between equal ones."""
        X, n = self.rows, self.rows.shape[0]
        order = lexicographic_order(X) if n > _SAMPLE_ROWS else np.arange(n)
        sample = X[order[np.linspace(0, n - 1, min(n, _SAMPLE_ROWS)).astype(int)]].astype(np.float64)
        z = np.sort(euclidean_distances(sample)[np.triu_indices(sample.shape[0], 1)])
        return np.minimum(z if z.any() else np.linspace(0, self.zmax, 101)[1:], self.zmax)


def enclosing_ball(X: Rows) -> tuple[NDArray[np.float64], float]:
    """Return the centre (d,) and the radius of a ball that contains the rows X (n, d) and rows like them.

    If all rows have unit norm, it is the unit ball, because new rows will have unit norm too. Otherwise it is
    nearly the smallest ball around the rows (Badoiu & Clarkson 2003), with its radius enlarged by half, because
    new rows may be farther out. If all rows are equal, the radius is 1/2, because there is no unit of length.
    """
    origin = np.zeros(X.shape[1])
    if np.abs(distances_from(origin, X) - 1).max() <= UNIT_NORM_TOLERANCE:
        return origin, 1.0
    centre = best = mean_row(X)
    radius = np.inf
    for step in range(_BALL_STEPS):
        distances = distances_from(centre, X)
        largest = float(distances.max())
        if largest < radius:
            best, radius = centre, largest
        farthest = mean_row(X[distances >= largest * (1 - _RESOLUTION)])
        centre = centre + (farthest - centre) / (step + 2)
    rounding = _RESOLUTION * largest_size(X)
    if radius <= rounding and distances_from(dense(X[:1])[0], X).max() <= (rounding if issparse(X) else 0):
        return best, 0.5
    return best, _MARGIN * radius


def distances_from(centre: NDArray, X: Rows) -> Array:
    """Return the distances of the rows X (n, d) from a point (d,), shape (n,).

    They are in double precision, where the device of the rows has it.
    """
    if namespace(X) is not np:
        rows = widest(X)
        return namespace(X).linalg.vector_norm(rows - beside(centre, rows), axis=1)
    if issparse(X):
        return ShiftedRows.less(X, centre).norms()
    blocks = gen_batches(len(X), max(1, _BLOCK_ELEMENTS // X.shape[1]))
    return np.sqrt(np.concatenate([row_norms(X[rows] - centre, squared=True) for rows in blocks]))
