"""Kernel values in single precision, and products of a kernel matrix in tiles that are made, used and dropped."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

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


class SingleKernel:
    """The values of a radial kernel between any rows and fixed ones Y (m, d), in single precision.

    Squared distances are made by one product, whose digits single precision has anyway.
    """

    def __init__(self, kernel: Any, Y: NDArray):
        self._radial, self._factors = kernel.by_column(Y.shape[1])
        self._centre = Y.mean(axis=0)
        self.fixed = self.placed(Y)
        self._columns = np.ascontiguousarray(
            self.fixed[0].T
        )  # of equal arrays numpy mirrors half of a product

    def placed(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """Return rows (n, d) in the kernel's coordinates, and their squared norms."""
        rows = X - self._centre
        rows = np.asarray(rows if self._factors is None else rows * self._factors, dtype=np.float32)
        return rows, np.einsum("ij,ij->i", rows, rows)

    def __call__(
        self, rows: NDArray, norms: NDArray, columns: slice = slice(None), out: NDArray | None = None
    ) -> NDArray:
        """Return the values (n, m) of placed rows and some of the fixed ones."""
        squares = np.matmul(rows, self._columns[:, columns], out=out)
        squares *= -2
        squares += norms[:, None]
        squares += self.fixed[1][columns]
        values: NDArray = self._radial.at_distance(np.sqrt(np.maximum(squares, 0, out=squares), out=squares))
        return values


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
        self._fast = SingleKernel(kernel, X) if kernel.is_radial and not issparse(X) else None
        if self._fast is not None:
            self._single = self._fast.fixed[0]
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
        if self._fast is None:
            return self._kernel(self._single[rows], None if rows == columns else self._single[columns])
        placed, norms = self._fast.fixed
        return self._fast(placed[rows], norms[rows], columns)
