"""The columns of MercerFeatures: products of eigenfunctions on axes, as they are or combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.namespaces import Array, beside, held_beside, multiply_into, take_columns
from rflib.kernels.sparse_rows import Rows
from rflib.maps.eigen_products import EigenProducts
from rflib.maps.sparse_coordinates import SparseCoordinates, room


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes along which rows have coordinates.

    Attributes
    ----------
    directions : ndarray of shape (n_axes, d), or None
        Unit vectors; None stands for the input columns.
    inputs : ndarray of int, of shape (n_inputs,)
        The input columns that are axes themselves, which are the last axes.
    spreads : ndarray of shape (n_axes,)
        Standard deviations of the coordinates of the training rows.
    """

    directions: NDArray[np.float64] | None
    inputs: NDArray[np.int64]
    spreads: NDArray[np.float64]

    @staticmethod
    def of_inputs(variances: NDArray) -> Axes:
        """Return the input columns, which have these variances (d,)."""
        return Axes(None, np.arange(len(variances)), np.sqrt(variances))

    @staticmethod
    def principal(covariance: NDArray, rotated: NDArray[np.int64]) -> Axes:
        """Return the principal axes of some input columns, the largest variance first, and the other columns."""
        d = len(covariance)
        values, vectors = np.linalg.eigh(covariance[np.ix_(rotated, rotated)])
        kept = np.setdiff1d(np.arange(d), rotated)
        directions = np.zeros((d, d))
        directions[: len(rotated), rotated] = vectors[:, ::-1].T
        directions[len(rotated) + np.arange(len(kept)), kept] = 1
        variances = np.append(np.maximum(values[::-1], 0), covariance.diagonal()[kept])
        return Axes(directions, kept, np.sqrt(variances))

    def of(self, X: Rows, mean: NDArray) -> Array | SparseCoordinates:
        """Return the coordinates (n_axes, n) of rows X (n, d) from their mean."""
        if self.directions is None:
            return SparseCoordinates(X, mean) if issparse(X) else (X - beside(mean, X)).T
        return held_beside(self.directions, X) @ X.T - beside(self.directions @ mean, X)[:, None]

    def names(self, n_axes: int, inputs: Sequence[str]) -> list[str]:
        """Return the names of the axes: pc1, pc2, ... and those of the input columns."""
        rotated = n_axes - len(self.inputs)
        return [f"pc{i + 1}" for i in range(rotated)] + [str(inputs[j]) for j in self.inputs]


@dataclass(frozen=True, eq=False)
class MercerColumns:
    """Columns as functions of rows.

    Attributes
    ----------
    axes : Axes
        The axes of the rows.
    products : tuple of EigenProducts
        Products of the eigenfunctions of one or two kernels.
    head : ndarray of shape (n_head,)
        The products, counted through, that the combined columns combine.
    combine : ndarray of shape (n_head, n_combined)
        Their coefficients. The combined columns come first.
    tail : ndarray of shape (n_tail,)
        The products that are columns themselves.
    scales : ndarray of shape (n_tail,)
        What these are multiplied by.
    signs : ndarray of shape (n_columns,)
        The signs of all columns. Columns beyond the combined ones and the tail are zero.
    """

    axes: Axes
    products: tuple[EigenProducts, ...]
    head: NDArray[np.int64]
    combine: NDArray[np.float64]
    tail: NDArray[np.int64]
    scales: NDArray[np.float64]
    signs: NDArray[np.float64]

    def at(self, X: Rows, mean: NDArray) -> NDArray:
        """Return the columns at rows X (n, d) of numpy, shape (n, n_columns)."""
        out = np.empty((X.shape[0], len(self.signs)), X.dtype)
        self.fill(X, mean, out)
        return out

    def fill(self, X: Rows, mean: NDArray, out: Array, *, compiled: bool = False) -> None:
        """Write the columns at rows X (n, d) into an array (n, n_columns); for many rows, numba is faster."""
        coordinates = self.axes.of(X, mean)
        n_combined, n_tail = self.combine.shape[1], len(self.tail)
        n_used = n_combined + n_tail
        if self._are_products:
            self.products[0].fill(coordinates, out[:, :n_tail], compiled=compiled)
        else:
            functions = products_at(self.products, coordinates)
            head = take_columns(functions, self.head)
            out[:, :n_combined] = head @ held_beside(self.combine, X)
            tail, scales = take_columns(functions, self.tail), held_beside(self.scales, X)
            multiply_into(out[:, n_combined:n_used], tail, scales)
        if n_used < len(self.signs):
            out[:, n_used:] = 0

    @property
    def _are_products(self) -> bool:
        """Whether the columns are the products themselves, in their order."""
        return not len(self.head) and len(self.products) == 1 and len(self.tail) == len(self.products[0])

    def names(self, n_axes: int, inputs: Sequence[str]) -> list[str]:
        """Return a name for each column, given those of the input columns."""
        axes = self.axes.names(n_axes, inputs)
        of_product = []
        for mark, products in zip(("", " wide"), self.products, strict=False):
            for number in range(len(products)):
                factors = [
                    axes[a] + (f"^{power}" if power > 1 else "") for a, power in products.tree.indices(number)
                ]
                of_product.append((" ".join(factors) or "1") + mark)
        n_combined = self.combine.shape[1]
        names = [f"combined{i + 1}" for i in range(n_combined)] + [of_product[i] for i in self.tail]
        return names + [f"zero{i + 1}" for i in range(len(self.signs) - len(names))]


def products_at(products: tuple[EigenProducts, ...], coordinates: Array | SparseCoordinates) -> Array:
    """Return all products at coordinates (n_axes, n), shape (n, n_products)."""
    out = room(coordinates, sum(map(len, products)))
    start = 0
    for each in products:
        each.fill(coordinates, out[:, start : start + len(each)])
        start += len(each)
    return out
