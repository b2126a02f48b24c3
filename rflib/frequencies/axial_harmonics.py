"""Harmonics about an axis: exact columns for kernels that are positive definite on the unit sphere only.

Let m be the direction of the mean of the rows, which have unit norm, t = <m, x>, and x' the part of x that is
perpendicular to m, of norm rho. With the angle s between x' and y', a kernel f(<x, y>) is

    f(t t' + rho rho' cos s) = sum_l G_l(t, t') P_l(cos s),
    G_l(t, t') = N_l E[f(t t' + rho rho' v) P_l(v)],

where P_l and N_l are the Legendre polynomial and the number of harmonics of degree l in dimension d - 1, and v is
a coordinate of a uniform direction there. Each G_l is positive definite, because it is a projection of the kernel.
An expansion about the mean in all d coordinates does not have this property, unless the kernel is positive
definite on the whole space, which a polynomial kernel is not. Rows near their mean have small rho, so that low
degrees l hold nearly all of the kernel.

The leading eigenfunctions h_k of the G_l, for the distribution of t, have exact columns h_k(t) Y(x'/rho) with all
harmonics Y of their degree, in descending order of their eigenvalues as eigenfunctions of the kernel. The last one
has a sample of its harmonics only (`rflib.frequencies.products`). What is left out is positive definite, so that
its largest value on the diagonal bounds the bias. docs/mvorf.md derives this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebval
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.special import roots_jacobi

from rflib.frequencies.leading_harmonics import LeadingHarmonics
from rflib.frequencies.products import NO_PRODUCTS, Products, draw_products, relative_variance
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import ControlVariate, polynomial_columns, rising_product
from rflib.measures.harmonics import legendre
from rflib.measures.row_pairs import RowPairs

_HIGHEST_DEGREE = 3
_NEGLIGIBLE = 1e-14
# Eigenfunctions are extended from the anchors up to this ratio of the eigenvalues of one degree.
_RANK_TOLERANCE = 1e-13
_N_NODES = 64
# Points on the whole axis count with this share beside the rows, so that functions extend beyond the rows.
_N_EVERYWHERE, _SHARE_EVERYWHERE = 24, 1e-6
_N_ANGLES = 48
_N_GRID = 201
# Rows whose mean is nearer to the origin have no axis.
_LEAST_MEAN = 1e-3


@dataclass(frozen=True, eq=False)
class AxialHarmonics(LeadingHarmonics):
    """Functions of the coordinate along an axis, with the harmonics of the perpendicular part of the rows.

    Attributes
    ----------
    length : float
        Norm of the mean of the rows.
    degrees : ndarray of shape (n_functions,)
        Degree l of each function, in the order of the columns.
    coefficients : ndarray of shape (n_nodes, n_functions)
        Chebyshev coefficients of h_k(t) / rho^l.
    n_columns : int
        Number of columns.
    n_products : int
        Number of columns of the sample of the last function's harmonics; 0 if it has all of them.
    factor, mean_squared_error : float
        As for `LeadingHarmonics`.
    measure : AtomicMeasure
        The measure of the best other columns; it is not used. ``radial`` is empty.
    """

    length: float
    degrees: NDArray
    coefficients: NDArray
    n_columns: int

    @property
    def n_exact(self) -> int:
        """The number of columns that are not cosines or sines, which is the number of all columns."""
        return self.n_columns

    @property
    def controls(self) -> tuple[ControlVariate, ...]:
        """No radial functions."""
        return ()

    def products(self, rng: Generator) -> Products:
        """Return no products; those across the axis are `axial_products`."""
        return NO_PRODUCTS

    def axial_products(self, rng: Generator) -> Products:
        """Draw the sample of the last function's harmonics, across the axis."""
        if not self.n_products:
            return NO_PRODUCTS
        return draw_products(self.n_products, self.measure.dimension - 1, int(self.degrees[-1]), rng)

    def scaled_coefficients(self) -> NDArray[np.float64]:
        """Return the coefficients, of which those of the last function are scaled for its sample."""
        scales = np.ones(len(self.degrees))
        if self.n_products:
            share = self.n_products / polynomial_columns(self.measure.dimension - 1, int(self.degrees[-1]))
            scales[-1] = np.sqrt(self.factor / share)
        return self.coefficients * scales

    def moments(self, pairs: RowPairs) -> tuple[NDArray, NDArray, NDArray]:
        """Return the kernel of the exact harmonics, that of the last function, and the variance of its sample.

        The pairs are seen from the mean of the rows. Each has the shape (n_pairs,).
        """
        t, cosines = _along(pairs, self.length)
        e = self.measure.dimension - 1
        size = np.sqrt(np.maximum(1 - t**2, 0)).prod(axis=0)
        values = chebval(t, self.coefficients).prod(axis=1)
        parts = [
            _unit(e, degree) * value * size**degree
            for degree, value in zip(self.degrees.tolist(), values, strict=True)
        ]
        kernels = [
            part * legendre(e, degree, cosines)
            for degree, part in zip(self.degrees.tolist(), parts, strict=True)
        ]
        zero = np.zeros(len(cosines))
        if not self.n_products:
            return sum(kernels, start=zero), zero, zero
        variance = relative_variance(self.n_products, e, int(self.degrees[-1]), cosines)
        return sum(kernels[:-1], start=zero), kernels[-1], parts[-1] ** 2 * variance

    def bias_bound(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return the largest value on the diagonal of what is left out, which is positive definite."""
        t = np.linspace(-1, 1, _N_GRID)
        norms = np.sqrt(np.maximum(1 + self.length**2 - 2 * self.length * t, 0))
        mean, last, _ = self.moments(RowPairs.of_themselves(np.zeros(self.measure.dimension), norms))
        at_zero = float(kernel.at_distance(np.zeros(1))[0])
        return float(np.abs(at_zero - mean - self.factor * last).max())


def axial_harmonics(
    kernel: RadialKernel, exact: NDArray, pairs: RowPairs, n_columns: int, measure: AtomicMeasure
) -> AxialHarmonics | None:
    """Return the harmonics with the largest eigenvalues, or None if the mean of the rows is near the origin.

    Parameters
    ----------
    kernel : RadialKernel
        A kernel that is positive definite on the unit sphere.
    exact : ndarray of shape (n_pairs,)
        The kernel at the pairs.
    pairs : RowPairs
        Pairs of rows of unit norm, seen from their mean, over which the error is averaged.
    n_columns : int
        Number of columns D.
    measure : AtomicMeasure
        The measure of the best other columns.
    """
    length = float(np.linalg.norm(pairs.centre))
    if length < _LEAST_MEAN or len(pairs.centre) < 3:
        return None
    return replace(_found(kernel, exact.tobytes(), pairs, length, n_columns, measure), measure=measure)


@lru_cache(maxsize=32)
def _found(
    kernel: RadialKernel,
    values: bytes,
    pairs: RowPairs,
    length: float,
    n_columns: int,
    measure: AtomicMeasure,
) -> AxialHarmonics:
    d, left = len(pairs.centre), n_columns
    exact, e = np.frombuffer(values), d - 1
    degrees: list[int] = []
    columns: list[NDArray] = []
    n_products = 0
    for degree, coefficients in _by_eigenvalue(kernel, _coordinate(pairs.anchors, length), d):
        size = polynomial_columns(e, degree)
        if degree > _HIGHEST_DEGREE or not left or (size > left and not comb(e, degree)):
            break
        degrees.append(degree)
        columns.append(coefficients)
        n_products = left if size > left else 0
        left -= min(size, left)
    coefficients = np.array(columns).T
    used = np.flatnonzero((np.abs(coefficients) > _NEGLIGIBLE * np.abs(coefficients).max(axis=0)).any(axis=1))
    found = AxialHarmonics(
        measure,
        (),
        n_products,
        1.0,
        np.inf,
        length,
        np.array(degrees),
        coefficients[: used[-1] + 1],
        n_columns,
    )
    mean, last, variance = found.moments(pairs)
    noise = pairs.shares @ (last**2 + variance)
    factor = pairs.shares @ (last * (exact - mean)) / noise if noise else 1.0
    found = replace(found, factor=float(np.clip(factor, 0, 1)))
    return replace(found, mean_squared_error=found.error_over(exact, pairs))


def _by_eigenvalue(kernel: RadialKernel, anchors: NDArray, d: int) -> list[tuple[int, NDArray[np.float64]]]:
    """Return the degrees and the Chebyshev coefficients of the functions, in descending order of eigenvalues."""
    e, nodes = d - 1, chebpts1(_N_NODES)[::-1]
    everywhere = chebpts1(_N_EVERYWHERE)
    points = np.concatenate([anchors, everywhere])
    shares = np.array([1 - _SHARE_EVERYWHERE, _SHARE_EVERYWHERE]) / [len(anchors), len(everywhere)]
    roots = np.sqrt(np.repeat(shares, [len(anchors), len(everywhere)]))
    found: list[tuple[float, int, NDArray]] = []
    for degree in range(_HIGHEST_DEGREE + 2):
        size = polynomial_columns(e, degree)
        if not size:
            continue
        among = _projection(kernel, e, degree, points, points)
        values, vectors = np.linalg.eigh(roots[:, None] * among * roots)
        kept = values > _RANK_TOLERANCE * max(values[-1], 0.0)
        at_nodes = _projection(kernel, e, degree, nodes, points) @ (
            roots[:, None] * vectors[:, kept] / np.sqrt(values[kept])
        )
        at_nodes /= np.sqrt(_unit(e, degree)) * (1 - nodes[:, None] ** 2) ** (degree / 2)
        coefficients = dct(at_nodes, axis=0) / _N_NODES
        coefficients[0] /= 2
        found += [
            (value / size, degree, column) for value, column in zip(values[kept], coefficients.T, strict=True)
        ]
    found.sort(key=lambda each: -each[0])
    return [(degree, column) for value, degree, column in found if value > _NEGLIGIBLE * found[0][0]]


def _projection(kernel: RadialKernel, e: int, degree: int, t: NDArray, other: NDArray) -> NDArray[np.float64]:
    """Return G_l(t, t') for all pairs, shape (n_t, n_other)."""
    angles, weights = roots_jacobi(_N_ANGLES, (e - 3) / 2, (e - 3) / 2)
    weights = weights / weights.sum() * legendre(e, degree, angles) * polynomial_columns(e, degree)
    along = np.multiply.outer(t, other)
    across = np.sqrt(np.multiply.outer(np.maximum(1 - t**2, 0), np.maximum(1 - other**2, 0)))
    products = along[..., None] + across[..., None] * angles
    return np.asarray(kernel.at_distance(np.sqrt(np.maximum(2 - 2 * products, 0))) @ weights)


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


def _unit(e: int, degree: int) -> float:
    """Return the polynomial kernel of the degree between a unit vector in R^e and itself."""
    return polynomial_columns(e, degree) / rising_product(e, degree) ** 2
