"""Products of a kernel matrix with columns, in tiles that are made, used and dropped."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows, largest_size
from rflib.maps.row_blocks import blas_threads

# Rows and columns of a tile; sums over more than these are in double precision.
_TILE = 1024
# Rows whose largest number is not between these have no squares in single precision.
_SIZES = (1e-15, 1e18)


class KernelProducts:
    """The symmetric matrix K (n, n) of a kernel and rows X (n, d), of which each tile serves twice.

    Threads take rows of tiles in turn, by their number, so that results do not depend on which one is faster.

    Attributes
    ----------
    has_single : bool
        Whether tiles can be in single precision.
    """

    @np.errstate(over="ignore")
    def __init__(self, kernel: Kernel, X: Rows):
        self._kernel, self._X = kernel, X
        self.has_single = _SIZES[0] < largest_size(X) < _SIZES[1]
        self._squares: NDArray | None = None
        if kernel.is_radial and not issparse(X):
            self._radial, factors = kernel.by_column(X.shape[1])
            rows = X - X.mean(axis=0)
            self._single = (rows if factors is None else rows * factors).astype(np.float32)
            self._columns = np.ascontiguousarray(
                self._single.T
            )  # of equal arrays numpy mirrors half of the product
            self._squares = np.einsum("ij,ij->i", self._single, self._single)
        elif self.has_single:
            self._single = X.astype(np.float32)

    def __call__(self, V: NDArray[np.float64], *, single: bool) -> NDArray[np.float64]:
        """Return K V for V (n, k); tiles of single precision have rounding errors of about 1e-6.

        Where these leave its range, the product is not finite.
        """
        n = len(V)
        starts = range(0, n, _TILE)
        threads = min(blas_threads(), len(starts))
        right = V.astype(np.float32) if single else V

        @np.errstate(over="ignore", invalid="ignore")
        def part(first: int) -> NDArray[np.float64]:
            total = np.zeros_like(V)
            for i in starts[first::threads]:
                rows = slice(i, min(i + _TILE, n))
                for j in range(i, n, _TILE):
                    columns = slice(j, min(j + _TILE, n))
                    tile = self._tile_single(rows, columns) if single else self._tile(rows, columns)
                    total[rows] += tile @ right[columns]
                    if j > i:
                        total[columns] += tile.T @ right[rows]
            return total

        if threads == 1:
            return part(0)
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(part, range(threads)), np.zeros_like(V))

    def _tile(self, rows: slice, columns: slice) -> NDArray:
        return self._kernel(self._X[rows], None if rows == columns else self._X[columns])

    def _tile_single(self, rows: slice, columns: slice) -> NDArray:
        """Return a tile from squared distances by one product, whose digits single precision has anyway."""
        if self._squares is None:
            return self._kernel(self._single[rows], None if rows == columns else self._single[columns])
        squares = self._single[rows] @ self._columns[:, columns]
        squares *= -2
        squares += self._squares[rows, None]
        squares += self._squares[columns]
        np.sqrt(np.maximum(squares, 0, out=squares), out=squares)
        return self._radial.at_distance(squares)
