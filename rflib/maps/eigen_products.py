"""Columns that are products of eigenfunctions on the axes of rows, or combinations of such products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array
from rflib.maps.axis_functions import AxisFunctions, Tables
from rflib.maps.product_tree import ProductTree, evaluate, largest_products
from rflib.maps.sparse_coordinates import SparseCoordinates, room


@dataclass(frozen=True, eq=False)
class EigenProducts:
    """Products of eigenfunctions of a product kernel, as functions of coordinates.

    Attributes
    ----------
    tree : ProductTree
        Which products they are.
    tables : Tables
        The functions on the axes.
    """

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
        out = room(coordinates, len(self))
        self.fill(coordinates, out)
        return out

    def fill(self, coordinates: Array, out: Array, *, compiled: bool = False) -> None:
        """Write the products at coordinates (n_axes, n) into an array (n, n_products); numba can do so faster."""
        is_sparse = isinstance(coordinates, SparseCoordinates)
        root, ratios = coordinates.functions(self.tables) if is_sparse else self.tables.at(coordinates)
        evaluate(self.tree, root, ratios, out, compiled=compiled)
