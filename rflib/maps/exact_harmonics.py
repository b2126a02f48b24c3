"""Exact harmonics of Fourier features: what is removed from the drawn columns, and the exact columns that hold it.

`rflib.measures.control_variates` has the formulas. Everything is held in plain arrays, so that a fitted map can be
stored and restored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from numpy.typing import NDArray
from scipy.fft import dct

from rflib.frequencies.products import NO_PRODUCTS, Products
from rflib.kernels.namespaces import (
    Array,
    beside,
    in_type_of,
    multiply_into,
    namespace,
    ones,
    products_of_columns,
    take_columns,
    widest,
)
from rflib.kernels.sparse_rows import ShiftedRows
from rflib.maps.row_blocks import over_row_blocks
from rflib.measures.control_variates import (
    ControlVariate,
    polynomial_columns,
    radial_functions,
    rising_product,
)

_BLOCK_ELEMENTS = 1 << 19
# From this number of rows on, the radial functions are interpolated if half of the nodes suffice up to rounding.
_INTERPOLATED_FROM = 1024
_N_NODES = 128
# Where there are no Bessel functions, this number of nodes must suffice.
_MOST_NODES = 1 << 15
_TAIL = 1e-12
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ExactHarmonics:
    """Radial functions h_k(rho) of the distance rho from the pole, each with a degree.

    The methods take rows, distances and frequencies in the ``unit``, so that no power of them overflows in single
    precision.

    Attributes
    ----------
    pole : ndarray of shape (d,)
        The point from which distances and directions of rows are measured.
    radii : ndarray of shape (n_radii,)
        Norms r_j of the measure.
    combination : ndarray of shape (n_radii, n_functions)
        h_k(rho) is the sum over j of combination[j, k] r_j^n Omega_{d+2n}(r_j rho).
    degrees, signs : ndarray of shape (n_functions,)
        Degree n of each function, and the sign of its columns.
    removal : ndarray of shape (n_frequencies, n_functions)
        Coefficient of each function in what is removed from each column, divided by the norm to the power n.
    frame : ndarray of shape (d, n_directions)
        Directions. If the last function has products, their products take the place of all polynomials of its
        degree.
    products : ndarray of shape (n_products, degree)
        Indices of the directions whose product is a column; empty if the last function has all its polynomials.
    """

    pole: NDArray
    radii: NDArray
    combination: NDArray
    degrees: NDArray
    signs: NDArray
    removal: NDArray
    frame: NDArray
    products: NDArray

    @staticmethod
    def of(
        pole: NDArray,
        controls: Sequence[ControlVariate],
        frequencies: NDArray,
        products: Products = NO_PRODUCTS,
    ) -> ExactHarmonics:
        """Return the harmonics of control variates that are removed from the columns of these frequencies."""
        if not controls:
            none = np.zeros(0)
            return ExactHarmonics(
                pole,
                none,
                np.zeros((0, 0)),
                none,
                none,
                np.zeros((len(frequencies), 0)),
                products.frame,
                products.factors,
            )
        norms = np.linalg.norm(frequencies, axis=1)
        distinct, inverse = np.unique(norms, return_inverse=True)
        return ExactHarmonics(
            pole,
            controls[0].radii,
            np.hstack([control.combination for control in controls]),
            np.concatenate([np.full(len(control.signs), control.degree) for control in controls]),
            np.concatenate([control.signs for control in controls]),
            np.hstack([control.scaled_removal(distinct)[inverse] for control in controls]),
            products.frame,
            products.factors,
        )

    @property
    def unit(self) -> float:
        """The unit of length, a power of two."""
        largest = self.radii.max(initial=0.0)
        return float(2.0 ** -np.round(np.log2(largest))) if largest else 1.0

    def column_signs(self) -> NDArray[np.float64]:
        """Return the signs of the exact columns."""
        return np.repeat(self.signs, self._sizes())

    def _sizes(self) -> list[int]:
        sizes = [polynomial_columns(len(self.pole), int(degree)) for degree in self.degrees]
        return [*sizes[:-1], len(self.products)] if len(self.products) else sizes

    def functions(self, norms: Array) -> Array:
        """Return h_k(rho) at the distances ``norms`` from the pole, shape (n_norms, n_functions)."""
        if namespace(norms) is not np:
            return self._functions_anywhere(norms)
        if len(norms) < _INTERPOLATED_FROM:
            return self._functions(norms)
        # The functions are entire functions of rho^2.
        largest = max(float(norms.max()) ** 2, _TINY)
        nodes = chebpts1(_N_NODES)
        coefficients = chebvander(nodes, _N_NODES - 1).T @ self._functions(np.sqrt(largest * (nodes + 1) / 2))
        coefficients[0] /= 2
        coefficients *= 2 / _N_NODES
        tail = np.abs(coefficients[_N_NODES // 2 :]).max(initial=0.0)
        if tail > _TAIL * np.abs(coefficients).max(initial=0.0):
            return self._functions(norms)
        return chebvander(2 * norms**2 / largest - 1, _N_NODES // 2 - 1) @ coefficients[: _N_NODES // 2]

    def _functions_anywhere(self, norms: Array) -> Array:
        """Return the functions where there are no Bessel functions: always interpolated, by Clenshaw's scheme.

        Raises
        ------
        ValueError
            If the functions have too many oscillations.
        """
        xp, norms = namespace(norms), widest(norms)
        largest = max(float(xp.max(norms)) ** 2, float(xp.finfo(norms.dtype).smallest_normal))
        known = beside(self._chebyshev_coefficients(largest), norms)
        t = (2 * norms**2 / largest - 1)[:, None]
        next_sum = after_next = 0 * t
        for k in range(known.shape[0] - 1, 0, -1):
            next_sum, after_next = known[k, :] + 2 * t * next_sum - after_next, next_sum
        return known[0, :] + t * next_sum - after_next

    def _chebyshev_coefficients(self, largest: float) -> NDArray[np.float64]:
        """Return the coefficients of the functions on [0, largest], the range of squared distances."""
        n_nodes = _N_NODES
        while n_nodes <= _MOST_NODES:
            nodes = chebpts1(n_nodes)[::-1]
            coefficients = dct(self._functions(np.sqrt(largest * (nodes + 1) / 2)), axis=0) / n_nodes
            coefficients[0] /= 2
            tail = np.abs(coefficients[n_nodes // 2 :]).max(initial=0.0)
            if tail <= _TAIL * np.abs(coefficients).max(initial=0.0):
                return coefficients[: n_nodes // 2]
            n_nodes *= 2
        raise ValueError(
            "Exact harmonics of a measure with so large norms, or of rows so far apart, cannot be computed on a "
            "device. Give the rows as arrays of numpy, or leave out the parameter harmonics."
        )

    def _functions(self, norms: NDArray) -> NDArray[np.float64]:
        values = np.empty((len(norms), len(self.degrees)))
        for degree in np.unique(self.degrees):
            of_degree = self.degrees == degree
            radial = radial_functions(len(self.pole), int(degree), self.radii * self.unit, norms)
            values[:, of_degree] = radial @ self.combination[:, of_degree]
        return values

    def fill(self, Y: Array | ShiftedRows, functions: Array, out: Array) -> None:
        """Write the exact columns into ``out`` (n, n_columns), for Y, the rows minus the pole."""
        n_whole = len(self.degrees) - bool(len(self.products))
        frame = beside(self.frame, out)

        def fill(rows: slice) -> None:
            block = Y[rows].astype(out.dtype) if isinstance(Y, ShiftedRows) else Y[rows, :]
            start = 0
            for k, degree in enumerate(self.degrees.tolist()):
                parts: Iterable[tuple[Array | float, Array]]
                if k == n_whole:
                    parts = [_chosen_products(_projected(block, frame), self.products, len(self.pole))]
                else:
                    parts = _polynomials(block, degree)
                for left, right in parts:
                    stop = start + right.shape[1]
                    multiply_into(out[rows, start:stop], functions[rows, k : k + 1] * left, right)
                    start = stop

        widest = max(out.shape[1], len(self.pole) if self.degrees[:n_whole].any() else 1)
        over_row_blocks(fill, out, max(1, _BLOCK_ELEMENTS // widest))

    def remover(
        self, functions: Array, norms: Array, frequencies: NDArray, amplitudes: NDArray, n_sines: int
    ) -> Callable[[Array, slice, Array], None]:
        """Return a function that removes the harmonics from a block of columns in place.

        Parameters
        ----------
        functions : array of shape (n, n_functions)
            h_k(rho) of the rows, in the type of the columns.
        norms : array of shape (n,)
            Distances rho of the rows from the pole.
        frequencies, amplitudes : ndarray of shape (n_frequencies, d) and (n_frequencies,)
            Frequencies and factors of the columns.
        n_sines : int
            The last n_sines columns are sines, the others cosines.

        Returns
        -------
        callable
            Function of the products <v_f, x>, the slice of their rows, and the columns.
        """
        xp, n_cosines = namespace(functions), len(frequencies) - n_sines
        coefficients = (self.removal * amplitudes[:, None] * self.unit**-self.degrees).T
        d = frequencies.shape[1]
        (zeroth, constant), (first, linear), (second, quadratic), (third, cubic) = (
            _two_or_more(np.flatnonzero(self.degrees == degree), coefficients) for degree in range(4)
        )
        cosines, sines = slice(n_cosines), slice(n_cosines, len(frequencies))
        squared_norms = (frequencies**2).sum(axis=1)
        squares = in_type_of(norms**2 / d, functions)[:, None]
        of_second, of_third = take_columns(functions, second), take_columns(functions, third)
        # -(<v, x>^2 - |v|^2 rho^2/d)/2 in two parts; the second one depends on the rows by their norms alone.
        quadratic = -0.5 * quadratic
        even = np.vstack([constant, -quadratic * squared_norms])[:, cosines]
        of_even = xp.concat([take_columns(functions, zeroth), of_second * squares], axis=1)
        # <v, x> times a sum of two parts and -(<v, x>^2 - 3 |v|^2 rho^2/(d+2))/6 in two parts, likewise.
        cubic = -cubic / 6
        odd = np.vstack([linear, -cubic * 3 * d / (d + 2) * squared_norms])[:, sines]
        of_odd = xp.concat([take_columns(functions, first), of_third * squares], axis=1)
        even, quadratic = beside(even, functions), beside(quadratic[:, cosines], functions)
        odd, cubic = beside(odd, functions), beside(cubic[:, sines], functions)

        def remove(product: Array, rows: slice, columns: Array) -> None:
            if even.shape[0] and n_cosines:
                harmonic = of_even[rows, :] @ even
                if second.size:
                    harmonic += product[:, cosines] ** 2 * (of_second[rows, :] @ quadratic)
                columns[:, cosines] -= harmonic
            if odd.shape[0] and n_sines:
                harmonic = of_odd[rows, :] @ odd
                if third.size:
                    harmonic += product[:, sines] ** 2 * (of_third[rows, :] @ cubic)
                harmonic *= product[:, sines]
                columns[:, sines] -= harmonic

        return remove


def _two_or_more(which: NDArray, coefficients: NDArray) -> tuple[NDArray, NDArray]:
    """Return indices of functions and their coefficients; a single one is doubled, with zeros as coefficients.

    numpy's @ takes several times as long with an inner dimension of one as with one of two.
    """
    if len(which) != 1:
        return which, coefficients[which]
    return np.repeat(which, 2), np.vstack([coefficients[which], 0 * coefficients[which]])


def _projected(Y: Array | ShiftedRows, frame: Array) -> Array:
    """Return the coordinates of the rows along the directions of the frame."""
    return Y.product(frame, Y.vector @ frame) if isinstance(Y, ShiftedRows) else Y @ frame


def _polynomials(Y: Array | ShiftedRows, degree: int) -> Iterator[tuple[Array | float, Array]]:
    """Yield dense columns whose inner products are the polynomial kernel of the degree.

    Each part is a factor, which may differ by row, and a block of columns that it multiplies.
    """
    n, d = Y.shape
    if degree == 0:
        yield 1.0, np.ones((n, 1), dtype=Y.dtype) if isinstance(Y, ShiftedRows) else ones((n, 1), Y)
        return
    if isinstance(Y, ShiftedRows):
        Y = Y.toarray()
    scale = rising_product(d, degree) ** -0.5
    if degree == 1:
        yield scale, Y
    elif degree == 2:
        yield scale, _pairs(Y)
        yield (2 * d * (d + 2)) ** -0.5, (Y * Y) @ beside(_contrasts(d), Y)
    else:
        pairs = _pairs(Y)
        for i in range(d - 2):
            yield Y[:, i : i + 1] * scale, pairs[:, pairs.shape[1] - comb(d - 1 - i, 2) :]
        cubes = (Y * Y) @ beside(_cubes(d), Y)
        cubes *= take_columns(Y, np.repeat(np.arange(d), d - 1))
        yield (6 * d * (d + 2) * (d + 4)) ** -0.5, cubes


def _pairs(Y: Array) -> Array:
    """Return the products of every two different columns, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    return products_of_columns(Y, np.triu_indices(Y.shape[1], 1))


def _chosen_products(Y: Array, products: NDArray, d: int) -> tuple[Array | float, Array]:
    """Return products of columns of Y as such a part; those of all harmonics of the degree give its kernel."""
    return rising_product(d, products.shape[1]) ** -0.5, products_of_columns(Y, products.T)


@lru_cache(maxsize=8)
def _cubes(d: int) -> NDArray[np.float64]:
    """Return coefficients of squares, shape (d, d (d-1)).

    The squares with the first d-1 columns, times x_1, are orthonormal harmonics of degree 3. Those with the next
    d-1 columns, times x_2, are others, and so on.
    """
    weights = np.append(1.0, np.full(d - 1, np.sqrt(3)))
    trace = 1 / weights / np.linalg.norm(1 / weights)
    normal = trace - np.eye(1, d)[0]
    reflection = np.eye(d) - 2 * np.outer(normal, normal) / max(normal @ normal, _TINY)
    of_first = weights[:, None] * reflection[:, 1:]
    return np.hstack([np.roll(of_first, k, axis=0) for k in range(d)])


@lru_cache(maxsize=8)
def _contrasts(d: int) -> NDArray[np.float64]:
    """Return orthonormal columns whose sums are zero (Helmert), shape (d, d-1)."""
    i = np.arange(1, d)
    return (np.triu(np.ones((d, d - 1))) - np.eye(d, d - 1, -1) * i) / np.sqrt(i * (i + 1))
