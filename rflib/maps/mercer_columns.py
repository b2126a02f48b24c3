"""The columns of MercerFeatures: products of eigenfunctions on axes, as they are or combined; their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, empty, in_type_of, namespace
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.axes import Axes, SparseCoordinates
from rflib.maps.axis_functions import AxisFunctions, Tables
from rflib.maps.fitted_coefficients import Combination
from rflib.maps.product_tree import Level, ProductTree, evaluate, largest_products
from rflib.maps.row_blocks import over_row_blocks
from rflib.maps.unlike_rows import squares

# What no features of a definite kernel exceed, but for the errors of a fit: this multiple of k(x, x).
_MOST = 2
# Elements of the products at a block of rows.
_BLOCK = 1 << 19
# Functions of one coordinate are differentiated by a central difference of this share of the kernel's width.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class EigenProducts:
    """Products of eigenfunctions of a product kernel: those of a tree, of the functions on the axes in tables."""

    tree: ProductTree
    tables: Tables

    @staticmethod
    def largest(functions: AxisFunctions, n: int) -> tuple[EigenProducts, NDArray[np.float64]]:
        """Return the n products with the largest eigenvalues, and these."""
        tree, values = largest_products(functions.values, n)
        return EigenProducts.of(functions, tree), values

    @staticmethod
    def of(functions: AxisFunctions, tree: ProductTree) -> EigenProducts:
        """Return the products of a tree."""
        axes, powers, _ = tree.functions
        return EigenProducts(tree, Tables.of(functions, axes, powers))

    def __len__(self) -> int:
        return len(self.tree)

    def at(self, coordinates: Array) -> Array:
        """Return the products at coordinates (n_axes, n), shape (n, n_products)."""
        return products_at((self,), coordinates)

    def fill(self, coordinates: Array, out: Array) -> None:
        """Write the products at coordinates (n_axes, n) into an array (n, n_products)."""
        is_sparse = isinstance(coordinates, SparseCoordinates)
        root, ratios = coordinates.functions(self.tables) if is_sparse else self.tables.at(coordinates)
        evaluate(self.tree, root, ratios, out)


def products_at(products: tuple[EigenProducts, ...], coordinates: Array | SparseCoordinates) -> Array:
    """Return all products at coordinates (n_axes, n), shape (n, n_products)."""
    like = coordinates.rows if isinstance(coordinates, SparseCoordinates) else coordinates
    ends = np.cumsum([0, *map(len, products)]).tolist()
    out = empty((coordinates.shape[1], ends[-1]), like)
    for each, start, stop in zip(products, ends[:-1], ends[1:], strict=True):
        each.fill(coordinates, out[:, start:stop])
    return out


@dataclass(frozen=True, eq=False)
class MercerColumns:
    """Columns as functions of rows: products of the eigenfunctions of one or two kernels on axes.

    The products, counted through, are combined; if the ``combination`` is None, they are the columns themselves.
    More columns, to the number of the ``signs`` (n_columns,), are zero. The ``bound`` is a definite kernel whose
    functions are polynomials, which grow beyond the training rows: a row whose columns have more than twice its
    k(x, x) as the sum of squares fades, the more the larger this sum is.
    """

    axes: Axes
    products: tuple[EigenProducts, ...]
    combination: Combination | None
    signs: NDArray[np.float64]
    bound: Kernel | None = None

    def at(self, X: Rows) -> NDArray:
        """Return the columns at rows X (n, d) of numpy, shape (n, n_columns)."""
        out = np.empty((X.shape[0], len(self.signs)), X.dtype)
        self.fill(X, out)
        return out

    def fill(self, X: Rows, out: Array) -> None:
        """Write the columns at rows X (n, d) into an array (n, n_columns)."""
        coordinates = self.axes.of(X)
        if self.combination is None:
            n_used = len(self.products[0])
            self.products[0].fill(coordinates, out[:, :n_used])
        else:
            n_used = len(self.combination.signs)
            self.combination.fill(products_at(self.products, coordinates), out[:, :n_used])
        out[:, n_used:] = 0
        if self.bound is not None:
            sizes, limits, xp = squares(out), _MOST * self.bound.diagonal(X), namespace(out)
            if bool(xp.any(too_long := sizes > limits)):
                one = xp.ones_like(sizes)
                ratios = xp.where(too_long, limits / xp.where(too_long, sizes, one), one)
                out *= in_type_of(ratios, out)[:, None]

    def first(self, n: int) -> MercerColumns:
        """Return the first n columns, which are computed with all products."""
        m = len(self.products[0])
        every = Combination(np.arange(0), np.zeros((0, 0)), np.arange(m), np.ones(m), np.ones(m))
        return replace(self, combination=(self.combination or every).first(n), signs=self.signs[:n])

    def names(self, inputs: Sequence[str]) -> list[str]:
        """Return a name for each column, given those of the input columns."""
        axes, found = self.axes.names(inputs), []
        for mark, products in zip(("", " wide"), self.products, strict=False):
            for number in range(len(products)):
                powers = products.tree.indices(number)
                factors = [axes[a] + (f"^{power}" if power > 1 else "") for a, power in powers]
                found.append((" ".join(factors) or "1") + mark)
        if self.combination is not None:
            combined = [f"combined{i + 1}" for i in range(self.combination.combine.shape[1])]
            found = combined + [found[i] for i in self.combination.tail]
        return found + [f"zero{i + 1}" for i in range(len(self.signs) - len(found))]


def mercer_gradients(columns: MercerColumns, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gradients (n, n_functions, d) of f_t(x) = sum_j weights[j, t] z_j(x) at rows X (n, d).

    The z_j are the columns, and ``weights`` has the shape (n_columns, n_functions).
    """
    sizes, combination = [len(products) for products in columns.products], columns.combination
    of_products = (
        weights[: sizes[0]] if combination is None else combination.of_functions(weights, sum(sizes))
    )
    parts = np.split(of_products, np.cumsum(sizes)[:-1])
    backward = [_Backward(each, part) for each, part in zip(columns.products, parts, strict=True)]
    gradients = np.empty((X.shape[0], weights.shape[1], X.shape[1]))

    def fill(rows: slice) -> None:
        coordinates = columns.axes.of(dense(X[rows]))
        assert isinstance(coordinates, np.ndarray)
        found = np.sum([each.at(coordinates) for each in backward], axis=0)
        by_axes = np.transpose(found, (2, 0, 1))
        directions = columns.axes.directions
        gradients[rows] = by_axes if directions is None else by_axes @ directions

    over_row_blocks(fill, X, max(1, _BLOCK // max(map(len, columns.products))))
    return gradients


class _Backward:
    """Sums of products with weights (n_products, n_functions), with derivatives from the last factors on."""

    def __init__(self, products: EigenProducts, weights: NDArray[np.float64]) -> None:
        self.tables, n_ratios = products.tables, len(products.tables.series) - len(products.tables.lengths)
        # What a level hands to its parents, and to the ratios that are its last factors.
        self.levels: list[tuple[Level, csr_array, csr_array]] = []
        n_known = 1
        for level in products.tree.steps:
            self.levels.append((level, _sums(level.parents, n_known), _sums(level.functions, n_ratios)))
            n_known += len(level.parents)
        self.weights = np.insert(weights, [1] * (n_known - len(weights)), 0, axis=0)

    def at(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivatives along the axes at coordinates (n_axes, n), shape (n_functions, n_axes, n)."""
        root, ratios = self.tables.at(u)
        products = [root[None, :]]
        for level, *_ in self.levels:
            products.append(np.concatenate(products)[level.parents] * ratios[level.functions])
        known = np.concatenate(products)
        values = self.weights.T @ known
        by_ratios = np.zeros((len(values), *ratios.shape))
        for t, weight in enumerate(self.weights.T):
            adjoint = np.repeat(weight[:, None], u.shape[1], axis=1)
            stop = len(adjoint)
            for level, to_parents, to_ratios in reversed(self.levels):
                start = stop - len(level.parents)
                handed = adjoint[start:stop]
                by_ratios[t] += to_ratios @ (handed * known[level.parents])
                adjoint[:start] += to_parents @ (handed * ratios[level.functions])
                stop = start
        return _along_axes(self.tables, u, values, by_ratios)


def _sums(places: NDArray[np.int64], n: int) -> csr_array:
    """Return the matrix that adds numbers at the places that they belong to, of n places."""
    return csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(n, len(places)))


def _along_axes(tables: Tables, u: NDArray, values: NDArray, by_ratios: NDArray) -> NDArray[np.float64]:
    """Return derivatives along the axes (n_functions, n_axes, n) at coordinates u (n_axes, n) by the chain rule.

    Given are the values (n_functions, n), of which each term has the axes' first functions as factors, and the
    derivatives (n_functions, n_ratios, n) by the ratios of the others to these.
    """
    step = _STEP * tables.kernel.width
    every = np.arange(len(u))
    (below, lower), (above, upper) = (tables.factors(every, u + shift) for shift in (-step, step))
    found: NDArray[np.float64] = values[:, None, :] * ((above - below).real / (2 * step))
    changes = (upper - lower) / (2 * step)
    for a, (start, stop) in enumerate(pairwise(tables.starts - np.arange(len(tables.starts)))):
        found[:, a] += np.einsum("tjn,jn->tn", by_ratios[:, start:stop], changes[start:stop])
    return found
