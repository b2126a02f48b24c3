"""Cosines and sines with frequencies of their own, less their lowest harmonics, which have exact columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from rflib.kernels.namespaces import Array, beside, in_type_of, namespace, take_columns
from rflib.kernels.sparse_rows import Rows, ShiftedRows
from rflib.maps.cosine_features import cosine_features, cosine_gradients
from rflib.maps.polynomial_columns import fill_polynomials
from rflib.maps.radial_functions import RadialFunctions
from rflib.maps.row_blocks import over_row_blocks
from rflib.measures.control_variates import ControlVariate, polynomial_columns

_BLOCK_ELEMENTS = 1 << 19


@dataclass(frozen=True, eq=False)
class CosinesAndSines:
    """Cosines and sines with frequencies of their own, less their low harmonics, which have exact columns.

    The columns are sqrt(|w_f|) cos(<v_f, x - c>), then sqrt(|w_f|) sin(<v_f, x - c>), for the pole c. From each
    column its harmonics are removed (`rflib.measures.control_variates`). The exact harmonics follow.

    Attributes
    ----------
    frequencies, weights : ndarray of shape (n_frequencies, d) and (n_frequencies,)
        The v_f and w_f.
    n_sines : int
        The last n_sines frequencies have a sine.
    functions : RadialFunctions
        The radial functions of the exact harmonics, which know the pole.
    function_signs : ndarray of shape (n_functions,)
        The sign of the columns of each function.
    removal : ndarray of shape (n_frequencies, n_functions)
        Coefficient of each function in what is removed from each column, divided by the norm to the power n.
    """

    frequencies: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_sines: int
    functions: RadialFunctions
    function_signs: NDArray[np.float64]
    removal: NDArray[np.float64]

    @staticmethod
    def of(
        frequencies: NDArray,
        weights: NDArray,
        n_sines: int,
        pole: NDArray,
        controls: Sequence[ControlVariate] = (),
        *,
        unit_rows: bool = False,
    ) -> CosinesAndSines:
        """Return waves less these control variates, as seen from the pole, and the exact columns of these."""
        distinct, inverse = np.unique(np.linalg.norm(frequencies, axis=1), return_inverse=True)
        removed = [control.scaled_removal(distinct)[inverse] for control in controls]
        return CosinesAndSines(
            frequencies,
            weights,
            n_sines,
            RadialFunctions.of(pole, controls, unit_rows=unit_rows),
            np.concatenate([np.zeros(0), *(control.signs for control in controls)]),
            np.hstack([np.zeros((len(weights), 0)), *removed]),
        )

    @property
    def fades(self) -> bool:
        """Whether the columns represent the kernel near the training rows only, as exact harmonics do."""
        return len(self.function_signs) > 0

    @property
    def phases(self) -> NDArray[np.float64]:
        """The phases of the waves as seen from the pole, which are zero."""
        return np.zeros(len(self.weights))

    @property
    def signs(self) -> NDArray[np.float64]:
        """The signs of the columns."""
        sizes = [polynomial_columns(self.functions.dimension, n) for n in self.functions.degrees.tolist()]
        return np.append(np.where(self.weights < 0, -1.0, 1.0), np.repeat(self.function_signs, sizes))

    def largest(self, entry: float) -> float:
        """Return a bound on what occurs in the computation, if no entry of a row is above ``entry`` >= 1."""
        d, reach = self.frequencies.shape[1], self.functions.reach(entry)
        norm = float(row_norms(self.frequencies).max(initial=0.0))
        waves = (entry + float(np.abs(self.functions.pole).max())) * d**0.5 * norm
        return float(max(reach, waves) ** max(1, self.functions.degrees.max(initial=0)))

    def fill(self, X: Rows, out: Array) -> None:
        """Write the columns of the rows into ``out``, shape (n, n_columns)."""
        about, n_waves, remove = self.functions, len(self.weights), None
        Y, phases, frequencies = X, np.zeros(n_waves), self.frequencies
        if issparse(X):  # the products with X minus the pole are those with X minus those with the pole
            phases = -frequencies @ about.pole
        elif about.pole.any():
            Y = X - beside(about.pole, X)
        if len(about.degrees):
            Y, frequencies = in_type_of(Y / about.unit, X), frequencies * about.unit
            seen = about.seen(X) if issparse(X) else Y
            norms = about.norms(seen)
            functions = in_type_of(about.at(norms), out)
            remove = self._remover(functions, norms)
        amplitudes = np.sqrt(np.abs(self.weights))
        waves = out[:, :n_waves]
        cosine_features(Y, frequencies, phases, amplitudes, 0, n_sines=self.n_sines, out=waves, remove=remove)
        if len(about.degrees):
            self._fill_exact(seen, functions, out[:, n_waves:])

    def gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `cosine_gradients` of sums of the columns, if none of them is an exact harmonic."""
        phases, amplitudes = -self.frequencies @ self.functions.pole, np.sqrt(np.abs(self.weights))
        return cosine_gradients(X, weights, self.frequencies, phases, amplitudes, 0, self.n_sines)

    def _fill_exact(self, Y: Array | ShiftedRows, functions: Array, out: Array) -> None:
        degrees = self.functions.degrees.tolist()

        def fill(rows: slice) -> None:
            block = Y[rows].astype(out.dtype) if isinstance(Y, ShiftedRows) else Y[rows, :]
            fill_polynomials(block, degrees, functions[rows, :], out[rows, :])

        widest = max(out.shape[1], self.functions.dimension if any(degrees) else 1)
        over_row_blocks(fill, out, max(1, _BLOCK_ELEMENTS // widest))

    def _remover(self, functions: Array, norms: Array) -> Callable[[Array, slice, Array], None]:
        """Return a function of the products <v_f, x>, the slice of their rows and the columns, which it changes.

        Parameters
        ----------
        functions : array of shape (n, n_functions)
            h_k(rho) of the rows, in the type of the columns.
        norms : array of shape (n,)
            Distances rho of the rows from the pole.
        """
        about, xp, n_cosines = self.functions, namespace(functions), len(self.weights) - self.n_sines
        amplitudes = np.sqrt(np.abs(self.weights))
        coefficients = (self.removal * amplitudes[:, None] * about.unit ** -about.degrees.astype(float)).T
        d = about.dimension
        (zeroth, constant), (first, linear), (second, quadratic), (third, cubic) = (
            _two_or_more(np.flatnonzero(about.degrees == degree), coefficients) for degree in range(4)
        )
        cosines, sines = slice(n_cosines), slice(n_cosines, len(self.weights))
        squared_norms = ((self.frequencies * about.unit) ** 2).sum(axis=1)
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
            if odd.shape[0] and self.n_sines:
                harmonic = of_odd[rows, :] @ odd
                if third.size:
                    harmonic += product[:, sines] ** 2 * (of_third[rows, :] @ cubic)
                harmonic *= product[:, sines]
                columns[:, sines] -= harmonic

        return remove


def _two_or_more(which: NDArray[Any], coefficients: NDArray) -> tuple[NDArray, NDArray]:
    """Return indices of functions and their coefficients; a single one is doubled, with zeros as coefficients.

    numpy's @ takes several times as long with an inner dimension of one as with one of two.
    """
    if len(which) != 1:
        return which, coefficients[which]
    return np.repeat(which, 2), np.vstack([coefficients[which], 0 * coefficients[which]])
