"""Eigenfunctions of a kernel on the line, for the coordinates of rows along each of their axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import (
    Array,
    beside,
    empty,
    held_beside,
    in_type_of,
    multiply_into,
    namespace,
    ones,
)

# A column with at most so many values has its functions at these, exactly.
FEW_VALUES = 30
# Number of nodes that stand for the law of a coordinate: at least, at most, and for each of the kernel's widths.
_NODES = 12, 48, 6
# Coordinates whose range is below this multiple of the width count as equal.
_CONSTANT = 1e-6
# Eigenvalues below this share of the first one are left out.
_LEAST_SHARE = 1e-10
# Numbers of Chebyshev coefficients that are tried, and the largest last one of a function that is smooth.
_DEGREES = 8, 16, 32, 64, 128
_SMOOTH = 1e-9
# Where the Chebyshev series ends: so many of the kernel's widths beyond the outermost nodes, but no farther beyond
# them than the coordinates are from each other.
_MARGIN = 2
# Axes whose functions are evaluated together.
_AXES = 16
# A function's smallest value by which another one is divided.
TINY = 1e-30


@dataclass(frozen=True)
class ProductFactor:
    """The factor of one coordinate of a kernel that is a product, a function of the difference of coordinates.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    width : float
        The difference of coordinates at which it changes.
    """

    kernel: Kernel
    width: float

    def between(self, u: Array, v: Array) -> Array:
        """Return the factor at coordinates u and v, which are broadcast."""
        return self.kernel.on_line(u - v)

    def beyond(self, distance: Array) -> Array:
        """Return how much the functions have fallen at a distance from where they are known."""
        return self.kernel.on_line(distance)


@dataclass(frozen=True)
class ExponentialSeries:
    """The first terms of exp(u v / width^2), whose functions are polynomials.

    Attributes
    ----------
    width : float
        The unit of the coordinates.
    degree : int
        The degree of the last term in each coordinate.
    """

    width: float
    degree: int

    def between(self, u: Array, v: Array) -> Array:
        """Return the series at coordinates u and v, which are broadcast."""
        x = u * v / self.width**2
        total = term = 0 * x + 1
        for j in range(1, self.degree + 1):
            term = term * x / j
            total = total + term
        return total


LineKernel = ProductFactor | ExponentialSeries


@dataclass(frozen=True, eq=False)
class AxisFunctions:
    """Functions z_aj on the axes of rows, with k(u, v) = sum_j z_aj(u) z_aj(v) for the coordinates u, v on axis a.

    They are the eigenfunctions of the kernel for the law of the coordinates, each multiplied by the square root of
    its eigenvalue. The law is that of the nodes of Gauss quadrature, or of all values if there are few. The
    functions are continued to other coordinates by Nystroem's formula, sum_m k(u, q_m) c_mj. Where they are
    smooth, they are evaluated by Chebyshev series in an interval around the nodes; beyond it, they decay as the
    kernel does.

    Attributes
    ----------
    kernel : LineKernel
        The kernel of one coordinate.
    nodes : ndarray of shape (n_axes, m)
        The nodes of each axis; NaN where it has fewer than m.
    ends : ndarray of shape (2, n_axes)
        The least and the largest coordinate of each axis.
    values : ndarray of shape (n_axes, J)
        The eigenvalues of each axis, descending; 0 where it has fewer than J.
    coefficients : ndarray of shape (n_axes, m, at most J)
        The c_mj of the first functions, which are all of them unless they were `cut`.
    """

    kernel: LineKernel
    nodes: NDArray[np.float64]
    ends: NDArray[np.float64]
    values: NDArray[np.float64]
    coefficients: NDArray[np.float64]

    @staticmethod
    def of(coordinates: NDArray, spreads: NDArray, kernel: LineKernel) -> AxisFunctions:
        """Return the functions for coordinates (n, n_axes) of a sample of rows.

        The coordinates of all rows have the mean 0 and these standard deviations (n_axes,).
        """
        u = np.sort(coordinates.T.astype(np.float64), axis=1)
        n_axes, n = u.shape
        n_values = 1 + (u[:, 1:] > u[:, :-1]).sum(axis=1)
        wide = (u[:, -1] - u[:, 0]) / kernel.width
        least, most, per_width = _NODES
        sizes = np.clip(per_width * np.exp2(np.ceil(np.log2(np.maximum(wide, 1)))), least, most)
        few = (n_values <= FEW_VALUES) & (n_values < n)
        sizes = np.where(wide < _CONSTANT, 1, np.where(few, n_values, np.minimum(sizes, n_values))).astype(
            int
        )
        few &= sizes > 1
        m = int(sizes.max())
        nodes, values = np.full((n_axes, m), np.nan), np.zeros((n_axes, m))
        coefficients = np.zeros((n_axes, m, m))
        for size in np.unique(sizes):
            for law, chosen in ((_counts, few), (_gauss, ~few)):
                axes = np.flatnonzero(chosen & (sizes == size))
                if len(axes):
                    q, weights = law(u[axes], spreads[axes], int(size))
                    found = _eigenfunctions(q, weights, kernel)
                    nodes[axes, :size], values[axes, :size], coefficients[axes, :size, :size] = q, *found
        n_kept = max(1, int((values > 0).sum(axis=1).max()))
        return AxisFunctions(kernel, nodes, u[:, [0, -1]].T, values[:, :n_kept], coefficients[:, :, :n_kept])

    @property
    def shares(self) -> NDArray[np.float64]:
        """The eigenvalues, divided by the first ones."""
        return self.values / self.values[:, :1]

    def cut(self, least: float) -> AxisFunctions:
        """Return the functions without the coefficients of those whose share is less."""
        n_kept = max(1, int((self.shares >= least).sum(axis=1).max()))
        return replace(self, coefficients=self.coefficients[:, :, :n_kept].copy())

    @staticmethod
    def joined(parts: list[AxisFunctions]) -> AxisFunctions:
        """Return the functions of a kernel on the axes of all parts."""
        n_axes = sum(len(part.values) for part in parts)
        m, n_kept = (max(part.coefficients.shape[i] for part in parts) for i in (1, 2))
        nodes = np.full((n_axes, m), np.nan)
        values = np.zeros((n_axes, max(part.values.shape[1] for part in parts)))
        coefficients, start = np.zeros((n_axes, m, n_kept)), 0
        for part in parts:
            k, size, kept = part.coefficients.shape
            axes, start = slice(start, start + k), start + k
            nodes[axes, :size], values[axes, : part.values.shape[1]] = part.nodes, part.values
            coefficients[axes, :size, :kept] = part.coefficients
        ends = np.concatenate([part.ends for part in parts], axis=1)
        return AxisFunctions(parts[0].kernel, nodes, ends, values, coefficients)


def _counts(u: NDArray, spreads: NDArray, size: int) -> tuple[NDArray, NDArray]:
    """Return the values (n_axes, size) of sorted coordinates (n_axes, n) and their shares."""
    new = np.diff(u, axis=1, prepend=-np.inf) > 0
    starts = np.nonzero(new)[1].reshape(-1, size)
    shares = np.diff(starts, axis=1, append=u.shape[1]) / u.shape[1]
    return np.take_along_axis(u, starts, axis=1), shares


def _gauss(u: NDArray, spreads: NDArray, size: int) -> tuple[NDArray, NDArray]:
    """Return the nodes and the weights (n_axes, size) of Gauss quadrature for the law of coordinates (n_axes, n).

    They have the first 2 size - 1 moments of the coordinates, which are first moved so that their mean and their
    standard deviation are those of all rows (Golub and Welsch 1969; the recurrence is that of Stieltjes).
    """
    n = u.shape[1]
    centred = u - u.mean(axis=1, keepdims=True)
    own = centred.std(axis=1, keepdims=True)
    unit = centred / np.where(own > 0, own, 1)
    diagonal, next_to_it = np.zeros((len(u), size)), np.zeros((len(u), size))
    before, vector = np.zeros_like(unit), np.full_like(unit, 1 / np.sqrt(n))
    for k in range(size):
        diagonal[:, k] = np.einsum("ij,ij,ij->i", unit, vector, vector)
        following = (unit - diagonal[:, k, None]) * vector - (next_to_it[:, k - 1, None] * before if k else 0)
        next_to_it[:, k] = np.sqrt(np.einsum("ij,ij->i", following, following))
        before, vector = vector, following / np.where(next_to_it[:, k] > 0, next_to_it[:, k], 1)[:, None]
    matrices = np.zeros((len(u), size, size))
    i = np.arange(size)
    matrices[:, i, i] = diagonal
    matrices[:, i[1:], i[:-1]] = matrices[:, i[:-1], i[1:]] = next_to_it[:, :-1]
    nodes, vectors = np.linalg.eigh(matrices)
    return nodes * spreads[:, None], vectors[:, 0, :] ** 2


def _eigenfunctions(q: NDArray, weights: NDArray, kernel: LineKernel) -> tuple[NDArray, NDArray]:
    """Return eigenvalues (n_axes, m) and coefficients (n_axes, m, m) of the functions, the largest first."""
    roots = np.sqrt(weights)
    matrices = kernel.between(q[:, :, None], q[:, None, :]) * roots[:, :, None] * roots[:, None, :]
    values, vectors = np.linalg.eigh(matrices)
    values, vectors = values[:, ::-1], vectors[:, :, ::-1]
    # the first function of a positive kernel has one sign
    vectors = vectors * np.where(vectors[:, :, :1].sum(axis=1, keepdims=True) < 0, -1, 1)
    kept = values > _LEAST_SHARE * values[:, :1]
    scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1)), 0)
    return np.where(kept, values, 0), roots[:, :, None] * vectors * scale[:, None, :]


@dataclass(frozen=True, eq=False)
class Tables:
    """Some of the functions on the axes, ready to be evaluated.

    Attributes
    ----------
    kernel : LineKernel
        The kernel of one coordinate.
    starts : ndarray of shape (n_axes + 1,)
        The functions of axis a are numbers starts[a] to starts[a + 1]; the first of them is its first function.
    series : ndarray of shape (n_functions, m)
        Their Chebyshev coefficients or the coefficients of the kernel at the nodes.
    lengths : ndarray of shape (n_axes,)
        Number of coefficients that are used.
    ends : ndarray of shape (2, n_axes)
        The interval of the Chebyshev series; NaN where there are nodes instead.
    nodes : ndarray of shape (n_axes, m)
        The nodes.
    """

    kernel: LineKernel
    starts: NDArray[np.int64]
    series: NDArray[np.float64]
    lengths: NDArray[np.int64]
    ends: NDArray[np.float64]
    nodes: NDArray[np.float64]

    @staticmethod
    def of(functions: AxisFunctions, axes: NDArray[np.int64], powers: NDArray[np.int64]) -> Tables:
        """Return the first function of every axis, and these others, which are sorted by axis and power."""
        n_axes = len(functions.nodes)
        starts = np.arange(n_axes + 1) + np.searchsorted(axes, np.arange(n_axes + 1))
        chosen = np.zeros(starts[-1], dtype=int)
        chosen[np.arange(len(axes)) + 1 + axes] = powers
        n_nodes = (~np.isnan(functions.nodes)).sum(axis=1)
        series: list[NDArray] = []
        lengths = n_nodes.copy()
        ends = np.full((2, n_axes), np.nan)
        for a in range(n_axes):
            q = functions.nodes[a, : n_nodes[a]]
            c = functions.coefficients[a, : n_nodes[a], chosen[starts[a] : starts[a + 1]]].reshape(-1, len(q))
            if len(q) > _DEGREES[0]:
                low, high = _interval(q, functions.ends[:, a], functions.kernel.width)
                if (smooth := _chebyshev(functions.kernel, q, c, low, high)) is not None:
                    c, ends[:, a], lengths[a] = smooth, (low, high), smooth.shape[1]
            series.append(c)
        table = np.zeros((starts[-1], int(lengths.max())))
        for a, c in enumerate(series):
            table[starts[a] : starts[a + 1], : c.shape[1]] = c
        return Tables(functions.kernel, starts, table, lengths, ends, functions.nodes)

    def at(self, u: Array) -> tuple[Array, Array]:
        """Return the product of all first functions (n,), and the others (n_others, n) divided by the first ones.

        Parameters
        ----------
        u : array of shape (n_axes, n)
            Coordinates.
        """
        xp, n = namespace(u), u.shape[1]
        ratios = empty((len(self.series) - len(self.lengths), n), u)
        root = ones((n,), u)
        for group in self._groups:
            values = self._values(group, u[group.axes, :])
            heads = values[:, 0, :]
            root *= xp.prod(heads, axis=0)
            divisors = xp.where(xp.abs(heads) > TINY, heads, xp.full_like(heads, TINY))
            for i, rows in enumerate(group.ratios):
                count = rows.stop - rows.start
                if count:
                    ratios[rows, :] = values[i, 1 : count + 1, :] / divisors[i, :]
        return root, ratios

    @cached_property
    def _groups(self) -> list[_Group]:
        """Consecutive axes whose functions are evaluated together: all by their series, or all by their nodes."""
        by_nodes = np.isnan(self.ends[0])
        found: list[_Group] = []
        start = 0
        for stop in range(1, len(by_nodes) + 1):
            if stop == len(by_nodes) or by_nodes[stop] != by_nodes[start] or stop - start == _AXES:
                axes = slice(start, stop)
                counts = np.diff(self.starts[start : stop + 1])
                series = np.zeros((stop - start, int(counts.max()), int(self.lengths[axes].max())))
                for i, (first, count) in enumerate(zip(self.starts[axes], counts, strict=True)):
                    series[i, :count] = self.series[first : first + count, : series.shape[2]]
                firsts = self.starts[axes] - np.arange(start, stop)
                ratios = [slice(int(a), int(a + count - 1)) for a, count in zip(firsts, counts, strict=True)]
                ends = None if by_nodes[start] else self.ends[:, axes]
                found.append(_Group(axes, series, np.nan_to_num(self.nodes[axes]), ends, ratios))
                start = stop
        return found

    def _values(self, group: _Group, u: Array) -> Array:
        """Return the functions of some axes at their coordinates (n_axes, n), shape (n_axes, n_functions, n)."""
        xp, series = namespace(u), held_beside(group.series, u)
        if group.ends is None:
            nodes = beside(group.nodes[:, : group.series.shape[2]], u)
            return series @ in_type_of(self.kernel.between(nodes[:, :, None], u[:, None, :]), u)
        low, high = (beside(ends[:, None], u) for ends in group.ends)
        decays = isinstance(self.kernel, ProductFactor)
        inside = xp.minimum(xp.maximum(u, low), high) if decays else u
        values = series @ _polynomials((2 * inside - (low + high)) / (high - low), group.series.shape[2])
        if isinstance(self.kernel, ProductFactor) and bool(xp.any(u != inside)):
            values = values * in_type_of(self.kernel.beyond(u - inside), u)[:, None, :]
        return values


@dataclass(frozen=True, eq=False)
class _Group:
    """Axes, their series or coefficients (n_axes, n_functions, m), nodes, ends, and the places of their ratios."""

    axes: slice
    series: NDArray[np.float64]
    nodes: NDArray[np.float64]
    ends: NDArray[np.float64] | None
    ratios: list[slice]


def _interval(q: NDArray, ends: NDArray, width: float) -> tuple[float, float]:
    """Return where functions with these nodes have Chebyshev series: around the nodes, and most coordinates."""
    margin = min(_MARGIN * width, float(ends[1] - ends[0]))
    return float(q.min()) - margin, float(q.max()) + margin


def _polynomials(t: Array, n: int) -> Array:
    """Return the first n Chebyshev polynomials at t (n_axes, m), shape (n_axes, n, m)."""
    found = empty((t.shape[0], n, t.shape[1]), t)
    found[:, 0, :] = 1
    if n > 1:
        found[:, 1, :] = t
    twice = 2 * t
    for k in range(2, n):
        multiply_into(found[:, k, :], twice, found[:, k - 1, :])
        found[:, k, :] -= found[:, k - 2, :]
    return found


def _chebyshev(kernel: LineKernel, q: NDArray, c: NDArray, low: float, high: float) -> NDArray | None:
    """Return the Chebyshev coefficients of functions on an interval, or None if they are not smooth."""
    for n in _DEGREES:
        nodes, to_coefficients = _chebyshev_points(n)
        t = (low + high) / 2 + nodes * (high - low) / 2
        series: NDArray = (c @ kernel.between(q[:, None], t[None, :])) @ to_coefficients
        sizes = np.abs(series).max(axis=0)
        if sizes[-3:].max() < _SMOOTH * sizes.max():
            used = np.flatnonzero(sizes > _SMOOTH * 1e-3 * sizes.max())
            return series[:, : used[-1] + 1]
    return None


@cache
def _chebyshev_points(n: int) -> tuple[NDArray, NDArray]:
    angles = (np.arange(n) + 0.5) * np.pi / n
    matrix = np.cos(np.outer(angles, np.arange(n))) * 2 / n
    matrix[:, 0] /= 2
    return np.cos(angles), matrix
