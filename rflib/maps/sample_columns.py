"""Columns that are a sample of the harmonics of functions: products of real or complex coordinates.

`rflib.frequencies.coordinate_products` has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.frequencies.coordinate_products import CoordinateProducts
from rflib.frequencies.sampled_harmonics import Sample
from rflib.kernels.namespaces import Array, complex_numbers, held_beside, multiply_into, namespace, take_rows
from rflib.kernels.sparse_rows import ShiftedRows
from rflib.measures.control_variates import polynomial_columns, rising_product

# Coordinates have one row for each direction, and this number of products stays in the cache of a processor.
_PRODUCTS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class SampleColumns:
    """Products of coordinates, of several functions.

    Attributes
    ----------
    degrees, counts : ndarray of shape (n_functions,)
        Degree of each function, and the number of its products.
    shifts : ndarray of shape (n_functions,)
        Where the direction of the imaginary part of a coordinate is in the frame, as seen from that of its real
        part; 0 for products of real coordinates. A product of complex coordinates is two columns.
    frame : ndarray of shape (d, n_directions)
        Directions of the coordinates.
    factors : ndarray of shape (n_products, highest degree)
        Places in the frame of the coordinates that are the factors of each product, in the order of the functions.
        Products of a lower degree have -1 in the last places.
    """

    degrees: NDArray
    counts: NDArray
    shifts: NDArray
    frame: NDArray
    factors: NDArray

    @staticmethod
    def of(drawn: Sequence[CoordinateProducts], samples: Sequence[Sample], d: int) -> SampleColumns:
        """Return the columns of samples in dimension d."""
        counts, parts = np.array(samples, dtype=int).reshape(-1, 2).T
        degrees = np.array([each.factors.shape[1] for each in drawn], dtype=int)
        widths = np.array([each.frame.shape[1] for each in drawn], dtype=int)
        factors = np.full((counts.sum(), degrees.max(initial=0)), -1)
        rows, places = np.cumsum(counts) - counts, np.cumsum(widths) - widths
        for each, row, place in zip(drawn, rows, places, strict=True):
            n, degree = each.factors.shape
            factors[row : row + n, :degree] = each.factors + place
        shifts = np.where(parts == 2, widths // 2, 0)
        frame = np.hstack([np.zeros((d, 0)), *(each.frame for each in drawn)])
        return SampleColumns(degrees, counts, shifts, frame, factors)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of columns of each function."""
        return np.where(self.shifts, 2, 1) * self.counts

    def scales(self, d: int) -> NDArray[np.float64]:
        """Return what the functions in dimension d are multiplied by because they have a sample of harmonics."""
        harmonics = np.array([polynomial_columns(d, int(degree)) for degree in self.degrees])
        return np.sqrt(harmonics / (self.counts * np.where(self.shifts, 2.0, 1.0) ** self.degrees))

    def fill(self, block: Array | ShiftedRows, functions: Array, out: Array) -> None:
        """Write the columns for a block of rows (n, d) into ``out`` (n, n_columns).

        Parameters
        ----------
        block : array or ShiftedRows
            Rows as seen from the pole or across the axis.
        functions : array of shape (n, n_functions)
            The functions at the rows, multiplied by `scales`.
        out : array
            The columns.
        """
        if not len(self.factors):
            return
        frame, factors, d = held_beside(self.frame, out), held_beside(self.factors, out), self.frame.shape[0]
        of_functions = zip(self.counts.tolist(), self.degrees.tolist(), self.shifts.tolist(), strict=True)
        at_once = _PRODUCTS_AT_ONCE if isinstance(out, np.ndarray) else len(self.factors)
        if isinstance(block, ShiftedRows):
            along = np.ascontiguousarray(block.product(frame, block.vector @ frame).T)
        else:
            along = frame.T @ block.T
        used = column = 0
        for k, (n, degree, shift) in enumerate(of_functions):
            scaled = functions[:, k : k + 1] * rising_product(d, degree) ** -0.5
            coordinates = complex_numbers(along[:-shift, :], along[shift:, :]) if shift else along
            for start in range(0, n, at_once):
                stop = min(start + at_once, n)
                parts = _products(coordinates, factors[used + start : used + stop, :degree])
                for place, part in zip((column, column + n), parts, strict=False):
                    multiply_into(out[:, place + start : place + stop], scaled, part.T)
            used += n
            column += n * (2 if shift else 1)


def _products(coordinates: Array, factors: Array) -> tuple[Array, ...]:
    """Return products of real coordinates, or the parts of those of complex ones, shape (n_products, n_rows)."""
    product, xp = take_rows(coordinates, factors[:, 0]), namespace(coordinates)
    for k in range(1, factors.shape[1]):
        product *= take_rows(coordinates, factors[:, k])
    if xp.isdtype(product.dtype, "complex floating"):
        return xp.real(product), xp.imag(product)
    return (product,)
