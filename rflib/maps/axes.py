"""Axes of rows, and the coordinates of dense and sparse rows on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.namespaces import Array, beside, held_beside
from rflib.kernels.sparse_rows import Rows
from rflib.maps.axis_functions import Tables


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes along which rows have coordinates.

    The coordinates of the ``mean`` (d,) are zero. The ``directions`` (n_axes, d) are unit vectors; None stands
    for the input columns. The last axes are the input columns with the numbers ``inputs`` (n_inputs,). The
    coordinates of the training rows have the standard deviations ``spreads`` (n_axes,).
    """

    mean: NDArray[np.float64]
    directions: NDArray[np.float64] | None
    inputs: NDArray[np.int64]
    spreads: NDArray[np.float64]

    @staticmethod
    def of_inputs(mean: NDArray, variances: NDArray) -> Axes:
        """Return the input columns, which have these variances (d,)."""
        return Axes(mean, None, np.arange(len(variances)), np.sqrt(variances))

    @staticmethod
    def principal(mean: NDArray, covariance: NDArray, rotated: NDArray[np.int64]) -> Axes:
        """Return the principal axes of some input columns, the largest variance first, and the other columns."""
        d = len(covariance)
        values, vectors = np.linalg.eigh(covariance[np.ix_(rotated, rotated)])
        kept = np.setdiff1d(np.arange(d), rotated)
        directions = np.zeros((d, d))
        directions[: len(rotated), rotated] = vectors[:, ::-1].T
        directions[len(rotated) + np.arange(len(kept)), kept] = 1
        variances = np.append(np.maximum(values[::-1], 0), covariance.diagonal()[kept])
        return Axes(mean, directions, kept, np.sqrt(variances))

    def of(self, X: Rows) -> Array | SparseCoordinates:
        """Return the coordinates (n_axes, n) of rows X (n, d)."""
        if self.directions is None:
            return SparseCoordinates(X, self.mean) if issparse(X) else (X - beside(self.mean, X)).T
        return held_beside(self.directions, X) @ X.T - beside(self.directions @ self.mean, X)[:, None]

    def names(self, inputs: Sequence[str]) -> list[str]:
        """Return the names of the axes: pc1, pc2, ... and those of the input columns."""
        rotated = len(self.spreads) - len(self.inputs)
        return [f"pc{i + 1}" for i in range(rotated)] + [str(inputs[j]) for j in self.inputs]


@dataclass(frozen=True, eq=False)
class SparseCoordinates:
    """The coordinates (n_axes, n) of sparse rows from their mean, of which none is stored."""

    rows: Rows
    mean: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of axes and of rows."""
        n, n_axes = self.rows.shape
        return n_axes, n

    def __getitem__(self, axes: slice) -> NDArray[np.float64]:
        """Return the coordinates on some consecutive axes, dense."""
        return (self.rows[:, axes].toarray() - self.mean[axes]).T

    def functions(self, tables: Tables) -> tuple[NDArray, NDArray]:
        """Return what `Tables.at` does: the product of all first functions, and the others divided by the first.

        Each row has the values of a row of zeros, but for those on the axes of its entries.
        """
        n, axes = self.rows.shape[0], self.rows.indices
        first, others = tables.factors(np.arange(len(self.mean)), -self.mean[:, None])
        own, own_others = tables.factors(axes, (self.rows.data - self.mean[axes])[:, None])
        changes = self.rows.astype(complex)
        changes.data = (own - first[axes])[:, 0]
        root = np.exp(first.sum() + changes.sum(axis=1)).real
        ratios = np.empty((len(others), n), self.rows.dtype)
        ratios[:] = others
        counts = np.diff(tables.starts)[axes] - 1
        entries = np.repeat(np.arange(len(axes)), counts)
        order = np.arange(len(entries)) - (np.cumsum(counts) - counts)[entries]
        rows = np.repeat(np.arange(n), np.diff(self.rows.indptr))
        ratios[(tables.starts[axes] - axes)[entries] + order, rows[entries]] = own_others[:, 0]
        return root.astype(self.rows.dtype), ratios
