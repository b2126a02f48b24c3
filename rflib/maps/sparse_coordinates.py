"""Coordinates of sparse rows on input columns, and functions of them: those of zero, and those of the entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, empty
from rflib.kernels.sparse_rows import Rows
from rflib.maps.axis_functions import TINY, ProductFactor, Tables


@dataclass(frozen=True, eq=False)
class SparseCoordinates:
    """The coordinates (n_axes, n) of sparse rows from their mean, of which none is stored.

    Attributes
    ----------
    rows : csr_array of shape (n, n_axes)
        The rows.
    mean : ndarray of shape (n_axes,)
        Their mean.
    """

    rows: Rows
    mean: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of axes and of rows."""
        n, n_axes = self.rows.shape
        return n_axes, n

    def __getitem__(self, axes: slice) -> NDArray[np.float64]:
        """Return the coordinates on some consecutive axes, dense."""
        return (self.rows[:, axes].toarray() - self.mean[axes]).T

    def functions(self, tables: Tables) -> tuple[NDArray, NDArray]:
        """Return what `Tables.at` does: the product of all first functions, and the others divided by the first.

        Each row has the values of a row of zeros, but for those on the axes of its entries.
        """
        n_axes, n = self.shape
        starts, counts = tables.starts[:-1], np.diff(tables.starts) - 1
        every = np.repeat(np.arange(n_axes), counts + 1)
        at_zero = _values(tables, every, np.arange(len(every)), -self.mean[every])
        heads, is_other = at_zero[starts], np.ones(len(every), dtype=bool)
        is_other[starts] = False
        ratios = np.empty((int(counts.sum()), n), self.rows.dtype)
        ratios[:] = (at_zero / _divisors(heads)[every])[is_other, None]

        axes, u = self.rows.indices, self.rows.data - self.mean[self.rows.indices]
        own = _values(tables, axes, starts[axes], u)
        # The factors of many axes may underflow before their product does; some functions have both signs.
        changes = self.rows.astype(complex)
        changes.data = _logarithms(own) - _logarithms(heads)[axes]
        root = np.exp(_logarithms(heads).sum() + changes.sum(axis=1)).real

        entries = np.repeat(np.arange(len(axes)), counts[axes])
        first = np.cumsum(counts[axes]) - counts[axes]
        functions = starts[axes][entries] + 1 + np.arange(len(entries)) - first[entries]
        row = np.repeat(np.arange(n), np.diff(self.rows.indptr))[entries]
        values = _values(tables, axes[entries], functions, u[entries]) / _divisors(own)[entries]
        ratios[functions - axes[entries] - 1, row] = values
        return root.astype(self.rows.dtype), ratios


def room(coordinates: Array | SparseCoordinates, n_columns: int) -> Array:
    """Return an array (n, n_columns) to be filled, beside coordinates (n_axes, n)."""
    like = coordinates.rows if isinstance(coordinates, SparseCoordinates) else coordinates
    return empty((coordinates.shape[1], n_columns), like)


def _divisors(heads: NDArray) -> NDArray:
    return np.where(np.abs(heads) > TINY, heads, TINY)


def _logarithms(values: NDArray) -> NDArray[np.complex128]:
    return np.log(np.where(values == 0, np.finfo(float).tiny, values).astype(complex))


def _values(tables: Tables, axes: NDArray, functions: NDArray, u: NDArray) -> NDArray[np.float64]:
    """Return the functions of some numbers on their axes at coordinates u, all (n,)."""
    found = np.empty(len(u))
    by_nodes = tables.kinds[axes] == 0
    for is_group, evaluate in ((by_nodes, _by_nodes), (~by_nodes, _by_series)):
        if is_group.any():
            found[is_group] = evaluate(tables, axes[is_group], functions[is_group], u[is_group])
    return found


def _by_nodes(tables: Tables, axes: NDArray, functions: NDArray, u: NDArray) -> NDArray[np.float64]:
    found = np.zeros(len(u))
    for m in range(int(tables.lengths[axes].max())):
        found += tables.series[functions, m] * tables.kernel.between(tables.nodes[axes, m], u)
    return found


def _by_series(tables: Tables, axes: NDArray, functions: NDArray, u: NDArray) -> NDArray[np.float64]:
    kernel, (low, high) = tables.kernel, tables.ends[:, axes]
    inside = np.clip(u, low, high) if isinstance(kernel, ProductFactor) else u
    t = (2 * inside - (low + high)) / (high - low)
    found = _clenshaw(tables.series[functions], t)
    by_ratio = tables.kinds[axes] == 2
    firsts = tables.starts[axes[by_ratio]]
    heads = np.exp(_clenshaw(tables.series[firsts], t[by_ratio]))
    found[by_ratio] = heads * np.where(functions[by_ratio] == firsts, 1, found[by_ratio])
    return found * kernel.beyond(u - inside) if isinstance(kernel, ProductFactor) else found


def _clenshaw(series: NDArray, t: NDArray) -> NDArray[np.float64]:
    """Return Chebyshev series (n, m) at t (n,) by Clenshaw's recurrence."""
    following, after = np.zeros(len(t)), np.zeros(len(t))
    for m in range(series.shape[1] - 1, 0, -1):
        following, after = series[:, m] + 2 * t * following - after, following
    found: NDArray[np.float64] = series[:, 0] + t * following - after
    return found
