"""The base of maps whose columns are products of functions of one input column each."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import RandomFeatureMap
from rflib.maps.product_tree import ProductTree, evaluate, largest_products
from rflib.maps.row_blocks import filled

_BLOCK_ROWS = 1024
# Functions of an input column among which the largest products are sought: all of them for few input columns.
_FEWEST, _MOST = 8, 1 << 20


class ProductFeatures(RandomFeatureMap):
    """Base class of maps whose columns are the largest products of functions of single input columns.

    ``tree_`` says which products. If there are fewer than n_components, the last columns are zero.
    """

    _fades = True
    tree_: ProductTree

    def _n_functions(self, d: int) -> int:
        """Return how many functions each of d input columns has."""
        return min(self.n_components, max(_FEWEST, _MOST // d))

    def _keep_largest(self, sizes: NDArray) -> None:
        """Keep the largest products of functions with descending sizes (d, n_functions)."""
        self.tree_, _ = largest_products(sizes, self.n_components)
        self.signature_ = np.ones(self.n_components)

    @abstractmethod
    def _factors(self, X: Rows, axes: NDArray, powers: NDArray) -> tuple[Array, Array]:
        """Return the product of all first functions (n,), and ratios of functions to the first ones (m, n).

        ``axes`` (m,) has the input columns of the functions, and ``powers`` (m,) their numbers.
        """

    def _columns(self, X: Rows) -> Array:
        n, (axes, powers, _) = len(self.tree_), self.tree_.functions

        def fill(block: Rows, out: Array) -> None:
            root, ratios = self._factors(block, axes, powers)
            evaluate(self.tree_, root, ratios, out[:, :n])
            out[:, n:] = 0

        return filled(X, self.n_components_, fill, _BLOCK_ROWS)
