"""What differences over the repetitions prove: one-sided t-tests, and the rule that judges a claim by them."""

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05
CLAIM_RULE = (
    "All repetitions at one data set, kernel and s (or number of columns) make one comparison. A claim is not "
    "reproduced if it fails significantly in more comparisons than it allows, or on average over them. These are "
    "one-sided t-tests over the repetitions with Holm's correction: they reject at most 5 % of true claims, "
    "however many comparisons a claim has. Otherwise, the claim is reproduced if the average over the comparisons "
    "supports it (one-sided t-test, 5 %), and undecided if it does not. Improvements are relative to the other "
    "method; negative ones are losses."
)
_CONSTANT = 1e-9

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def p_above_zero(values: ArrayLike) -> Floats:
    """Return the p values of one-sided t-tests of a mean above zero, along the last axis.

    NaN and infinity are missing. Values that differ by rounding only have no variance to trust: by chance, scores
    of a few rows can differ by the same number of rows in all repetitions. These values have the p value of a
    sign test, 2^-n if they are above zero and 1 otherwise. One value proves nothing: p is 1.
    """
    from scipy.special import stdtr

    values = np.asarray(values, dtype=np.float64)
    values = np.where(np.isfinite(values), values, np.nan)
    n = np.isfinite(values).sum(axis=-1)
    total = np.nansum(values, axis=-1)
    mean = total / np.maximum(n, 1)
    squares = np.nansum((values - mean[..., None]) ** 2, axis=-1)
    deviation = np.sqrt(squares / np.maximum(n - 1, 1))
    constant = deviation <= _CONSTANT * np.abs(mean)
    statistic = mean * np.sqrt(n) / np.where(constant, 1.0, deviation)
    p = np.where(constant, np.where(mean > 0, 0.5**n, 1.0), stdtr(np.maximum(n - 1, 1), -statistic))
    return np.where(n < 2, 1.0, p)


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


def spared(n: int, share: float) -> int:
    """Return in how many of n comparisons a claim about a share of them may fail."""
    return floor((1 - share) * n + 1e-9)


@dataclass(frozen=True)
class Judgement:
    """What the comparisons say about a claim: flags (..., comparisons), p value (...) and verdict (...).

    ``tested`` (...) is whether the average could be tested, for which it takes two repetitions.
    """

    holds: Flags
    surely: Flags
    refuted: Flags
    tested: Flags
    p_average: Floats
    verdict: NDArray[np.str_]


def judge(gains: ArrayLike, spared: int = 0) -> Judgement:
    """Judge a claim by `CLAIM_RULE`.

    Parameters
    ----------
    gains : array-like of shape (..., sides, comparisons, repetitions)
        By how much each repetition speaks for the claim; NaN where there is none. A claim that has several sides,
        such as equality within a margin or being better than each of several methods, holds where all that are
        there have a mean above zero. Leading axes are separate claims.
    spared : int, default=0
        In how many comparisons the claim may fail.

    Notes
    -----
    The gains of each comparison are divided by their root mean square before they are averaged, so that none
    outweighs the others. The average is tested over the repetitions, so the comparisons of one repetition may
    depend on each other. On each side, the comparisons in which a claim may fail are left out of the average that
    may contradict it: those that contradict it most.
    """
    gains = np.asarray(gains, dtype=np.float64)
    missing = np.isnan(gains).all(axis=-1)
    means: Floats = np.where(missing, np.inf, _mean(gains, -1))
    sides, comparisons = means.shape[-2:]
    weaker = means.argmin(axis=-2)[..., None, :, None]
    weaker_gains = np.take_along_axis(gains, weaker, axis=-3)[..., 0, :, :]
    kept = np.argsort(means, axis=-1)[..., spared:, None]
    p_single = np.where(missing, np.nan, p_above_zero(-gains))
    p_averages = p_above_zero(-_average(np.take_along_axis(gains, kept, axis=-2)))
    rejected = holm(
        np.concatenate([p_single.reshape(*p_single.shape[:-2], sides * comparisons), p_averages], axis=-1)
    )
    of_single, of_averages = np.split(rejected, [sides * comparisons], axis=-1)
    refuted = np.logical_or.reduce(of_single.reshape(p_single.shape), axis=-2)
    contradicted = (refuted.sum(axis=-1) > spared) | of_averages.any(axis=-1)
    average = _average(weaker_gains)
    p_average = p_above_zero(average)
    supported = np.where(p_average < LEVEL, "reproduced", "undecided")
    return Judgement(
        holds=np.logical_and.reduce(means > 0, axis=-2),
        surely=holm(np.where(missing, 0.0, p_above_zero(gains)).max(axis=-2)),
        refuted=refuted,
        tested=np.isfinite(average).sum(axis=-1) > 1,
        p_average=p_average,
        verdict=np.where(contradicted, "not reproduced", supported),
    )


def _average(gains: Floats) -> Floats:
    """Average over the comparisons (last axis but one), each divided by its root mean square; zeros stay zeros."""
    scale = np.sqrt(_mean(gains**2, -1))[..., None]
    return _mean(gains / np.where(scale > 0, scale, 1.0), -2)


def _mean(values: Floats, axis: int) -> Floats:
    """Mean along an axis of what is not NaN; NaN where all is."""
    n = (~np.isnan(values)).sum(axis=axis)
    return np.where(n > 0, np.nansum(values, axis=axis) / np.maximum(n, 1), np.nan)
