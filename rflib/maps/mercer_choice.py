"""How MercerFeatures chooses its columns: axes, functions and coefficients with the least error on held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from rflib.kernels.base import Kernel
from rflib.maps.axis_functions import AxisFunctions
from rflib.maps.eigen_products import EigenProducts
from rflib.maps.fitted_coefficients import fit_columns
from rflib.maps.mercer_columns import Axes, MercerColumns, ProductKernel, products_at

# Rows whose coordinates give the laws, rows on which coefficients are fitted, rows on which choices are compared, and
# rows that are held out: at most so many, and the last at most one in five.
_LAW_ROWS, _FIT_ROWS, _TRIAL_ROWS, _HELD_ROWS, _HELD_SHARE = 2000, 4000, 800, 500, 5
# Functions that are combined: at most so many in a trial, in the end, and in the end if the kernel is no product, and
# so many for each column and each row.
_TRIAL_FUNCTIONS, _FUNCTIONS, _FUNCTIONS_ALONE, _PER_COLUMN, _PER_ROW = 256, 1024, 2048, 2, 0.5
# The functions are the largest on the rows among so many times as many.
_CANDIDATES = 2
# The law of independent coordinates is kept if the error on held-out rows is at most so many times what it predicts.
_MISFIT = 1.1
# For a kernel that is no product: the widths of two Gaussians, in units of a width that is found, and the widths that
# are tried, in units of the median distance.
_TWO_WIDTHS, _SCALES = (0.5, 1.5), (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
_DISTANCE_ROWS = 500


@dataclass(frozen=True, eq=False)
class RowSamples:
    """Two disjoint samples of the training rows, to which columns are fitted and on which they are compared.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    rows : ndarray of shape (n, d)
        Rows to fit.
    held : ndarray of shape (m, d)
        Held-out rows.
    target : ndarray of shape (m, m)
        Their kernel matrix.
    n_rows : int
        Number of training rows.
    """

    kernel: Kernel
    rows: NDArray[np.float64]
    held: NDArray[np.float64]
    target: NDArray[np.float64]
    n_rows: int

    @staticmethod
    def of(X: NDArray, kernel: Kernel, rng: Generator) -> RowSamples:
        """Return samples of the rows X; if there are few, the same rows are in both."""
        n = len(X)
        order = rng.permutation(n)
        n_held = min(_HELD_ROWS, n // _HELD_SHARE) if n >= 4 * _HELD_SHARE else 0
        rows = X[np.sort(order[n_held : n_held + _FIT_ROWS])].astype(np.float64)
        held = X[np.sort(order[:n_held])].astype(np.float64) if n_held else rows
        return RowSamples(kernel, rows, held, kernel(held), n)

    def error(self, columns: NDArray, signs: NDArray) -> float:
        """Return the relative Frobenius error on as many new rows as there are training rows.

        Of the held-out rows there are fewer, so that pairs of a row with itself are counted less.
        """
        off, diagonal = self._mean_squares((columns * signs) @ columns.T - self.target)
        size, own = self._mean_squares(self.target)
        share = 1 / self.n_rows
        total = (1 - share) * size + share * own
        return float(np.sqrt(((1 - share) * off + share * diagonal) / total)) if total > 0 else 0.0

    @staticmethod
    def _mean_squares(matrix: NDArray) -> tuple[float, float]:
        """Return the mean squares of the entries off the diagonal and on it."""
        m, own = len(matrix), matrix.diagonal()
        on = float(own @ own)
        return (float(np.vdot(matrix, matrix)) - on) / (m * (m - 1)) if m > 1 else on, on / m


@dataclass(frozen=True, eq=False)
class Basis:
    """Axes, and one or two kernels whose eigenfunctions on these axes are multiplied."""

    axes: Axes
    kernels: tuple[ProductKernel, ...]

    def functions(self, rows: NDArray, mean: NDArray) -> list[AxisFunctions]:
        """Return the eigenfunctions on the axes for rows (n, d)."""
        coordinates = self.axes.of(rows, mean)[:, :_LAW_ROWS].T
        return [AxisFunctions.of(coordinates, kernel.on_line, kernel.width) for kernel in self.kernels]

    @property
    def is_law(self) -> bool:
        """Whether the products are the kernel's own eigenfunctions, if coordinates are independent."""
        return self.kernels[0].own


def choose_columns(
    axes: list[Axes], sample: RowSamples, mean: NDArray, n_columns: int
) -> tuple[MercerColumns, float]:
    """Return the columns with the least error on held-out rows, and this error."""
    laws = [_law(basis, sample, mean, n_columns) for basis in _own_bases(axes, sample)]
    if laws:
        columns, error, predicted = min(laws, key=lambda found: found[1])
        if error <= _MISFIT * predicted + 1e-12:
            return columns, error
    bases = list(_own_bases(axes, sample)) or _scaled(axes[:1], sample)
    best = _least(bases, sample, mean, n_columns)
    others = [each for each in axes if all(each is not basis.axes for basis in bases)]
    if others and laws:
        best = _least([best, *_scaled(others, sample)], sample, mean, n_columns)
    elif others:
        best = _least([best, *(Basis(each, best.kernels) for each in others)], sample, mean, n_columns)
    columns, error = _fitted(best, sample, mean, n_columns, trial=False)
    if laws:
        law, law_error, _ = min(laws, key=lambda found: found[1])
        if law_error <= error:
            return law, law_error
    return columns, error


def _own_bases(axes: list[Axes], sample: RowSamples) -> Iterator[Basis]:
    """Yield the axes along which the kernel is a product, with it."""
    kernel = sample.kernel
    if not kernel.is_product:
        return
    for each in axes:
        if each.directions is None or kernel.is_rotation_invariant:
            yield Basis(each, (ProductKernel(kernel.on_line, _width(kernel), own=True),))


def _width(kernel: Kernel) -> float:
    """Return the distance at which a product kernel has fallen to exp(-1/2) on the line."""
    z = np.geomspace(1e-12, 1e12, 4801)
    values = np.asarray(kernel.on_line(z))
    return float(z[np.argmax(values <= np.exp(-0.5) * kernel.on_line(np.zeros(1)))])


def _scaled(axes: list[Axes], sample: RowSamples) -> list[Basis]:
    """Return bases of two Gaussian kernels, with widths that are tried."""
    distances = pdist(sample.rows[:_DISTANCE_ROWS])
    unit = float(np.median(distances)) if distances.size else 1.0
    unit = unit or float(distances.max(initial=0)) or 1.0
    return [
        Basis(each, tuple(ProductKernel.gaussian(unit * scale * factor) for factor in _TWO_WIDTHS))
        for each in axes
        for scale in _SCALES
    ]


def _least(bases: list[Basis], sample: RowSamples, mean: NDArray, n_columns: int) -> Basis:
    """Return the basis with the least error in a trial."""
    if len(bases) == 1:
        return bases[0]
    return min(bases, key=lambda basis: _fitted(basis, sample, mean, n_columns, trial=True)[1])


def _law(
    basis: Basis, sample: RowSamples, mean: NDArray, n_columns: int
) -> tuple[MercerColumns, float, float]:
    """Return the columns for independent coordinates, their error, and what this would be for such coordinates."""
    functions, kernel = basis.functions(sample.rows, mean)[0], basis.kernels[0]
    products, values = EigenProducts.largest(functions, kernel.width, n_columns)
    signs, some = np.ones(n_columns), np.arange(len(products))
    columns = MercerColumns(
        basis.axes,
        basis.kernels,
        (products,),
        some[:0],
        np.empty((0, 0)),
        some,
        np.ones(len(products)),
        signs,
    )
    total = float(np.prod((functions.values**2).sum(axis=1)))
    predicted = np.sqrt(max(total - float(values @ values), 0) / total)
    return columns, _error(columns, sample, mean), float(predicted)


def _error(columns: MercerColumns, sample: RowSamples, mean: NDArray) -> float:
    found = np.empty((len(sample.held), len(columns.signs)))
    columns.fill(sample.held, mean, found)
    return sample.error(found, columns.signs)


def _fitted(
    basis: Basis, sample: RowSamples, mean: NDArray, n_columns: int, *, trial: bool
) -> tuple[MercerColumns, float]:
    """Return columns with fitted coefficients, and their error; in a trial, of fewer functions and rows."""
    rows = sample.rows[:: -(-len(sample.rows) // _TRIAL_ROWS)] if trial else sample.rows
    most = _TRIAL_FUNCTIONS if trial else _FUNCTIONS if basis.is_law else _FUNCTIONS_ALONE
    most = min(most, int(_PER_ROW * len(rows)))
    n_head = max(1, min(_PER_COLUMN * n_columns, most))
    wanted = n_columns if not trial else min(n_columns, n_head)
    n_functions = max(n_head, wanted)
    all_functions = basis.functions(sample.rows, mean)
    products, sizes = [], []
    for functions, kernel in zip(all_functions, basis.kernels, strict=True):
        found, _ = EigenProducts.largest(
            functions, kernel.width, _CANDIDATES * n_functions // len(basis.kernels) + 1
        )
        products.append(found)
        sizes.append((found.at(basis.axes.of(rows, mean)) ** 2).mean(axis=0))
    order = np.argsort(-np.concatenate(sizes), kind="stable")[:n_functions]
    # of each kernel's products, those that are used and their ancestors
    starts = np.cumsum([0, *map(len, products)])
    used, places = [], np.empty(starts[-1], dtype=np.int64)
    first = 0
    for number, (functions, kernel) in enumerate(zip(all_functions, basis.kernels, strict=True)):
        inside = (order >= starts[number]) & (order < starts[number + 1])
        tree, numbers = products[number].tree.of(order[inside] - starts[number])
        used.append(EigenProducts.of(functions, tree, kernel.width))
        places[starts[number] + numbers] = first + np.arange(len(numbers))
        first += len(numbers)
    head, tail = places[order[:n_head]], places[order[n_head:]]
    at_rows = products_at(tuple(used), basis.axes.of(rows, mean))
    at_held = products_at(tuple(used), basis.axes.of(sample.held, mean))
    fitted = fit_columns(
        at_rows[:, head],
        at_rows[:, tail],
        sample.kernel(rows),
        (at_held[:, head], at_held[:, tail], sample.target),
        wanted,
        product=basis.is_law,
    )
    found, signs = fitted.columns(at_held[:, head], at_held[:, tail])
    columns = MercerColumns(
        basis.axes,
        basis.kernels,
        tuple(used),
        head,
        fitted.combine,
        tail[fitted.tail],
        fitted.tail_scales,
        np.append(signs, np.ones(n_columns - len(signs))),
    )
    return columns, sample.error(found, signs)
