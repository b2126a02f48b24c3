"""Euclidean distances that keep their digits: by inner products, and by differences where these would cancel."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import safe_sparse_dot

from rflib.kernels.namespaces import (
    Array,
    empty,
    in_type_of,
    is_single,
    namespace,
    some_rows,
    take_rows,
    widest,
)
from rflib.kernels.sparse_rows import Rows, largest_size, row_sums, squared_norms, times_columns

# Where the squared norm of the median of so many rows is more than so many times the spread about it, products are
# those of rows less the median: an offset of all rows costs no digits.
_ORIGIN_ROWS, _FAR = 15, 10
# |x|^2 + |y|^2 - 2 <x, y> has a rounding error of a few eps (|x|^2 + |y|^2). Squares below this multiple of the
# sum, or below _TINY, are computed from differences. By single precision of the rows and of the products: the
# relative error of a distance is then at most about 1e-12, 1e-7, and 1e-5 on devices without float64.
_NEAR = {(False, False): 1e-3, (True, False): 1e-8, (True, True): 0.05}
_TINY = {False: 1e-290, True: 1e-30}
# Numbers in this range have differences and products whose squares neither overflow nor underflow.
_SAFE_SIZES = (1e-60, 1e60)
# scipy computes all differences, where there are few columns or more than this share of a tile needs them.
_FEW_COLUMNS = 12
_MANY = 1 / 16
# Rows of both sides for which distances are computed at a time, and numbers in the differences of some pairs.
_TILE, _SPARSE_TILE, _DEVICE_TILE = 256, 360, 4096
_DIFFERENCES = 1 << 17


def euclidean_distances(X: Rows, Y: Rows | None = None, factors: NDArray | None = None) -> Array:
    """Return the Euclidean distances between the rows of X and those of Y, in the type of X.

    Wherever the rows are, the relative error of a distance is at most about 1e-12 in double precision, and
    rounding in single precision. Equal rows have distance 0. Beside the result, memory is needed for a tile of it.

    Parameters
    ----------
    X, Y : array or csr_array of shape (n, d) and (m, d)
        Checked rows of the same type; without Y, the distances are those among the rows of X, and symmetric.
    factors : ndarray of shape (d,), optional
        Positive factors of the columns.
    """
    tiles = _Tiles(X, X if Y is None else Y, factors)
    n, m, is_sparse = X.shape[0], tiles.Y.shape[0], issparse(X) or issparse(Y)
    distances = empty((n, m), X)
    tile = _SPARSE_TILE if is_sparse else _TILE if namespace(X) is np else _DEVICE_TILE
    # Columns of sparse rows are slow to cut, and their products are symmetric to the bit.
    width = m if is_sparse else min(m, 8 * tile, tile * tile // min(n, tile))
    height = max(1, tile * tile // width)
    for i in range(0, n, height):
        rows = slice(i, min(i + height, n))
        for j in range(0, m, width):
            columns = slice(j, min(j + width, m))
            if tiles.are_mirrored and i > j:
                distances[rows, columns] = distances[columns, rows].T
                continue
            part = in_type_of(tiles.distances(rows, columns), X)
            distances[rows, columns] = (part + part.T) / 2 if tiles.are_mirrored and i == j else part
    return distances


class _Tiles:
    """The distances of some rows of X to some of Y, with what is computed once for all of them."""

    def __init__(self, X: Rows, Y: Rows, factors: NDArray | None) -> None:
        # Dense rows are widened tile by tile, while they are in the cache.
        self.X = widest(X) if issparse(X) else X
        self.Y = self.X if Y is X else widest(Y) if issparse(Y) else Y
        self.factors = factors
        self.are_mirrored = Y is X and not issparse(X)
        self.is_short = X.shape[1] <= _FEW_COLUMNS and self.has_cdist
        if not self.is_short:
            self.is_narrow = is_single(widest(some_rows(X, slice(0, 1))))
            # Sums of many terms lose more.
            self.near = _NEAR[is_single(X), self.is_narrow] * max(1.0, X.shape[1] / 1000) ** 0.5
            self.tiny = _TINY[self.is_narrow]
            self._prepare_products()

    @cached_property
    def has_cdist(self) -> bool:
        """Whether scipy computes differences, and their squares neither overflow nor underflow."""
        given = [self.X, self.Y] if self.factors is None else [self.X, self.Y, self.factors]
        return all(isinstance(values, np.ndarray) and _is_safe(values) for values in given)

    def _prepare_products(self) -> None:
        sides = [self.X] if self.Y is self.X else [self.X, self.Y]
        self.unit = _unit(self.is_narrow, *sides)
        if self.unit != 1:
            sides = [rows / self.unit for rows in sides]
        origin = None if any(map(issparse, sides)) else _far_origin(sides[-1])
        if origin is not None:
            sides = [rows - origin for rows in sides]
        if self.factors is not None:
            unit = _unit(False, self.factors)
            sides = [times_columns(widest(rows), self.factors / unit) for rows in sides]
            self.unit *= unit
        norms = [squared_norms(rows) for rows in sides]
        self.left_norms, self.right_norms = norms[0], norms[-1]
        # No square above it is computed from differences.
        self.most = (
            self.near * sum(float(namespace(each).max(each)) for each in (norms[0], norms[-1])) + self.tiny
        )
        left, right = sides[0], sides[-1].T.tocsr() if issparse(sides[-1]) else sides[-1].T
        is_left = left.shape[0] <= right.shape[1]  # the smaller side is copied
        self.left, self.right = (-2.0 * widest(left), right) if is_left else (left, -2.0 * widest(right))

    def distances(self, rows: slice, columns: slice) -> Array:
        """Return the distances of some rows of X to some rows of Y; of sparse rows, to all of them."""
        if self.is_short:
            return self._by_cdist(rows, columns)
        right = self.right if issparse(self.right) else widest(self.right[:, columns])
        left = self.left[rows] if issparse(self.left) else widest(self.left[rows, :])
        is_sparse = issparse(left) or issparse(right)
        squares = safe_sparse_dot(left, right, dense_output=True) if is_sparse else left @ right
        xp, (height, width) = namespace(squares), squares.shape
        bounds = self.left_norms[rows, None] + self.right_norms[None, columns]
        squares += bounds
        squares = xp.reshape(squares, (-1,))
        itself = slice(0, 0)
        if self.Y is self.X and columns.start <= rows.start < columns.stop:
            itself = slice(rows.start - columns.start, None, width + 1)
            squares[itself] = xp.inf
        found = xp.sqrt(xp.abs(squares))
        if self.unit != 1:
            found *= self.unit
        found[itself] = 0.0
        if float(xp.min(squares)) <= self.most:
            near = squares <= xp.reshape(self.near * bounds + self.tiny, (-1,))
            places = xp.nonzero(near)[0]
            if places.shape[0] > _MANY * near.shape[0] and self.has_cdist:
                return self._by_cdist(rows, columns)
            if places.shape[0]:
                found[near] = self._by_differences(
                    places // width + rows.start, places % width + columns.start
                )
        return xp.reshape(found, (height, width))

    def _by_cdist(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        weights = None if self.factors is None else self.factors**2
        found: NDArray[np.float64] = cdist(self.X[rows], self.Y[columns], w=weights)
        return found

    def _by_differences(self, i: Array, j: Array) -> Array:
        """Return the distances of the rows i of X to the rows j of Y."""
        is_sparse = issparse(self.X) and issparse(self.Y)
        numbers = (
            max(self.X.nnz / self.X.shape[0], self.Y.nnz / self.Y.shape[0]) if is_sparse else self.X.shape[1]
        )
        step = max(1, int(_DIFFERENCES / (1 + numbers)))
        parts = [slice(k, min(k + step, i.shape[0])) for k in range(0, i.shape[0], step)]
        return namespace(i).concat([self._of_pairs(i[part], j[part]) for part in parts])

    def _of_pairs(self, i: Array, j: Array) -> Array:
        offsets = widest(take_rows(self.X, i)) - widest(take_rows(self.Y, j))
        if self.factors is not None:
            offsets = times_columns(offsets, self.factors)
        # They are divided by the largest one, so that their squares can be summed.
        xp, is_sparse = namespace(offsets), issparse(offsets)
        sizes = abs(offsets).max(axis=1).toarray().ravel() if is_sparse else xp.max(xp.abs(offsets), axis=1)
        sizes = xp.where(xp.isfinite(sizes) & (sizes > 0), sizes, xp.ones_like(sizes))
        if is_sparse:
            offsets.data /= np.repeat(sizes, np.diff(offsets.indptr))
            return sizes * np.sqrt(row_sums(offsets.power(2)))
        offsets = offsets / sizes[:, None]
        return sizes * xp.sqrt(xp.sum(offsets * offsets, axis=1))


def _is_safe(values: NDArray) -> bool:
    sizes = np.abs(values)
    return is_single(values) or bool(
        np.all((sizes == 0) | (sizes > _SAFE_SIZES[0]) & (sizes < _SAFE_SIZES[1]))
    )


def _unit(is_narrow: bool, *arrays: Rows) -> float:
    """Return a power of two that divides numbers so that their squares do not overflow; usually 1."""
    size, most = max(map(largest_size, arrays)), 100 if is_narrow else 1000
    exponent = np.floor(np.log2(size or 1.0))
    return float(2.0 ** np.clip(exponent, -most, most)) if abs(exponent) > most / 4 else 1.0


def _far_origin(X: Array) -> Array | None:
    """Return the median of some rows, shape (d,), if all rows are far from zero beside their spread."""
    places = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _ORIGIN_ROWS)).astype(int)
    xp, rows = namespace(X), widest(take_rows(X, places))
    median = xp.sort(rows, axis=0)[len(places) // 2, :]
    spread = float(xp.sum((rows - median) ** 2)) / len(places)
    return median if float(xp.sum(median**2)) > _FAR * spread else None
