"""Harmonics for a learner whose rows vary in far fewer directions than they have columns.

The order of the eigenvalues in which a learner wants its columns (`rflib.frequencies.leading_harmonics`) is that
of rows which vary in all directions alike. The pixels of images do not: most of their linear harmonics are in
directions in which the rows hardly vary, and as columns they would take the place of harmonics of higher degrees.
Here, each function has at most as many harmonics as it would have in the directions that matter, along random
directions. docs/mvorf.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rflib.frequencies.radial_harmonics import RadialHarmonics, leading_functions, of_choice, terms_of
from rflib.frequencies.sampled_harmonics import LEAST, divide
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import polynomial_columns
from rflib.measures.row_pairs import RowPairs

# Directions for each one of the participation number, and the least number of directions.
_DIRECTIONS = 3
_FEWEST = 64


def spanning_harmonics(
    measures: Sequence[AtomicMeasure],
    exact: NDArray,
    pairs: RowPairs,
    n_columns: int,
    *,
    positive: bool = False,
) -> RadialHarmonics | None:
    """Return the harmonics, or None if there are no more columns than directions in which the rows vary.

    None is returned, too, if these are at least half of all directions. Functions are taken in the order of their
    eigenvalues, each with at most as many harmonics as it has in `n_directions`, until all columns are used.
    Functions that are less than the bias of the measure are left out.

    Parameters
    ----------
    measures, exact, pairs, n_columns
        As for `rflib.frequencies.radial_harmonics.radial_harmonics`.
    positive : bool, default=False
        Whether all columns must have the sign +1. Measures whose leading functions have a negative sign are passed
        over.

    Returns
    -------
    RadialHarmonics or None
        The harmonics. It is None, too, if the kernel has too few harmonics for all columns, or if every measure is
        passed over.
    """
    return _spanning(tuple(measures), exact.tobytes(), pairs, n_columns, positive)


@lru_cache(maxsize=32)
def _spanning(
    measures: Sequence[AtomicMeasure], values: bytes, pairs: RowPairs, n_columns: int, positive: bool
) -> RadialHarmonics | None:
    d, directions = len(pairs.centre), n_directions(pairs)
    if directions >= min(n_columns, d // 2):
        return None
    for measure in sorted(measures, key=lambda each: each.bias_estimate):
        functions = [
            function
            for eigenvalue, function in leading_functions(measure, pairs, directions)
            if eigenvalue * polynomial_columns(directions, function.degree) > measure.bias_estimate
        ]
        columns, left = [0] * len(functions), n_columns
        for k, function in enumerate(functions):
            some = min(polynomial_columns(directions, function.degree), left)
            if some >= LEAST or some == polynomial_columns(d, function.degree):
                columns[k] = some
                left -= some
        if left >= LEAST:
            return None
        if not positive or all(each.signs[0] > 0 for each, n in zip(functions, columns, strict=True) if n):
            terms = terms_of(functions, d, pairs)
            return of_choice(divide(np.frombuffer(values), terms, pairs.shares, columns), functions, measure)
    return None


def n_directions(pairs: RowPairs) -> int:
    """Return the number of directions in which the rows vary, as far as a learner needs them.

    It is three times the participation number (sum_i v_i)^2 / sum_i v_i^2 of the variances v_i of the rows along
    their principal axes, but at least 64, because the labels may depend on directions of small variance. The
    number follows from pairs: E |x|^2 = sum_i v_i, and E <x, y>^2 = sum_i v_i^2 for independent x and y.
    """
    products, itself = pairs.norms.prod(axis=0) * pairs.cosines, pairs.distances == 0
    of_itself, of_two = pairs.shares * itself, pairs.shares * ~itself
    variance = of_itself @ products / of_itself.sum()
    squares = of_two @ products**2 / of_two.sum() if of_two.any() else 0.0
    d = len(pairs.centre)
    needed = _DIRECTIONS * variance**2 / squares if squares else np.inf
    return min(d, max(_FEWEST, int(np.ceil(min(d, needed)))))
