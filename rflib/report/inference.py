"""What differences over the repetitions prove: one-sided t-tests, and Holm's correction for families of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05
_CONSTANT = 1e-9

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Moments:
    """Numbers of values, their means (NaN where there is none) and standard deviations along the last axis.

    ``constant`` is whether values differ by rounding only.
    """

    n: NDArray[np.int_]
    mean: Floats
    deviation: Floats
    constant: Flags

    @classmethod
    def of(cls, values: ArrayLike) -> "Moments":
        """Return the moments of values; NaN and infinity are missing."""
        values = np.asarray(values, dtype=np.float64)
        values = np.where(np.isfinite(values), values, np.nan)
        mean, n = mean_of(values, -1), np.isfinite(values).sum(axis=-1)
        squares = np.nansum((values - mean[..., None]) ** 2, axis=-1)
        deviation = np.sqrt(squares / np.maximum(n - 1, 1))
        return cls(n, mean, deviation, deviation <= _CONSTANT * np.abs(mean))

    @property
    def standard_error(self) -> Floats:
        """Standard deviations of the means."""
        return self.deviation / np.sqrt(np.maximum(self.n, 1))


def p_above_zero(values: ArrayLike) -> Floats:
    """Return the p values of one-sided t-tests of a mean above zero, along the last axis.

    NaN and infinity are missing. Values that differ by rounding only have no variance to trust: by chance, scores
    of a few rows can differ by the same number of rows in all repetitions. These values have the p value of a
    sign test, 2^-n if they are above zero and 1 otherwise. One value proves nothing: p is 1.
    """
    from scipy.special import stdtr

    found = Moments.of(values)
    statistic = found.mean / np.where(found.constant, 1.0, found.standard_error)
    sign_test = np.where(found.mean > 0, 0.5**found.n, 1.0)
    p = np.where(found.constant, sign_test, stdtr(np.maximum(found.n - 1, 1), -statistic))
    return np.where(found.n < 2, 1.0, p)


def holm(p: ArrayLike) -> Flags:
    """Return which hypotheses of a family Holm's procedure rejects; the family is the last axis, without NaN.

    If all hypotheses are true, any is rejected with probability 5 % at most, however their tests depend on each
    other (Holm 1979).
    """
    p = np.asarray(p, dtype=np.float64)
    n, order = (~np.isnan(p)).sum(axis=-1, keepdims=True), np.argsort(p, axis=-1)
    passed = np.take_along_axis(p, order, axis=-1) < LEVEL / np.maximum(n - np.arange(p.shape[-1]), 1)
    rejected = np.zeros(p.shape, dtype=bool)
    np.put_along_axis(rejected, order, np.logical_and.accumulate(passed, axis=-1), axis=-1)
    return rejected


def leaders(values: Floats) -> Flags:
    """Return which rows have the least mean over the columns, or one that is not significantly larger.

    The columns are repetitions, so the tests are paired. Two rows whose values do not vary are compared by these,
    as those of one repetition. Rows with values that are not finite are never leaders.
    """
    means = values.mean(axis=1)
    leading = np.isfinite(means)
    if leading.any():
        best = int(np.nanargmin(np.where(leading, means, np.nan)))
        alone = Moments.of(values).constant
        alone &= alone[best]
        rivals = leading & ~alone
        rivals[best] = False
        leading[alone] = means[alone] == means[best]
        leading[rivals] = ~holm(p_above_zero(values[rivals] - values[best]))
    return leading


def mean_of(values: Floats, axis: int) -> Floats:
    """Return the mean along an axis of what is not NaN; NaN where all is."""
    n = (~np.isnan(values)).sum(axis=axis)
    return np.where(n > 0, np.nansum(values, axis=axis) / np.maximum(n, 1), np.nan)
