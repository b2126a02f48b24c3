"""A block of columns that are harmonics: functions about a pole or an axis, with all harmonics or a sample.

`rflib.frequencies.sampled_harmonics` chooses them and has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.frequencies.axial_harmonics import AxialHarmonics
from rflib.frequencies.radial_harmonics import RadialHarmonics
from rflib.kernels.namespaces import Array, beside, in_type_of, widest
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.polynomial_columns import fill_polynomials
from rflib.maps.radial_functions import RadialFunctions, clenshaw
from rflib.maps.row_blocks import over_row_blocks
from rflib.maps.sample_columns import SampleColumns
from rflib.measures.control_variates import polynomial_columns

_BLOCK_ELEMENTS = 1 << 19


@dataclass(frozen=True, eq=False)
class FunctionsAlongAxis:
    """Functions h_k(t) of the coordinate t of rows of unit norm along an axis, each with a degree.

    Attributes
    ----------
    axis : ndarray of shape (d,)
        The axis, a unit vector.
    coefficients : ndarray of shape (n_nodes, n_functions)
        Chebyshev coefficients of h_k(t), divided by the norm of the perpendicular part to the power of the degree.
    degrees : ndarray of shape (n_functions,)
        Degree of each function.
    """

    axis: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    degrees: NDArray[np.int64]

    @property
    def dimension(self) -> int:
        """The dimension of the space in which the harmonics are."""
        return len(self.axis) - 1

    def reach(self, largest: float) -> float:
        """Return what no power of is beyond the range of numbers, if no entry of a row is above ``largest``."""
        return largest * len(self.axis)

    def view(self, X: Rows, out: Array) -> tuple[Array, Callable[[slice], Array]]:
        """Return the functions at the rows, in the type of ``out``, and a function of a slice of the rows.

        It returns the parts of these rows across the axis, of which a reflection makes the first coordinate.
        """
        t = widest(X @ beside(self.axis, out))
        normal = self.axis + np.copysign(1.0, self.axis[0]) * np.eye(1, len(self.axis))[0]
        mirror = beside(normal / np.linalg.norm(normal), out)

        def across(rows: slice) -> Array:
            block = dense(X[rows]) if issparse(X) else X[rows, :]
            return (block - (block @ mirror)[:, None] * (2 * mirror))[:, 1:]

        return in_type_of(clenshaw(beside(self.coefficients, t), t), out), across


@dataclass(frozen=True, eq=False)
class Harmonics:
    """Functions with all their harmonics, followed by functions with a sample of them.

    Attributes
    ----------
    functions : RadialFunctions or FunctionsAlongAxis
        The functions, of which the last ones have samples.
    function_signs : ndarray of shape (n_functions,)
        The sign of the columns of each function.
    samples : SampleColumns
        The samples.
    n_spare : int
        Number of further columns, which are zero because no others would lower the error.
    """

    functions: RadialFunctions | FunctionsAlongAxis
    function_signs: NDArray[np.float64]
    samples: SampleColumns
    n_spare: int

    @property
    def fades(self) -> bool:
        """Whether the columns represent the kernel near the training rows only, as all harmonics do."""
        return True

    @property
    def signs(self) -> NDArray[np.float64]:
        """The signs of the columns."""
        sizes = np.append(self._sizes, self.samples.sizes)
        return np.append(np.repeat(self.function_signs, sizes), np.ones(self.n_spare))

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """The number of columns of each function with all harmonics."""
        whole = self.functions.degrees[: len(self.functions.degrees) - len(self.samples.degrees)]
        return np.array([polynomial_columns(self.functions.dimension, n) for n in whole.tolist()], dtype=int)

    def largest(self, entry: float) -> float:
        """Return a bound on what occurs in the computation, if no entry of a row is above ``entry`` >= 1."""
        return float(self.functions.reach(entry) ** max(1, self.functions.degrees.max(initial=0)))

    def fill(self, X: Rows, out: Array) -> None:
        """Write the columns of the rows into ``out``, shape (n, n_columns)."""
        about, samples, sizes = self.functions, self.samples, self._sizes
        degrees, n_whole, n_exact = about.degrees[: len(sizes)].tolist(), len(sizes), int(sizes.sum())
        n_used = n_exact + int(samples.sizes.sum())
        functions, seen = about.view(X, out)

        def fill(rows: slice) -> None:
            block = seen(rows)
            fill_polynomials(block, degrees, functions[rows, :n_whole], out[rows, :n_exact])
            samples.fill(block, functions[rows, n_whole:], out[rows, n_exact:n_used])
            out[rows, n_used:] = 0

        width = max(n_used + samples.frame.shape[1], about.dimension, 1)
        over_row_blocks(fill, out, max(1, _BLOCK_ELEMENTS // width))


def harmonics_of(
    found: RadialHarmonics | AxialHarmonics,
    pole: NDArray,
    n_columns: int,
    rng: Generator,
    *,
    unit_rows: bool,
) -> Harmonics:
    """Return the block of chosen harmonics, whose samples are drawn.

    Parameters
    ----------
    found : RadialHarmonics or AxialHarmonics
        The choice.
    pole : ndarray of shape (d,)
        Where rows are seen from. An axis goes through it.
    n_columns : int
        Number of columns D.
    rng : Generator
        Source of randomness.
    unit_rows : bool
        Whether all rows have unit norm.
    """
    samples = SampleColumns.of(found.draw(rng), found.samples, found.dimension)
    scales = np.ones(len(found.degrees))
    scales[len(scales) - len(samples.degrees) :] = samples.scales(found.dimension)
    functions: RadialFunctions | FunctionsAlongAxis
    if isinstance(found, AxialHarmonics):
        coefficients, degrees = found.functions.coefficients * scales, found.functions.degrees
        functions = FunctionsAlongAxis(pole / found.length, coefficients, degrees)
        signs = np.ones(len(scales))
    else:
        functions = RadialFunctions.of(pole, found.functions, unit_rows=unit_rows)
        functions = replace(functions, combination=functions.combination * scales)
        signs = np.concatenate([np.zeros(0), *(each.signs for each in found.functions)])
    block = Harmonics(functions, signs, samples, 0)
    return replace(block, n_spare=n_columns - len(block.signs))
