"""Harmonics about a pole, of which some radial functions have all and others a sample; and their choice.

The harmonics of degree n of a radial measure are sums of radial functions h_k(rho) of the distance from the pole,
times the harmonics (`rflib.measures.control_variates`). If the rows are invariant to rotations about the pole,
these are the eigenfunctions of the kernel, in the order of which they are chosen
(`rflib.frequencies.sampled_harmonics`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import svd_flip

from rflib.frequencies.composition import largest_bias
from rflib.frequencies.sampled_harmonics import HIGHEST_DEGREE, SampledHarmonics, Terms, choose
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import (
    ControlVariate,
    polynomial_columns,
    radial_functions,
    rising_product,
    unit_kernel,
)
from rflib.measures.row_pairs import RowPairs

_NEGLIGIBLE = 1e-14
_RANK_TOLERANCE = 1e-12
_MOST = 40
_RANK = 8


@dataclass(frozen=True, eq=False)
class RadialHarmonics(SampledHarmonics):
    """Radial functions with all their harmonics, followed by radial functions with a sample of them.

    Attributes
    ----------
    functions : tuple of ControlVariate
        The functions, each a control variate of rank 1. Those that have a sample are multiplied by the root of
        their factor.
    """

    functions: tuple[ControlVariate, ...]

    @property
    def dimension(self) -> int:
        """The number d of input columns."""
        return self.measure.dimension

    @property
    def degrees(self) -> list[int]:
        """The degree of each function."""
        return [each.degree for each in self.functions]

    def terms(self, pairs: RowPairs) -> Terms:
        """Return the terms of the functions."""
        return terms_of(self.functions, self.measure.dimension, pairs)

    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return the largest bias on a grid of rows with these distances from the pole."""
        pairs = RowPairs.within(nearest, farthest, self.measure.dimension)
        return largest_bias(self.terms(pairs).kernels().sum(axis=0), kernel, pairs, self.measure)


def radial_harmonics(
    measures: Sequence[AtomicMeasure],
    exact: NDArray,
    pairs: RowPairs,
    n_columns: int,
    *,
    positive: bool = False,
) -> RadialHarmonics:
    """Return the harmonics with the least predicted error.

    Parameters
    ----------
    measures : sequence of AtomicMeasure
        Candidate measures, of which the one with the least bias is taken. With ``positive``, the one with the
        least bias that has no negative atoms is tried too.
    exact : ndarray of shape (n_pairs,)
        The kernel at the pairs.
    pairs : RowPairs
        Pairs over which errors are averaged.
    n_columns : int
        Number of columns D.
    positive : bool, default=False
        Whether all columns must have the sign +1. Functions of the other sign are left out.
    """
    closest = sorted(measures, key=lambda each: each.bias_estimate)
    tried = closest[:1]
    if positive and closest[0].negative is not None:
        tried += [each for each in closest if each.negative is None][:1]
    values = exact.tobytes()
    found = [_found(each, values, pairs, n_columns, positive) for each in tried]
    return min(found, key=lambda each: each.mean_squared_error)


@lru_cache(maxsize=32)
def _found(
    measure: AtomicMeasure, values: bytes, pairs: RowPairs, n_columns: int, positive: bool
) -> RadialHarmonics:
    functions = [each for each in leading_functions(measure, pairs) if not positive or each.signs[0] > 0]
    terms = terms_of(functions, measure.dimension, pairs)
    choice = choose(np.frombuffer(values), terms, pairs.shares, n_columns)
    chosen = tuple(
        replace(functions[k], combination=functions[k].combination * scale)
        for k, scale in zip(choice.functions, choice.scales, strict=True)
    )
    return RadialHarmonics(measure, choice.samples, choice.mean_squared_error, chosen)


def leading_functions(measure: AtomicMeasure, pairs: RowPairs) -> list[ControlVariate]:
    """Return radial functions in descending order of the absolute values of their eigenvalues.

    The harmonics of each have one eigenvalue if the rows vary in all directions alike.
    """
    found = [
        each
        for degree in range(HIGHEST_DEGREE + 1)
        if polynomial_columns(measure.dimension, degree)
        for each in _eigenfunctions(measure, degree, pairs.anchors)
    ]
    found.sort(key=lambda each: -each[0])
    return [function for size, function in found[:_MOST] if size > _NEGLIGIBLE * found[0][0]]


def _eigenfunctions(
    measure: AtomicMeasure, degree: int, anchors: NDArray
) -> list[tuple[float, ControlVariate]]:
    """Return the leading functions of a degree, each with its eigenvalue divided by the number of its harmonics.

    They are extensions of Nystroem: sums over the anchors q of c_q K(rho_q, rho), for the eigenvectors c of the
    matrix of the kernel of the degree at the anchors.
    """
    d, radii, weights = measure.dimension, measure.radii, measure.weights
    values = anchors[:, None] ** degree * radial_functions(d, degree, radii, anchors)
    eigenvalues, vectors = np.linalg.eigh((values * weights) @ values.T)
    vectors = svd_flip(vectors, vectors.T)[0]
    order = np.argsort(-np.abs(eigenvalues))[:_RANK]
    kept = order[np.abs(eigenvalues[order]) > _RANK_TOLERANCE * np.abs(eigenvalues[order[0]])]
    signs, roots = np.sign(eigenvalues[kept]), np.sqrt(np.abs(eigenvalues[kept]))
    functionals = anchors[:, None] ** degree * vectors[:, kept] / roots
    combination = weights[:, None] * (values.T @ vectors[:, kept]) / roots
    every = ControlVariate(d, degree, radii, combination, signs, anchors, functionals * signs)
    sizes = roots**2 / len(anchors) / rising_product(d, degree) ** 2
    return [(float(size), every.part([k])) for k, size in enumerate(sizes)]


def terms_of(functions: Sequence[ControlVariate], d: int, pairs: RowPairs) -> Terms:
    """Return the terms of functions of the same measure, which share the Bessel functions of each degree."""
    degrees = [each.degree for each in functions]
    radial_factors = np.zeros((len(functions), len(pairs.cosines)))
    for degree in set(degrees):
        which = [k for k, each in enumerate(degrees) if each == degree]
        combination = np.hstack([functions[k].combination for k in which])
        values = radial_functions(d, degree, functions[0].radii, pairs.norms) @ combination
        signs = np.concatenate([functions[k].signs for k in which])
        size = unit_kernel(d, degree) * pairs.norms.prod(axis=0) ** degree
        radial_factors[which] = size * (values.prod(axis=0) * signs).T
    return Terms(d, pairs.cosines, degrees, radial_factors)
