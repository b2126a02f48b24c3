"""The choice of harmonics for a learner: the leading eigenfunctions of the kernel for rotation-invariant rows.

Ridge regression and support vector machines use the span of the columns. Each direction of the kernel's feature
space is worth its eigenvalue, and noise costs little. If the distribution of the rows is invariant to rotations
about their mean, the eigenfunctions of the kernel are radial functions times harmonics. A radial function h_k(rho)
of degree n belongs to N_n eigenfunctions, all with the eigenvalue E h_k^2 rho^(2n) kappa_n / N_n, where kappa_n is
the polynomial kernel of the degree between a unit vector and itself (`rflib.measures.control_variates`). Columns
are chosen in the order of these eigenvalues. The last function has more harmonics than columns are left, and so
has a sample of them (`rflib.frequencies.products`). docs/mvorf.md derives this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.composition import Composition, Question, compose, largest_bias
from rflib.frequencies.products import Products, draw_products, relative_variance
from rflib.kernels.base import RadialKernel
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import (
    ControlVariate,
    control_variates,
    polynomial_columns,
    radial_functions,
    rising_product,
)
from rflib.measures.row_pairs import RowPairs

_HIGHEST_DEGREE = 3
_NEGLIGIBLE = 1e-14


@dataclass(frozen=True, eq=False)
class LeadingHarmonics:
    """Columns that are harmonics alone: radial functions with their harmonics, of the last one only a sample.

    Attributes
    ----------
    measure : AtomicMeasure
        The atoms.
    radial : tuple of ControlVariate
        The radial functions with their degrees. The last entry is a single function, of whose harmonics only a
        sample is used.
    n_products : int
        Number of columns of the sample.
    factor : float
        Factor of the kernel of the last function, at which its noise and its bias are least together.
    mean_squared_error : float
        Predicted mean squared error of a kernel value, averaged over the pairs.
    """

    measure: AtomicMeasure
    radial: tuple[ControlVariate, ...]
    n_products: int
    factor: float
    mean_squared_error: float

    @property
    def n_exact(self) -> int:
        """The number of columns that are not cosines or sines, which is the number of all columns."""
        return sum(control.n_columns for control in self.radial[:-1]) + self.n_products

    @property
    def controls(self) -> tuple[ControlVariate, ...]:
        """The radial functions, of which the last one is scaled for its sample."""
        last = self.radial[-1]
        share = self.n_products / polynomial_columns(self.measure.dimension, last.degree)
        scaled = replace(last, combination=last.combination * np.sqrt(self.factor / share))
        return *self.radial[:-1], scaled

    def draw(self, rng: Generator) -> tuple[NDArray, NDArray, int]:
        """Return the frequencies (0, d), the weights (0,) and the number of sines, of which there are none."""
        return np.zeros((0, self.measure.dimension)), np.zeros(0), 0

    def products(self, rng: Generator) -> Products:
        """Draw the sample of the last function's harmonics."""
        return draw_products(self.n_products, self.measure.dimension, self.radial[-1].degree, rng)

    def error_over(self, exact: NDArray, pairs: RowPairs) -> float:
        """Return the mean squared error that is predicted over pairs of rows at which the kernel is ``exact``."""
        mean, last, variance = self.moments(pairs)
        shares = pairs.shares
        return float(shares @ (mean + self.factor * last - exact) ** 2 + self.factor**2 * shares @ variance)

    def moments(self, pairs: RowPairs) -> tuple[NDArray, NDArray, NDArray]:
        """Return the kernel of the exact harmonics, that of the last function, and the variance of its sample.

        Each has the shape (n_pairs,).
        """
        *exact, last = self.radial
        mean = sum((control.kernel(pairs) for control in exact), start=np.zeros(len(pairs.cosines)))
        variance = relative_variance(self.n_products, self.measure.dimension, last.degree, pairs.cosines)
        return mean, last.kernel(pairs), last.kernel_on_a_line(*pairs.norms) ** 2 * variance

    def bias_estimate(self, kernel: RadialKernel, nearest: float, farthest: float) -> float:
        """Return the largest bias on a grid of rows with these distances from the pole."""
        pairs = RowPairs.within(nearest, farthest, self.measure.dimension)
        mean, last, _ = self.moments(pairs)
        return largest_bias(mean + self.factor * last, kernel, pairs, self.measure)


def lead(
    measures: Sequence[AtomicMeasure],
    exact: NDArray,
    pairs: RowPairs,
    n_columns: int,
    *,
    coupled: bool = True,
    positive: bool = False,
) -> LeadingHarmonics | Composition | None:
    """Return the harmonics with the largest eigenvalues, for the measure with the least bias.

    If degree 4 comes before all columns are used, as it may in a few dimensions, the other columns are cosines and
    sines.

    Parameters
    ----------
    measures : sequence of AtomicMeasure
        Candidate measures.
    exact : ndarray of shape (n_pairs,)
        The kernel at the pairs.
    pairs : RowPairs
        Pairs over which errors are averaged.
    n_columns : int
        Number of columns D.
    coupled : bool, default=True
        Whether the bases of the cosines and sines of an atom are coupled.
    positive : bool, default=False
        Whether all columns must have the sign +1. Measures whose leading harmonics have a negative sign, or whose
        bias is so large that a sample of the last function would not lower the error, are then passed over.

    Returns
    -------
    LeadingHarmonics, Composition or None
        The columns; a Composition if some are cosines and sines, and None if there are too few columns.
    """
    question = Question(tuple(measures), exact, pairs, n_columns, coupled=coupled, positive=positive)
    return _led(question)


@lru_cache(maxsize=32)
def _led(question: Question) -> LeadingHarmonics | Composition | None:
    closest = sorted(question.measures, key=lambda measure: measure.bias_estimate)
    without_sample = None
    for measure in closest if question.positive else closest[:1]:
        found = _led_by(measure, question)
        if isinstance(found, Composition) or (found and found.factor > 0):
            return found
        without_sample = without_sample or found
    return without_sample


def _led_by(measure: AtomicMeasure, question: Question) -> LeadingHarmonics | Composition | None:
    """Return the harmonics of one measure, or None if there are too few columns or some have a wrong sign."""
    pairs, left = question.pairs, question.n_columns
    d, ranks = measure.dimension, [0] * (_HIGHEST_DEGREE + 1)
    for degree in _by_eigenvalue(measure, pairs):
        if degree > _HIGHEST_DEGREE:
            break
        size = polynomial_columns(d, degree)
        if size > left > 0 and comb(d, degree):
            ranks[degree] += 1
            return _with_sample(measure, question, ranks, degree, left)
        if size > left:
            break
        ranks[degree] += 1
        left -= size
    zeroth, first, second, third = ranks
    if question.positive and _have_negative(
        control_variates(d, measure.radii, measure.weights, pairs.anchors, ranks)
    ):
        return None
    return compose(
        [measure],
        question.exact,
        pairs,
        question.n_columns,
        ranks=(zeroth, first, second, third),
        coupled=question.coupled,
        shrunk=True,
        positive=question.positive,
    )


def _by_eigenvalue(measure: AtomicMeasure, pairs: RowPairs) -> list[int]:
    """Return the degrees of the radial functions in descending order of their eigenvalues."""
    d, anchors = measure.dimension, pairs.anchors
    found = []
    for degree in range(_HIGHEST_DEGREE + 2):
        if not polynomial_columns(d, degree):
            continue
        values = radial_functions(d, degree, measure.radii, anchors) * anchors[:, None] ** degree
        singular = np.linalg.svd(values * np.sqrt(np.abs(measure.weights)), compute_uv=False)
        found += [(value, degree) for value in (singular / rising_product(d, degree)) ** 2]
    least = _NEGLIGIBLE * max(found)[0]
    return [degree for value, degree in sorted(found, key=lambda pair: -pair[0]) if value > least]


def _have_negative(controls: Sequence[ControlVariate]) -> bool:
    return any((control.signs < 0).any() for control in controls)


def _with_sample(
    measure: AtomicMeasure, question: Question, ranks: Sequence[int], degree: int, n_products: int
) -> LeadingHarmonics | None:
    """Return the harmonics, where the last function of the given degree has only a sample of them.

    None is returned if all columns must have the sign +1 and some have not.
    """
    pairs, controls = question.pairs, []
    for control in control_variates(measure.dimension, measure.radii, measure.weights, pairs.anchors, ranks):
        if control.degree == degree:
            functions = control.functions(pairs.anchors) * pairs.anchors[:, None] ** degree
            least = int(np.argmin((functions**2).sum(axis=0)))
            last = control.part([least])
            control = control.part([k for k in range(len(control.signs)) if k != least])
        if control.n_columns:
            controls.append(control)
    if question.positive and _have_negative((*controls, last)):
        return None
    leading = LeadingHarmonics(measure, (*controls, last), n_products, 1.0, np.inf)
    mean, of_last, variance = leading.moments(pairs)
    noise = pairs.shares @ (of_last**2 + variance)
    factor = pairs.shares @ (of_last * (question.exact - mean)) / noise if noise else 1.0
    leading = replace(leading, factor=float(np.clip(factor, 0, 1)))
    return replace(leading, mean_squared_error=leading.error_over(question.exact, pairs))
