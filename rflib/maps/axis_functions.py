"""Eigenfunctions of a kernel on the line, for the coordinates of rows along each of their axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import (
    Array,
    beside,
    empty,
    held_beside,
    in_type_of,
    is_single,
    multiply_into,
    namespace,
    ones,
    take_rows,
    zeros,
)
from rflib.maps.row_blocks import row_blocks

# A column with at most so many values has its functions at these, exactly.
FEW_VALUES = 30
# Number of nodes that stand for the values of a coordinate: at least, at most, and for each width of the kernel.
_NODES = 12, 48, 6
# Coordinates whose range is below this multiple of the width count as equal.
_CONSTANT = 1e-6
# Eigenvalues below this share of the first one are left out.
_LEAST_SHARE = 1e-10
# Numbers of Chebyshev coefficients that are tried, and the largest last one of a function that is smooth.
_DEGREES = 8, 16, 32, 64, 128
_SMOOTH = 1e-9
# The Chebyshev series ends so many widths of the kernel beyond the outermost nodes, at most the nodes' range.
_MARGIN = 2
# The most coefficients of a logarithm and of ratios, and the least share of its maximum that such a function has.
_SHORT, _LEAST_OF_FIRST = 16, 1e-3
# Axes whose functions are found together, and are evaluated together at many coordinates, and at few.
_FOUND_AXES, _AXES, _MANY_AXES = 256, 32, 1 << 12
# The smallest value of a first function, by which others are divided, by precision; what is zero in logarithms.
_LEAST_FIRST, _LEAST = {False: 1e-30, True: 1e-9}, float(np.finfo(float).tiny)
# What an axis has, as `Tables` says; the ratios have shorter series if the kernel is wide.
_AT_NODES, _SERIES, _RATIOS = range(3)


@dataclass(frozen=True)
class ProductFactor:
    """The factor of one coordinate of a kernel that is a product, a function of the difference of coordinates.

    The kernel changes at the difference ``width`` of coordinates.
    """

    kernel: Kernel
    width: float

    def between(self, u: Array, v: Array) -> Array:
        """Return the factor at coordinates u and v, which are broadcast."""
        return self.kernel.on_line(u - v)


@dataclass(frozen=True)
class ExponentialSeries:
    """The first terms of exp(u v / width^2), up to a degree in each coordinate; its functions are polynomials."""

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
    """Functions z_aj on the axes of rows, with k(u, v) = sum_j z_aj(u) z_aj(v) for the coordinates u, v on axis
    a.

    They are the eigenfunctions of the kernel for the distribution of the coordinates, each multiplied by the
    square root of its eigenvalue. The distribution is that of the ``nodes`` (n_axes, m) of Gauss quadrature, NaN
    where an axis has fewer than m, or of all values if there are few. The functions are continued to other
    coordinates by Nystroem's formula, sum_m k(u, q_m) c_mj. Where they are smooth, they are evaluated by Chebyshev
    series in an interval around the nodes; beyond it, they decay as the kernel does, or polynomials stay as they
    are at its ends.

    The ``ends`` (n_axes, 2) are the least and the largest coordinates. The eigenvalues ``values`` (n_axes, J)
    are descending, 0 where an axis has fewer than J. The ``coefficients`` c_mj (n_axes, m, at most J) are those of
    the first functions.
    """

    kernel: LineKernel
    nodes: NDArray[np.float64]
    ends: NDArray[np.float64]
    values: NDArray[np.float64]
    coefficients: NDArray[np.float64]

    @staticmethod
    def of(coordinates: Array, spreads: NDArray, kernel: LineKernel, n: int) -> AxisFunctions:
        """Return the functions for coordinates (n_axes, n_rows) of a sample of rows.

        The coordinates of all rows have the mean 0 and the standard deviations ``spreads`` (n_axes,). There are
        coefficients of the functions that the n largest products may have.
        """
        parts, largest = [], np.zeros(0)
        for some in row_blocks(len(spreads), _FOUND_AXES):
            nodes, ends, values, coefficients = _functions(coordinates[some], spreads[some], kernel)
            shares = values / values[:, :1]
            largest = -np.sort(-np.append(largest, shares[:, 1:]))[:n]
            least = largest[-1] if len(largest) == n else 0.0
            n_kept = max(1, int((shares >= least).sum(axis=1).max()))
            parts.append((nodes, ends, values, coefficients[:, :, :n_kept].copy()))
        fillings = (np.nan, 0, 0, 0)
        return AxisFunctions(kernel, *map(_stacked, zip(*parts, strict=True), fillings))


def _stacked(parts: tuple[NDArray, ...], filling: float) -> NDArray[np.float64]:
    """Return arrays (n_axes, ...) as one, filled up to the largest size in each other dimension."""
    sizes = np.max([part.shape[1:] for part in parts], axis=0)
    added = [[(0, 0), *((0, n) for n in sizes - part.shape[1:])] for part in parts]
    filled = [np.pad(part, n, constant_values=filling) for part, n in zip(parts, added, strict=True)]
    return np.concatenate(filled)


def _functions(
    coordinates: NDArray, spreads: NDArray, kernel: LineKernel
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return nodes, ends, eigenvalues and coefficients of `AxisFunctions` on some axes."""
    u = np.sort(coordinates.astype(np.float64), axis=1)
    n_axes, n = u.shape
    n_values = 1 + (u[:, 1:] > u[:, :-1]).sum(axis=1)
    wide = (u[:, -1] - u[:, 0]) / kernel.width
    least, most, per_width = _NODES
    sizes = np.clip(per_width * np.exp2(np.ceil(np.log2(np.maximum(wide, 1)))), least, most)
    few = (n_values <= FEW_VALUES) & (n_values < n)
    sizes = np.where(few, n_values, np.minimum(sizes, n_values))
    sizes = np.where(wide < _CONSTANT, 1, sizes).astype(int)
    few &= sizes > 1
    m = int(sizes.max())
    nodes, values = np.full((n_axes, m), np.nan), np.zeros((n_axes, m))
    coefficients = np.zeros((n_axes, m, m))
    for size in np.unique(sizes):
        for quadrature, chosen in ((_counts, few), (_gauss, ~few)):
            every = np.flatnonzero(chosen & (sizes == size))
            for axes in (every[some] for some in row_blocks(len(every), _AXES)):
                q, weights = quadrature(u[axes], spreads[axes], int(size), kernel.width)
                found = _eigenfunctions(q, weights, kernel)
                nodes[axes, :size], values[axes, :size], coefficients[axes, :size, :size] = q, *found
    n_kept = max(1, int((values > 0).sum(axis=1).max()))
    return nodes, u[:, [0, -1]], values[:, :n_kept], coefficients[:, :, :n_kept]


def _counts(u: NDArray, spreads: NDArray, size: int, width: float) -> tuple[NDArray, NDArray]:
    """Return the values (n_axes, size) of sorted coordinates (n_axes, n) and their shares."""
    new = np.diff(u, axis=1, prepend=-np.inf) > 0
    starts = np.nonzero(new)[1].reshape(-1, size)
    shares = np.diff(starts, axis=1, append=u.shape[1]) / u.shape[1]
    return np.take_along_axis(u, starts, axis=1), shares


def _gauss(u: NDArray, spreads: NDArray, size: int, width: float) -> tuple[NDArray, NDArray]:
    """Return the nodes and the weights (n_axes, size) of Gauss quadrature for the coordinates (n_axes, n).

    They have the first 2 size - 1 moments of the coordinates (Golub and Welsch 1969; the recurrence is that of
    Stieltjes), and then are moved so that their mean is 0 and their standard deviation that of all rows, unless
    this moves one by more than half of the kernel's width, off the rows: where there are groups or outliers.
    """
    n, mean = u.shape[1], u.mean(axis=1, keepdims=True)
    centred = u - mean
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
    moved, own_places = nodes * spreads[:, None], mean + nodes * own
    is_near = np.abs(moved - own_places).max(axis=1, keepdims=True) <= width / 2
    return np.where(is_near, moved, own_places), vectors[:, 0, :] ** 2


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

    The functions of axis a are numbers starts[a] to starts[a + 1]; the first of them is its first function. Of
    the coefficients ``series`` (n_functions, m) an axis uses the first lengths[a], which are, as kinds[a]
    says: 0, those of the kernel at the ``nodes`` (n_axes, m); 1, Chebyshev series on the interval between the
    ``ends`` (2, n_axes); or 2, such series of the logarithm of the first function and of the others divided by
    it.
    """

    kernel: LineKernel
    starts: NDArray[np.int64]
    kinds: NDArray[np.int64]
    series: NDArray[np.float64]
    lengths: NDArray[np.int64]
    ends: NDArray[np.float64]
    nodes: NDArray[np.float64]

    @staticmethod
    def of(functions: AxisFunctions, axes: NDArray[np.int64], powers: NDArray[np.int64]) -> Tables:
        """Return the first function of every axis, and these others, which are sorted by axis and power."""
        kernel, nodes = functions.kernel, functions.nodes
        n_axes, m = nodes.shape
        starts = np.arange(n_axes + 1) + np.searchsorted(axes, np.arange(n_axes + 1))
        counts = np.diff(starts)
        chosen = np.zeros(starts[-1], dtype=int)
        chosen[np.arange(len(axes)) + 1 + axes] = powers
        lengths, kinds = (~np.isnan(nodes)).sum(axis=1), np.zeros(n_axes, dtype=int)
        margins = np.minimum(_MARGIN * kernel.width, np.diff(functions.ends, axis=1)[:, 0])
        ends = np.stack([np.nanmin(nodes, axis=1) - margins, np.nanmax(nodes, axis=1) + margins])
        nodes = np.nan_to_num(nodes)
        series = np.zeros((starts[-1], max(m, _DEGREES[-1])))
        for some in row_blocks(n_axes, _AXES):
            used = np.arange(counts[some].max()) < counts[some, None]
            own = slice(starts[some.start], starts[some.stop])
            c = np.zeros((*used.shape, series.shape[1]))
            c[used, :m] = functions.coefficients[some][np.nonzero(used)[0], :, chosen[own]]
            _shorten(kernel, nodes[some], ends[:, some, None], c, kinds[some], lengths[some])
            series[own] = c[used]
        return Tables(kernel, starts, kinds, series[:, : lengths.max()].copy(), lengths, ends, nodes)

    def at(self, u: Array) -> tuple[Array, Array]:
        """Return the functions at coordinates u (n_axes, n) on all axes.

        These are the product of all first functions (n,), and the others (n_ratios, n) divided by the first ones.
        """
        xp, n, (groups, places) = namespace(u), u.shape[1], self._groups
        root, logarithm, parts = ones((n,), u), zeros((n,), u), []
        for group in groups:
            values, decay = group.at(take_rows(u, group.axes))
            if group.kind == _RATIOS:
                logarithm += xp.sum(values[:, 0, :], axis=0)
            else:
                root *= xp.prod(values[:, 0, :], axis=0)
            if decay is not None:
                root *= xp.prod(decay, axis=0)
            parts.append(xp.reshape(values, (-1, n)))
        return root * xp.exp(logarithm), take_rows(xp.concat(parts, axis=0), places)

    def factors(self, axes: NDArray[np.int64], u: NDArray) -> tuple[NDArray[np.complex128], NDArray]:
        """Return the functions at coordinates u (m, n) on some axes (m,), which may occur more than once.

        These are the complex logarithms (m, n) of the first functions, which may have both signs and may underflow
        where their product does not, and the others, axis by axis, divided by the first ones (n_ratios, n).
        """
        counts = np.diff(self.starts)[axes] - 1
        first = np.cumsum(counts) - counts
        logarithms, ratios = np.empty(u.shape, complex), np.empty((counts.sum(), u.shape[1]))
        places = np.empty(len(self.kinds), dtype=int)
        for group in self._wide_groups:
            places[:] = -1
            places[group.axes] = np.arange(len(group.axes))
            own = np.flatnonzero(places[axes] >= 0)
            some = places[axes[own]]
            taken = replace(
                group, series=group.series[some], ends=group.ends[:, some], nodes=group.nodes[some]
            )
            values, decay = taken.at(u[own])
            logarithms[own] = values[:, 0] if group.kind == _RATIOS else _logarithms(values[:, 0])
            if decay is not None:
                logarithms[own] += _logarithms(decay)
            numbers = np.arange(values.shape[1] - 1)
            used = numbers < counts[own, None]
            ratios[(first[own, None] + numbers)[used]] = values[:, 1:][used]
        return logarithms, ratios

    @cached_property
    def _groups(self) -> tuple[list[_Group], NDArray[np.int64]]:
        return self._grouped(_AXES)

    @cached_property
    def _wide_groups(self) -> list[_Group]:
        return self._grouped(_MANY_AXES)[0]

    def _grouped(self, most: int) -> tuple[list[_Group], NDArray[np.int64]]:
        """Return groups of at most so many axes of one kind, and the places of ratios among their functions."""
        counts = np.diff(self.starts)
        order = np.lexsort((self.lengths, counts, self.kinds))
        cuts = np.flatnonzero(np.diff(self.kinds[order])) + 1
        groups, places, start = [], np.zeros(len(self.series), dtype=int), 0
        for axes in np.split(order, np.union1d(cuts, np.arange(most, len(order), most))):
            used = np.arange(counts[axes].max()) < counts[axes, None]
            rows = (self.starts[axes, None] + np.arange(used.shape[1]))[used]
            series = np.zeros((*used.shape, int(self.lengths[axes].max())))
            series[used] = self.series[rows, : series.shape[2]]
            places[rows] = start + np.flatnonzero(used)
            nodes = self.nodes[axes, : series.shape[2], None]
            parts = int(self.kinds[axes[0]]), series, self.ends[:, axes, None], nodes
            groups.append(_Group(self.kernel, axes, *parts))
            start += used.size
        return groups, np.delete(places, self.starts[:-1])


@dataclass(frozen=True, eq=False)
class _Group:
    """Axes that are evaluated together: their kind, coefficients (n_axes, n_functions, m), ends and nodes."""

    kernel: LineKernel
    axes: NDArray[np.int64]
    kind: int
    series: NDArray[np.float64]
    ends: NDArray[np.float64]
    nodes: NDArray[np.float64]

    def at(self, u: Array) -> tuple[Array, Array | None]:
        """Return the functions (n_axes, n_functions, n) at coordinates (n_axes, n), and their decay (n_axes, n).

        Those after the first one are divided by it; it is its logarithm where the kind says so.
        """
        values, decay = self._values(u)
        if self.kind != _RATIOS:
            xp, first, least = namespace(u), values[:, 0, :], _LEAST_FIRST[is_single(u)]
            # in the product with the others too, which are the only ones on rows far from those of the first
            values[:, 0, :] = first = xp.where(xp.abs(first) > least, first, xp.full_like(first, least))
            values[:, 1:, :] /= first[:, None, :]
        return values, decay

    def _values(self, u: Array) -> tuple[Array, Array | None]:
        xp, series, m = namespace(u), held_beside(self.series, u), self.series.shape[2]
        low, high = (beside(ends, u) for ends in self.ends)
        if not isinstance(self.kernel, ProductFactor):
            u = xp.minimum(xp.maximum(u, low), high)
        if self.kind == _AT_NODES:
            values = self.kernel.between(beside(self.nodes, u), u[:, None, :])
            return series @ in_type_of(values, u), None
        half = (high - low) / 2
        t = (u - (low + high) / 2) / half
        if not isinstance(self.kernel, ProductFactor) or not bool(xp.any(xp.abs(t) > 1)):
            return series @ _polynomials(t, m), None
        inside = xp.minimum(xp.maximum(t, -xp.ones_like(t)), xp.ones_like(t))
        decay = self.kernel.kernel.on_line((t - inside) * half)
        return series @ _polynomials(inside, m), in_type_of(decay, u)


def _logarithms(values: NDArray) -> NDArray[np.complex128]:
    found: NDArray[np.complex128] = np.log(np.where(values == 0, _LEAST, values).astype(complex))
    return found


def _polynomials(t: Array, n: int) -> Array:
    """Return the first n Chebyshev polynomials at t (n_axes, m), shape (n_axes, n, m)."""
    found = empty((n, *t.shape), t)
    found[0, :, :] = 1
    found[1:2, :, :] = t
    twice = 2 * t
    for k in range(2, n):
        multiply_into(found[k, :, :], twice, found[k - 1, :, :])
        found[k, :, :] -= found[k - 2, :, :]
    return namespace(t).permute_dims(found, (1, 0, 2))


def _shorten(
    kernel: LineKernel, q: NDArray, ends: NDArray, c: NDArray, kinds: NDArray, lengths: NDArray
) -> None:
    """Replace the coefficients of functions sum_m c_jm k(u, q_m) on some axes by those of series that converge.

    The nodes q have the shape (n_axes, m), the ends (2, n_axes, 1), the coefficients c (n_axes, n_functions, M)
    with an M that is at least m. Kinds and lengths (n_axes,) are those of `Tables`.
    """
    candidates = lengths > _DEGREES[0]
    for n in _DEGREES:
        angles = (np.arange(n) + 0.5) * np.pi / n
        to_coefficients = np.cos(np.outer(angles, np.arange(n))) * 2 / n
        to_coefficients[:, 0] /= 2
        left = np.flatnonzero(candidates & (kinds == _AT_NODES))
        t = ends[:, left].mean(axis=0) + np.cos(angles) * np.diff(ends[:, left], axis=0)[0] / 2
        values = c[left, :, : q.shape[1]] @ kernel.between(q[left, :, None], t[:, None, :])
        forms = [(_SERIES, values)]
        if n <= _SHORT and isinstance(kernel, ProductFactor):
            first = values[:, :1]
            first = np.where(first > _LEAST_OF_FIRST * first.max(axis=2, keepdims=True), first, np.nan)
            forms.insert(0, (_RATIOS, np.concatenate([np.log(first), values[:, 1:] / first], axis=1)))
        for kind, form in forms:
            series = form @ to_coefficients
            sizes = np.abs(series).max(axis=1)
            largest = sizes.max(axis=1, keepdims=True)
            smooth = (sizes[:, -3:] < _SMOOTH * largest).all(axis=1) & (kinds[left] == _AT_NODES)
            found = left[smooth]
            kinds[found], c[found, :, n:], c[found, :, :n] = kind, 0, series[smooth]
            is_used = sizes[smooth] > _SMOOTH * 1e-3 * largest[smooth]
            lengths[found] = n - np.argmax(is_used[:, ::-1], axis=1)
