"""The smallest differences that the tests of a claim find with a probability of 80 %."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from rflib.report.claim_rule import average, deterministic, weaker
from rflib.report.inference import LEVEL, Floats, Moments

POWER = 0.8


def detectable(gains: ArrayLike, said: Callable[[float], str]) -> str:
    """Say which differences the tests of :func:`rflib.report.claim_rule.judge` find.

    Parameters
    ----------
    gains : array-like of shape (sides, comparisons, repetitions)
        By how much each repetition speaks for the claim, in the unit of the differences.
    said : callable
        The text of a difference.
    """
    one = in_one(gains)
    text = in_text(one[~np.isnan(one)], said)
    return f"In one comparison: {text}. In all alike: {said(in_all(gains))}."


def in_text(sizes: ArrayLike, said: Callable[[float], str]) -> str:
    """Return the median of several differences, with the least and the greatest one."""
    low, middle, high = np.quantile(np.asarray(sizes), [0.0, 0.5, 1.0], method="inverted_cdf")
    if low == high:
        return said(middle)
    least = said(low).partition(" ")[0]
    return f"{said(middle)} (median; {least} {f'to {said(high)}' if np.isfinite(high) else 'or more'})"


def in_one(gains: ArrayLike) -> Floats:
    """Return how far below zero each mean must be for its test to find it; NaN where none is.

    A t-test of n values with mean m and standard deviation s has the power P(T > t): T has a noncentral t
    distribution with n - 1 degrees of freedom and noncentrality m sqrt(n) / s, and t is the 1 - a quantile of
    Student's t (Johnson, Kotz and Balakrishnan, Continuous univariate distributions 2, 1995, chapter 31). a is
    5 % over the number of tests, as in the first step of Holm's procedure, and s is estimated from the
    repetitions. One repetition finds nothing: the result is infinite.
    """
    found = Moments.of(gains)
    level = LEVEL / ((found.n > 0).sum() + len(found.n))
    certain = deterministic(found) | (0.5**found.n < level)
    sizes = noncentrality(found.n - 1, level) * found.standard_error
    sizes = np.where(found.constant, np.where(certain, 0.0, np.inf), sizes)
    return np.where(found.n == 0, np.nan, np.where(found.n < 2, np.inf, sizes))


def in_all(gains: ArrayLike) -> float:
    """Return the gain with which the average supports a claim, if it is the same in all comparisons.

    The average and its test are those of :func:`rflib.report.claim_rule.judge`, with the deviations of the
    repetitions from their means, enlarged by sqrt(n / (n - 1)) because the mean is one of them. As the spread of
    the average is estimated, the power is between 70 and 90 % (tests/report/test_power.py). The result is infinite
    if no gain is found.
    """
    gains = np.asarray(gains, dtype=np.float64)
    if deterministic(Moments.of(gains)):
        return 0.0
    closest = weaker(gains)
    found = Moments.of(closest)
    enlarged = np.sqrt(found.n / np.maximum(found.n - 1, 1))
    deviations = (closest - found.mean[:, None]) * enlarged[:, None]

    def is_found(size: float) -> bool:
        found = Moments.of(average(deviations + size))
        if found.constant:
            return bool(0.5**found.n < LEVEL)
        return bool(found.n > 1 and found.mean >= noncentrality(found.n - 1, LEVEL) * found.standard_error)

    high = next((size for size in np.logspace(-9, 9, 19) if is_found(size)), np.inf)
    low = high / 10
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return float(high)


def noncentrality(freedom: ArrayLike, level: float) -> Floats:
    """Return how many estimated standard errors one-sided t-tests at a level find with a probability of 80 %.

    A standard error that is estimated with few degrees of freedom is mostly too small. The result is the
    noncentrality times the factor that makes it too small as often as too large.
    """
    from scipy.special import chdtri, nctdtrinc, stdtrit

    values, which = np.unique(np.maximum(freedom, 1), return_inverse=True)
    found = nctdtrinc(values, 1 - POWER, -stdtrit(values, level)) * np.sqrt(values / chdtri(values, 0.5))
    return np.asarray(found[which].reshape(np.shape(freedom)))
