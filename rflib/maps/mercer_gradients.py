"""Gradients of functions that are combinations of the columns of MercerFeatures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.axis_functions import Tables
from rflib.maps.mercer_columns import EigenProducts, MercerColumns
from rflib.maps.product_tree import Level
from rflib.maps.row_blocks import over_row_blocks

# Elements of the products at a block of rows.
_BLOCK = 1 << 19
# Functions of one coordinate are differentiated by a central difference of this share of the kernel's width: its
# error is about 1e-10 of a function's size over the width.
_STEP = 1e-5


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
