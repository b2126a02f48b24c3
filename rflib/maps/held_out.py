"""Training rows that are held out: disjoint samples of the rows, and the error of features on some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows
from rflib.maps.row_blocks import row_blocks
from rflib.maps.unlike_rows import FEWEST_LOSSES

# Rows on which coefficients are fitted, rows that are held out to choose by, and rows on which the error is
# measured, if there are any more: at most so many.
_FIT_ROWS, _HELD_ROWS, _FRESH_ROWS = 4000, 500, 1000
# One row in so many is held out, but of 60 or more rows so many that they can say what is usual, and none of 19.
_HELD_SHARE, _FEWEST_ROWS = 5, 60
# Negative eigenvalues below this share of the largest one are rounding errors of a positive definite kernel.
_DEFINITE, _DEFINITE_ROWS = 1e-9, 400
# Rows whose kernel matrix with others stays in the cache. Kernel values of this size may be in single precision.
_BLOCK_ROWS, _SINGLE = 128, (1e-3, 1e3)


@dataclass(frozen=True, eq=False)
class RowSamples:
    """Disjoint samples of the ``n_rows`` training rows: columns are fitted to one, and compared on another.

    There are the ``rows`` (n, d) to fit; the ``held`` ones (m, d), which are held out, or the rows to fit if these
    are few, with their kernel matrix ``target`` (m, m); and ``fresh`` ones (l, d), which have no part in fits and
    choices. A trial has some of the rows of ``whole`` samples.
    """

    kernel: Kernel
    rows: Rows
    held: Rows
    target: NDArray[np.floating]
    n_rows: int
    fresh: NDArray[np.float64]
    whole: RowSamples | None = None

    @staticmethod
    def of(X: Rows, kernel: Kernel, rng: Generator) -> RowSamples:
        """Return samples of the rows X."""
        n = X.shape[0]
        n_held = min(_HELD_ROWS, n // _HELD_SHARE) if n >= 4 * _HELD_SHARE else 0
        if n >= _FEWEST_ROWS:
            n_held = max(n_held, FEWEST_LOSSES)
        ends = np.cumsum([n_held, _FIT_ROWS, _FRESH_ROWS])
        parts = np.split(rng.permutation(n)[: ends[2]], ends[:2])
        held, rows, fresh = (X[np.sort(part)].astype(np.float64) for part in parts)
        held = held if n_held else rows
        return RowSamples(kernel, rows, held, kernel(held), n, fresh)

    @property
    def are_held_out(self) -> bool:
        """Whether the held-out rows are others than the rows to fit."""
        return self.held is not self.rows

    @cached_property
    def matrix(self) -> NDArray[np.floating]:
        """The kernel matrix (n, n) of the rows to fit, in single precision, which is enough for most fits.

        Those of polynomials and of few rows may be exact, and large or small values need double precision.
        """
        if self.whole is not None:
            step = thinning(self.whole.rows.shape[0], self.rows.shape[0])
            return self.whole.matrix[::step, ::step]
        if self.are_held_out and self.kernel.polynomial_degree is None:
            found, (least, most) = self._matrix(np.float32), _SINGLE
            if least < max(found.max(), -found.min()) < most:
                return found
        return self._matrix(np.float64)

    def _matrix(self, dtype: type[np.floating]) -> NDArray[np.floating]:
        n = self.rows.shape[0]
        found = np.empty((n, n), dtype)
        for some in row_blocks(n, _BLOCK_ROWS):
            with np.errstate(over="ignore"):
                part = self.kernel(self.rows[some], self.rows[some.start :]).astype(dtype)
            found[some, some.start :], found[some.start :, some] = part, part.T
        return found

    @cached_property
    def is_definite(self) -> bool:
        """Whether the kernel has no negative eigenvalue on some rows, beyond rounding."""
        ends = eigvalsh(self.kernel(self.rows[:_DEFINITE_ROWS]))[[0, -1]]
        return bool(ends[0] >= -_DEFINITE * ends[1])

    def thinned(self, n: int) -> RowSamples:
        """Return at most n of the rows, with all held-out rows."""
        return replace(self, rows=self.rows[:: thinning(self.rows.shape[0], n)], whole=self)

    def error(self, columns: NDArray, signs: NDArray) -> float:
        """Return the `held_out_error` of columns at the held-out rows."""
        return held_out_error(columns, signs, self.target, self.n_rows)

    def fresh_error(self, at: Callable[[Rows], NDArray], signs: NDArray, error: float) -> float:
        """Return the `held_out_error` of the columns at the fresh rows; the given error if there are none."""
        if not self.fresh.shape[0]:
            return error
        return held_out_error(at(self.fresh), signs, self.kernel(self.fresh), self.n_rows)

    def residuals(self, columns: NDArray, signs: NDArray, numbers: Iterable[int]) -> Iterator[NDArray]:
        """Yield what the first n columns at the held-out rows lack of the target, for ascending numbers n.

        It is always the same array.
        """
        residual, start = self.target.copy(), 0
        for stop in numbers:
            part = columns[:, start:stop]
            residual -= (part * signs[start:stop]) @ part.T
            start = stop
            yield residual


def thinning(n: int, most: int) -> int:
    """Return the step with which at most so many of n rows are taken."""
    return -(-n // most)


def held_out_error(columns: NDArray, signs: NDArray, target: NDArray, n_rows: int) -> float:
    """Return the relative Frobenius error of the kernel matrix of n_rows rows, from columns at m held-out rows.

    The matrix of more rows has more pairs of different rows for each row with itself, so that these count less
    than in the ``target`` (m, m). Where the target is zero, the error is the root of the mean square.
    """
    # the product of a matrix with its own transpose takes half the time
    left = columns if (signs > 0).all() else columns * signs
    return relative_error(left @ columns.T - target, target, n_rows)


def relative_error(residual: NDArray, target: NDArray, n_rows: int) -> float:
    """Return the `held_out_error` of columns that lack a residual (m, m) of the target."""
    error, size = (mean_product(each, each, n_rows) for each in (residual, target))
    return float(np.sqrt(max(error / size if size > 0 else error, 0)))


def mean_product(left: NDArray, right: NDArray, n_rows: float) -> float:
    """Return the mean of the products of entries of two matrices (m, m), as those of n_rows rows would have it."""
    m, share, on = len(left), 1 / n_rows, float(left.diagonal() @ right.diagonal())
    off = (float(np.vdot(left, right)) - on) / (m * (m - 1)) if m > 1 else on
    return (1 - share) * off + share * on / m
