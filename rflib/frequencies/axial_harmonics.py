"""Harmonics about an axis, for kernels that are positive definite on the unit sphere only, and their choice.

The axis is the direction of the mean of the rows. Seen from there, an expansion in all d coordinates has negative
parts unless the kernel is positive definite on the whole space, which a polynomial kernel is not; the parts of the
expansion about the axis are all positive (`rflib.frequencies.axial_functions`). Rows near their mean have a small
part across the axis, so that low degrees hold nearly all of the kernel.

Some functions have all harmonics of their degree as columns, and others a sample of them
(`rflib.frequencies.sampled_harmonics`). What is left out of the kernel is positive definite, so that its largest
value on the diagonal bounds the bias. docs/mvorf.md derives this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from rflib.frequencies.axial_functions import AxialFunctions, leading_functions
from rflib.frequencies.sampled_harmonics import HIGHEST_DEGREE, Choice, SampledHarmonics, Terms, choose
from rflib.frequencies.stratified_pairs import StratifiedPairs
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import unit_kernel
from rflib.measures.row_pairs import RowPairs

_N_GRID = 201
# Rows whose mean is nearer to the origin have no axis.
_LEAST_MEAN = 1e-3


@dataclass(frozen=True, eq=False)
class AxialHarmonics(SampledHarmonics):
    """Functions of the coordinate along an axis, with the harmonics of the perpendicular part of the rows.

    Attributes
    ----------
    functions : AxialFunctions
        The functions. Those that have a sample of their harmonics are multiplied by the root of their factor.
    length : float
        Norm of the mean of the rows.
    """

    functions: AxialFunctions
    length: float

    @property
    def dimension(self) -> int:
        """The number of input columns less the one along the axis."""
        return self.measure.dimension - 1

    @property
    def degrees(self) -> list[int]:
        """The degree of each function."""
        return list(self.functions.degrees.tolist())

    def terms(self, pairs: RowPairs) -> Terms:
        """Return the terms of the functions at pairs that are seen from the mean of the rows."""
        return _terms(self.functions, pairs, self.length)

    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return the largest value on the diagonal of what is left out, which is positive definite."""
        t = np.linspace(-1, 1, _N_GRID)
        norms = np.sqrt(np.maximum(1 + self.length**2 - 2 * self.length * t, 0))
        pairs = RowPairs.of_themselves(np.zeros(self.measure.dimension), norms)
        mean = self.terms(pairs).kernels().sum(axis=0)
        return float(np.abs(float(kernel.at_distance(np.zeros(1))[0]) - mean).max())


def axial_harmonics(
    kernel: RadialKernel, rows: StratifiedPairs, pairs: RowPairs, n_columns: int, measure: AtomicMeasure
) -> AxialHarmonics | None:
    """Return the harmonics with the least predicted error, or None if the mean of the rows is near the origin.

    Parameters
    ----------
    kernel : RadialKernel
        A kernel that is positive definite on the unit sphere.
    rows : StratifiedPairs
        Rows of unit norm, to which functions are fitted.
    pairs : RowPairs
        Pairs over which the error is averaged, seen from the mean of the rows.
    n_columns : int
        Number of columns D.
    measure : AtomicMeasure
        The measure of the best other columns.
    """
    length = float(np.linalg.norm(pairs.centre))
    if length < _LEAST_MEAN or len(pairs.centre) < 3:
        return None
    along = tuple(_coordinate(rows.norms, length).tolist()), tuple(rows.weights.tolist())
    functions, choice = _found(kernel, length, *along, pairs, n_columns)
    return AxialHarmonics(measure, choice.samples, choice.mean_squared_error, functions, length)


@lru_cache(maxsize=32)
def _found(
    kernel: RadialKernel,
    length: float,
    coordinates: tuple[float, ...],
    weights: tuple[float, ...],
    pairs: RowPairs,
    n_columns: int,
) -> tuple[AxialFunctions, Choice]:
    """Return the best functions and their samples."""
    functions = leading_functions(kernel, coordinates, weights, len(pairs.centre), HIGHEST_DEGREE)
    exact = kernel.at_distance(pairs.distances)
    choice = choose(exact, _terms(functions, pairs, length), pairs.shares, n_columns)
    chosen = choice.functions
    coefficients = functions.coefficients[:, chosen] * choice.scales
    return AxialFunctions(functions.degrees[chosen], coefficients), choice


def _terms(functions: AxialFunctions, pairs: RowPairs, length: float) -> Terms:
    e, (t, cosines) = len(pairs.centre) - 1, _along(pairs, length)
    distinct, places = np.unique(t, return_inverse=True)
    values = chebval(distinct, functions.coefficients)[:, places.reshape(t.shape)].prod(axis=1)
    size, degrees = np.sqrt(np.maximum(1 - t**2, 0)).prod(axis=0), functions.degrees.tolist()
    radial_factors = [unit_kernel(e, n) * size**n * value for n, value in zip(degrees, values, strict=True)]
    return Terms(e, cosines, degrees, np.array(radial_factors).reshape(len(degrees), -1))


def _coordinate(norms: NDArray, length: float) -> NDArray[np.float64]:
    """Return the coordinate t of rows of unit norm at these distances from the mean."""
    return np.clip((1 + length**2 - norms**2) / (2 * length), -1, 1)


def _along(pairs: RowPairs, length: float) -> tuple[NDArray, NDArray]:
    """Return the coordinates (2, n_pairs) of pairs, and the cosines of the angles between perpendicular parts."""
    t = _coordinate(pairs.norms, length)
    across = np.sqrt(np.maximum(1 - t**2, 0)).prod(axis=0)
    products = 1 - pairs.distances**2 / 2 - t.prod(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = products / across
    return t, np.clip(np.nan_to_num(cosines, nan=1.0), -1, 1)
