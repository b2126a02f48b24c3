"""The choice of the degrees of a series that are exact, sketched or left out, by the least predicted error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.sparse_rows import Rows, ShiftedRows
from rflib.maps.inner_product_series import InnerProductSeries
from rflib.maps.product_sketch import Law, moments

# Logarithm of the square root of the share of the kernel below which a term is a rounding error.
_ROUNDING = -18.0
# Approximate number of pairs of rows over which errors are averaged.
_PAIRS = 80_000
# Spare columns go to degrees in portions of at most this part of them.
_SPARE_PARTS = 64
# More columns than there can be: numbers of monomials may overflow.
_MOST = 1 << 54
# Prices of draws cannot all be zero, as variances are with one input column.
_LEAST_PRICE = 1e-200


@dataclass(frozen=True, eq=False)
class PairMeans:
    """Means over pairs of rows, in units of the largest kernel value.

    They are the `moments` of the sketched terms (n_degrees, 3), and those of the products of two terms of the
    series (n_degrees + 1, n_degrees + 1), of which the last one is everything that the series leaves out.
    """

    moments: NDArray[np.float64]
    terms: NDArray[np.float64]

    def bias(self, absent: NDArray[np.bool_]) -> float:
        """Return the mean square of the sum of the absent terms, including those that the series leaves out."""
        used = np.append(absent, True)
        return max(float(self.terms[np.ix_(used, used)].sum()), 0.0)

    def error(self, law: Law, columns: NDArray[np.int64], exact: int) -> float:
        """Return the mean square error of a division."""
        above = np.arange(len(columns)) > exact
        sketched = np.flatnonzero(above & (columns > 0))
        variance = sum(law.estimate(self.moments[n], int(columns[n]))[1] for n in sketched)
        return variance + self.bias(above & (columns == 0))


def pair_means(series: InnerProductSeries, rows: Rows, law: Law, n_rows: int) -> PairMeans:
    """Return the means over all pairs of n_rows rows, of which some are given, each row with itself included.

    Each row is paired with itself and with the same number of rows that follow it.
    """
    factors, n = series.factors(rows), rows.shape[0]
    units, every = factors.units, np.arange(n)
    squares = units.squares() if isinstance(units, ShiftedRows) else units**2
    n_shifts = min(max(1, (n - 1) // 2), -(-_PAIRS // n))
    others = [np.roll(every, -shift) for shift in range(n_shifts + 1)]
    weights = np.repeat([1 / n_rows, *[(1 - 1 / n_rows) / n_shifts] * n_shifts], n) / n
    exact = np.concatenate([series.exact(rows, rows[other]) for other in others])
    largest = max(float(np.abs(exact).max()), np.finfo(float).tiny)
    relative = factors.log_amplitudes - np.log(largest) / 2
    n_degrees = 1 + np.flatnonzero(relative.max(axis=1) > _ROUNDING).max(initial=0)
    amplitudes = (factors.signs * np.exp(relative))[:n_degrees]
    products = np.concatenate([_inner(units, other) for other in others])
    overlaps = np.concatenate([_inner(squares, other) for other in others])
    by_degree, terms, power = [], [], np.ones_like(products)
    parts = moments(products, overlaps, n_degrees, law.block, quarter=law.quarter)
    for sign, amplitude, part in zip(series.signs[:n_degrees], amplitudes, parts, strict=True):
        scale = np.concatenate([amplitude * amplitude[other] for other in others])
        by_degree.append([(weights * scale**2) @ moment for moment in part])
        terms.append(sign * scale * power)
        power = power * products
    stacked = np.array([*terms, exact / largest - np.sum(terms, axis=0)])
    return PairMeans(np.array(by_degree), (stacked * weights) @ stacked.T)


def _inner(rows: NDArray | ShiftedRows, other: NDArray) -> NDArray[np.float64]:
    """Return the inner product of each row i with the row other[i]."""
    if isinstance(rows, ShiftedRows):
        return rows.products(other)
    return np.asarray(np.einsum("ij,ij->i", rows, rows[other]))


def choose_columns(
    series: InnerProductSeries,
    rows: Rows,
    n_rows: int,
    n_components: int,
    law: Law,
    exact_degrees: int | None,
) -> tuple[NDArray[np.int64], int, list[NDArray[np.float64]], float]:
    """Return the division of n_components columns with the least mean square error over all pairs of rows.

    It has the number of columns of each degree (n_degrees,), zero for one that is left out, which counts as bias;
    the highest exact degree, below which all are exact; the weights of the draws of each degree, which sum to one,
    empty where there are none; and the predicted relative Frobenius error of the kernel matrix.

    Given are rows (n, d), a sample of the n_rows training rows in random order, how sketches are drawn, and the
    highest exact degree; None means the best one.
    """
    means, d = pair_means(series, rows, law, n_rows), rows.shape[1]
    counts = [min(comb(d + n - 1, n), _MOST) for n in range(len(means.moments))]
    costs = np.where(np.isfinite(series.log_coefficients[: len(counts)]), counts, 0)
    best, least = None, np.inf
    for exact in range(len(costs)) if exact_degrees is None else [min(exact_degrees, len(costs) - 1)]:
        left = n_components - int(costs[: exact + 1].sum())
        if left < 0:
            break
        above = np.arange(len(costs)) > exact
        columns = np.where(above, _divided(means, law, above & (costs > 0), left), costs)
        error = means.error(law, columns, exact)
        if best is None or error < least:
            best, least = (columns, exact), error
    if best is None:
        needed = costs[: (exact_degrees or 0) + 1].sum()
        raise ValueError(
            f"OptimizedMaclaurin: exact_degrees={exact_degrees!r} needs {needed} columns for {d} "
            f"input columns, but n_components is {n_components}. Lower exact_degrees, or set it to 'auto'."
        )
    columns, exact = best
    weights = [
        law.estimate(means.moments[n], columns[n])[0] if n > exact and columns[n] else np.empty(0)
        for n in range(len(costs))
    ]
    size = float(means.terms.sum())
    return columns, exact, weights, float(np.sqrt(least / size)) if size > 0 else 0.0


def _priced(
    moments: NDArray[np.float64], law: Law, most: int
) -> Callable[[NDArray[np.bool_]], tuple[NDArray[np.int64], float]]:
    """Return the function from chosen degrees to their numbers of draws, at most so many, and their variance.

    At each of many prices of one draw, a degree has its best number of draws. Of all divisions with the same
    total, that at one price for all degrees has the least variance; the lowest price that can be paid is taken.
    Draws that are left over are assumed to lower the variance in proportion.
    """
    ratios = np.geomspace(1, most, 1 + int(30 * np.log(most)))
    blocks = law.block * np.geomspace(1, max(most // law.block, 1), 30).astype(int)
    counts = np.unique(np.concatenate([ratios.round().astype(int), blocks[blocks <= most]]))
    left = np.array([law.variance(each, counts) for each in moments])
    dearest = left.max(initial=_LEAST_PRICE)
    prices = np.geomspace(dearest, 1e-16 * dearest, 500)
    best = np.array([np.argmin(each + np.multiply.outer(prices, counts), axis=1) for each in left])
    draws, variances = counts[best], np.take_along_axis(left, best, axis=1)

    def of(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], float]:
        totals = draws[chosen].sum(axis=0)
        if not chosen.any() or totals[0] > most:
            return draws[chosen, 0], np.inf if chosen.any() else 0.0
        last = np.searchsorted(totals, most, side="right") - 1
        return draws[chosen, last], variances[chosen, last].sum() * totals[last] / most

    return of


def _divided(means: PairMeans, law: Law, possible: NDArray[np.bool_], left: int) -> NDArray[np.int64]:
    """Return the columns of each degree; degrees are added or removed one at a time while the error falls."""
    step = 1 + law.quarter
    columns = np.zeros(len(possible), dtype=np.int64)
    if left < 1 or not possible.any():
        return columns
    priced = _priced(means.moments, law, max(left // step, 1))

    def error(chosen: NDArray[np.bool_]) -> float:
        return priced(chosen)[1] + means.bias(possible & ~chosen)

    degrees = np.arange(len(possible))
    best = min((possible & (degrees <= last) for last in degrees), key=error)
    while True:
        others = [best ^ (degrees == n) for n in np.flatnonzero(possible)]
        better = min(others, key=error)
        if not error(better) < error(best):
            break
        best = better
    if not best.any():
        return columns
    columns[best] = np.minimum(step * priced(best)[0], left)

    def gain(n: int) -> float:
        now, then = (law.estimate(means.moments[n], columns[n] + more)[1] for more in (0, width))
        return now - then

    while (spare := left - int(columns.sum())) > 0:
        width = min(spare, step * max(1, spare // (_SPARE_PARTS * step)))
        noisiest = max(np.flatnonzero(best).tolist(), key=gain)
        if not gain(noisiest) > 0:
            break
        columns[noisiest] += width
    return columns
