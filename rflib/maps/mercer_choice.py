"""How MercerFeatures chooses axes, functions and coefficients: by the error on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from rflib.kernels.base import Kernel
from rflib.kernels.distances import euclidean_distances
from rflib.kernels.gaussian import Gaussian
from rflib.maps.axes import Axes
from rflib.maps.axis_functions import AxisFunctions, ExponentialSeries, LineKernel, ProductFactor
from rflib.maps.fitted_coefficients import fit_columns
from rflib.maps.held_out import RowSamples, mean_product, thinning
from rflib.maps.mercer_columns import EigenProducts, MercerColumns, products_at

# Rows whose coordinates give the nodes: at most so many.
_NODE_ROWS = 2000
# Rows of trials that find widths and of those that find axes, for which rare values count.
_WIDTH_ROWS, _AXES_ROWS = 800, 1000
# Functions that are combined: at most so many in trials, and in the end; and so many for each row and each column.
# More are needed if the products are not the kernel's own.
_TRIAL_FUNCTIONS, _FUNCTIONS, _PER_ROW, _PER_COLUMN = 256, 1024, 0.3, 2
_FUNCTIONS_ALONE, _PER_ROW_ALONE = 2048, 0.5
# The functions are the largest on the rows among so many times as many. One that is large at so few rows, of which
# other rows say little, counts half.
_CANDIDATES, _FEW = 4, 2
# Products for independent coordinates are kept if the mean square of the kernel on held-out rows is what they
# predict to this accuracy, and the error is not larger.
_MISFIT = 0.1
_ROUNDING = 1e-12
# They are kept, too, if the error is below this: fits, which take much longer, hardly lower such an error.
_SMALL = 1e-4
# For a kernel that is no product: the widths of two Gaussians, in units of a width that is found, and the widths
# that are tried for it, in units of the median distance.
_TWO_WIDTHS, _SCALES = (0.5, 1.5), (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
# Rows whose distances give this unit, and rows on which the sizes of functions are compared.
_DISTANCE_ROWS, _SIZE_ROWS = 500, 1000
# Shares of the columns that may be kept, and what must be gained in the squared error.
_CUTS, _LOWER = 16, 0.98


@dataclass(frozen=True, eq=False)
class Basis:
    """Axes, and one or two kernels of a coordinate, the factors, whose eigenfunctions are multiplied.

    The factors may be those of the kernel itself, if it ``is_product``: then the products are its eigenfunctions
    if coordinates are independent.
    """

    axes: Axes
    factors: tuple[LineKernel, ...]
    functions: tuple[AxisFunctions, ...]
    is_product: bool

    @staticmethod
    def of(
        axes: Axes,
        factors: tuple[LineKernel, ...],
        sample: RowSamples,
        n_columns: int,
        is_product: bool = False,
    ) -> Basis:
        """Return the eigenfunctions on the axes, with coefficients of those that so many columns may need."""
        coordinates, n = axes.of(sample.rows[:_NODE_ROWS]), _CANDIDATES * _PER_COLUMN * n_columns
        functions = (AxisFunctions.of(coordinates, axes.spreads, kernel, n) for kernel in factors)
        return Basis(axes, factors, tuple(functions), is_product)


def choose_columns(axes: list[Axes], sample: RowSamples, n_columns: int) -> tuple[MercerColumns, float]:
    """Return the columns with the least error on held-out rows, and their error on rows that did not choose them.

    There are such rows if columns were compared at all, and if rows suffice.
    """
    kernel = sample.kernel
    own = [
        Basis.of(each, (ProductFactor(kernel, _width(kernel)),), sample, n_columns, is_product=True)
        for each in axes
        if kernel.is_product and (each.directions is None or kernel.is_rotation_invariant)
    ]
    uncombined = [_uncombined(basis, sample, n_columns) for basis in own]
    best = min(uncombined, key=lambda found: found[1], default=None)
    if best is not None and best[2]:
        return best[:2]
    columns, error = _fitted(_best_basis(axes, own, sample, n_columns), sample, n_columns)
    if best is not None and best[1] <= error:
        columns, error = best[:2]
    return columns, sample.fresh_error(columns.at, columns.signs, error)


def _width(kernel: Kernel) -> float:
    """Return the distance at which a product kernel has fallen to exp(-1/2) on the line."""
    fallen = np.exp(-0.5) * kernel.on_line(np.zeros(1))
    ends, n = (1e-153, 1e153), 307
    for _ in range(2):
        z = np.geomspace(*ends, n)
        with np.errstate(over="ignore"):
            place = max(1, int(np.argmax(kernel.on_line(z) <= fallen)))
        ends, n = (z[place - 1], z[place]), 201
    return float(ends[1])


def _best_basis(axes: list[Axes], own: list[Basis], sample: RowSamples, n_columns: int) -> Basis:
    """Return the basis with the least error in trials with fewer functions and rows."""
    for_widths, for_axes = sample.thinned(_WIDTH_ROWS), sample.thinned(_AXES_ROWS)

    def error(basis: Basis, trial: RowSamples) -> float:
        return _fitted(basis, trial, min(n_columns, _TRIAL_FUNCTIONS))[1]

    # The axes for which the kernel is a product, or else the first ones, are compared with the others only once.
    bases, others = own, [each for each in axes if all(each is not basis.axes for basis in own)]
    if others:
        widths = (Basis.of(others[0], factors, sample, n_columns) for factors in _factors(sample))
        best = min(widths, key=lambda basis: error(basis, for_widths))
        bases = [*own, best, *(Basis.of(each, best.factors, sample, n_columns) for each in others[1:])]
    return bases[0] if len(bases) == 1 else min(bases, key=lambda basis: error(basis, for_axes))


def _factors(sample: RowSamples) -> list[tuple[LineKernel, ...]]:
    """Return what is tried for a kernel that is no product: pairs of Gaussians, and polynomials."""
    some = sample.rows[:_DISTANCE_ROWS]
    distances = euclidean_distances(some)[np.triu_indices(some.shape[0], 1)]
    unit = float(np.median(distances)) if distances.size else 1.0
    widths = [scale * (unit or float(distances.max()) or 1.0) for scale in _SCALES]
    found: list[tuple[LineKernel, ...]] = [
        tuple(ProductFactor(Gaussian(each * width), each * width) for each in _TWO_WIDTHS) for width in widths
    ]
    if degree := sample.kernel.polynomial_degree:
        found += [(ExponentialSeries(width, degree),) for width in widths]
    return found


def _uncombined(basis: Basis, sample: RowSamples, n_columns: int) -> tuple[MercerColumns, float, bool]:
    """Return the columns for independent coordinates, their error, and whether the coordinates seem to be so.

    docs/mercer.md derives the error that is predicted then ("What is missing is known").
    """
    functions = basis.functions[0]
    products, values = EigenProducts.largest(functions, n_columns)
    columns = MercerColumns(basis.axes, (products,), None, np.ones(n_columns))
    pairs, diagonal = (float(np.prod((functions.values**k).sum(axis=1))) for k in (2, 1))
    left_pairs, left_diagonal = max(pairs - float(values @ values), 0), max(diagonal - float(values.sum()), 0)
    share = 1 / sample.n_rows
    left = left_pairs + share * (left_diagonal**2 - left_pairs)
    predicted = np.sqrt(left / (pairs + share * (diagonal**2 - pairs)))
    error = sample.error(columns.at(sample.held), columns.signs)
    mean_square = mean_product(sample.target, sample.target, np.inf)
    holds = abs(mean_square - pairs) <= _MISFIT * pairs and error <= (1 + _MISFIT) * predicted + _ROUNDING
    return columns, error, holds or error <= _SMALL


def _fitted(basis: Basis, sample: RowSamples, n_columns: int) -> tuple[MercerColumns, float]:
    """Return columns with fitted coefficients, and their error."""
    most, per_row = (_FUNCTIONS, _PER_ROW) if basis.is_product else (_FUNCTIONS_ALONE, _PER_ROW_ALONE)
    most = _TRIAL_FUNCTIONS if sample.whole is not None else most
    n_rows = sample.rows.shape[0] if not sample.are_held_out else int(per_row * sample.rows.shape[0])
    n_combined = max(1, min(_PER_COLUMN * n_columns, most, n_rows))
    products, order, coefficients = _largest_on_rows(basis, sample, max(n_combined, n_columns))
    # if no rows are held out, as many functions as rows are fitted, exactly
    order = order if sample.are_held_out else order[:n_combined]
    at_rows, at_held = (products_at(products, basis.axes.of(each)) for each in (sample.rows, sample.held))
    combination = fit_columns(
        at_rows,
        sample.matrix,
        (at_held, sample.target),
        (order[:n_combined], order[n_combined:]),
        n_columns,
        law=coefficients[: len(order)],
        is_exact=basis.is_product and sample.are_held_out,
        is_definite=sample.is_definite,
    )
    found = np.empty((len(at_held), len(combination.signs)))
    combination.fill(at_held, found)
    n_kept = _least_error(found, combination.signs, sample)
    combination, found = combination.first(n_kept), found[:, :n_kept]
    signs = np.append(combination.signs, np.ones(n_columns - len(combination.signs)))
    grows = sample.is_definite and isinstance(basis.factors[0], ExponentialSeries)
    columns = MercerColumns(basis.axes, products, combination, signs, sample.kernel if grows else None)
    return columns, sample.error(found, combination.signs)


def _least_error(columns: NDArray, signs: NDArray, sample: RowSamples) -> int:
    """Return how many of the columns at held-out rows to keep: the last ones may fit few rows and do harm."""
    numbers = np.unique(np.linspace(0, len(signs), _CUTS + 1).round().astype(int)[1:]).tolist()
    residuals = sample.residuals(columns, signs, numbers)
    errors = [mean_product(residual, residual, sample.n_rows) for residual in residuals]
    best = int(np.argmin(errors))
    return numbers[best] if errors[best] < _LOWER * errors[-1] else len(signs)


def _largest_on_rows(
    basis: Basis, sample: RowSamples, n: int
) -> tuple[tuple[EigenProducts, ...], NDArray[np.int64], NDArray[np.float64]]:
    """Return products, the numbers of the n with the largest mean squares on rows, and coefficients of these.

    The other products are their ancestors. The coefficients are those of the Gaussians in the `_combination`.
    """
    per_kernel = -(-_CANDIDATES * n // len(basis.functions))
    candidates = [EigenProducts.largest(each, per_kernel)[0] for each in basis.functions]
    coordinates = basis.axes.of(sample.rows[:: thinning(sample.rows.shape[0], _SIZE_ROWS)])
    at_rows = [products.at(coordinates) for products in candidates]
    shares = np.ones(1) if basis.is_product else _combination(at_rows, sample)
    sizes = [_sizes(each) for each in at_rows]
    order = np.argsort(-np.concatenate(sizes), kind="stable")[:n]
    starts = np.cumsum([0, *map(len, candidates)])
    used, places, n_used = [], np.full(starts[-1], -1), 0
    for each, products, start, stop in zip(basis.functions, candidates, starts[:-1], starts[1:], strict=True):
        tree, numbers = products.tree.of(order[(order >= start) & (order < stop)] - start)
        used.append(EigenProducts.of(each, tree))
        places[start + numbers] = n_used + np.arange(len(tree))
        n_used += len(tree)
    return tuple(used), places[order], shares[np.searchsorted(starts, order, side="right") - 1]


def _sizes(functions: NDArray) -> NDArray[np.float64]:
    """Return the mean squares of functions at rows (n, m), less where they come from few rows."""
    squares = functions**2
    total = squares.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        n_rows = total**2 / np.einsum("ij,ij->j", squares, squares)
        return np.nan_to_num(total / len(functions) * n_rows / (n_rows + _FEW))


def _combination(functions: list[NDArray], sample: RowSamples) -> NDArray[np.float64]:
    """Return c of the least |sum_j c_j F_j F_j^T - K|, without negative ones if the kernel is definite."""
    n = len(functions[0])
    of, some = thinning(sample.rows.shape[0], n), slice(None, None, thinning(n, _DISTANCE_ROWS))
    grams = np.stack([(each[some] @ each[some].T).ravel() for each in functions], axis=1)
    solve = nnls if sample.is_definite else np.linalg.lstsq
    target = sample.matrix[::of, ::of][some, some].astype(np.float64).ravel()
    found: NDArray[np.float64] = solve(grams, target)[0]
    return found
