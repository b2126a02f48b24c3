"""The columns of MercerFeatures: products of eigenfunctions on axes, as they are or combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, empty, in_type_of, namespace
from rflib.kernels.sparse_rows import Rows
from rflib.maps.axes import Axes, SparseCoordinates
from rflib.maps.axis_functions import AxisFunctions, Tables
from rflib.maps.fitted_coefficients import Combination
from rflib.maps.product_tree import ProductTree, evaluate, largest_products
from rflib.maps.unlike_rows import squares

# What no features of a definite kernel exceed, but for the errors of a fit: this multiple of k(x, x).
_MOST = 2


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
