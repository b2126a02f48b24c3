"""The rule that judges a claim by the repetitions of its comparisons, and what its verdicts mean."""

from dataclasses import dataclass
from math import floor, inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.report.inference import LEVEL, Flags, Floats, Moments, holm, mean_of, p_above_zero

VERDICTS = {
    "reproduced": (
        "The average over the comparisons supports the claim, and no more comparisons contradict it than it "
        "allows and noise may explain."
    ),
    "mixed": (
        "The average over the comparisons supports the claim, but more comparisons contradict it, or "
        "contradict it more, than it allows and noise explains; or the method is worse by a factor of two in "
        "some."
    ),
    "explained": (
        "The claim is mixed or not reproduced, for a reason that the study gives and that is itself "
        "reproduced."
    ),
    "undecided": (
        "The repetitions neither support nor contradict the claim, and differences below the smallest "
        "detectable one may have been missed."
    ),
    "not reproduced": (
        "The claim fails significantly, in more comparisons than it allows or on average, and the average "
        "does not support it."
    ),
    "no data": "Nothing that the claim is about was run.",
}
CLAIM_RULE = (
    "All repetitions at one data set, kernel and s (or number of columns) make one comparison. The average "
    "over the comparisons supports a claim by a one-sided t-test over the repetitions (5 %). A p value is the "
    "probability of as much by chance. That of noise, by a bootstrap over the repetitions, is the one with which "
    "noise alone contradicts a true claim as much; below 5 %, noise does not explain it. A claim fails "
    "significantly by one-sided t-tests with Holm's correction: if differences scatter evenly about their mean, "
    "they reject at most 5 % of true claims, however many comparisons a claim has. The smallest detectable "
    "difference is what these tests find with a probability of 80 %, given how much the repetitions vary: in "
    "one comparison, to contradict the claim; and in all comparisons alike, to support it."
)
_DRAWS = 999


def spared(n: int, share: float) -> int:
    """Return in how many of n comparisons a claim about a share of them may fail."""
    return floor((1 - share) * n + 1e-9)


@dataclass(frozen=True)
class Judgement:
    """What the comparisons say about a claim: flags (..., comparisons), p values (...) and verdict (...).

    ``surely`` and ``refuted`` are whether the claim holds and fails significantly, ``apart`` whether it fails
    significantly if only the comparisons in which it fails are tested, and ``far`` whether it fails by a factor of
    two. ``tested`` (...) is whether the average could be tested, for which it takes two repetitions. ``p_noise``
    is that of :func:`p_of_noise`, and NaN where the average does not support the claim.
    """

    holds: Flags
    fails: Flags
    surely: Flags
    refuted: Flags
    apart: Flags
    far: Flags
    tested: Flags
    p_average: Floats
    p_noise: Floats
    verdict: NDArray[np.str_]


def judge(gains: ArrayLike, spared: int = 0, far: float = inf) -> Judgement:
    """Judge a claim by `CLAIM_RULE`.

    Parameters
    ----------
    gains : array-like of shape (..., sides, comparisons, repetitions)
        By how much each repetition speaks for the claim; NaN where there is none. A claim that has several sides,
        such as equality within a margin or being better than each of several methods, holds where all that are
        there have a mean above zero. Leading axes are separate claims.
    spared : int, default=0
        In how many comparisons the claim may fail.
    far : float, default=inf
        The loss that is a factor of two.

    Notes
    -----
    The gains of each comparison are divided by their root mean square before they are averaged, so that none
    outweighs the others. The average is tested over the repetitions, so the comparisons of one repetition may
    depend on each other. On each side, the comparisons in which a claim may fail are left out of the average that
    may contradict it: those that contradict it most.

    Where the claim fails, p is below 1/2. If only these comparisons are tested, with twice their p, a single one
    does not drown in many that hold (Zhao, Small and Su, J. Am. Stat. Assoc. 114, 2019).
    """
    gains = np.asarray(gains, dtype=np.float64)
    found = Moments.of(gains)
    missing, exact = found.n == 0, deterministic(found)
    means = np.where(missing, np.inf, found.mean)

    def p_of(values: Floats) -> Floats:
        certain = exact.reshape(exact.shape + (1,) * (values.ndim - 1 - exact.ndim))
        return np.where(certain, mean_of(values, -1) <= 0, p_above_zero(values))

    kept = np.argsort(means, axis=-1)[..., spared:, None]
    p_single = np.where(missing, np.nan, p_of(-gains))
    p_averages = p_of(-average(np.take_along_axis(gains, kept, axis=-2)))
    rejected = holm(np.concatenate([_flat(p_single), p_averages], axis=-1))
    of_single, of_averages = np.split(rejected, [rejected.shape[-1] - p_averages.shape[-1]], axis=-1)
    refuted = np.logical_or.reduce(of_single.reshape(p_single.shape), axis=-2)
    contradicted = (refuted.sum(axis=-1) > spared) | of_averages.any(axis=-1)
    closest = average(weaker(gains))
    p_average = p_of(closest)
    supported, p_noise = p_average < LEVEL, np.full(p_average.shape, np.nan)
    p_noise[supported] = p_of_noise(gains[supported], spared)
    alone = holm(_flat(np.where(p_single < 0.5, 2 * p_single, np.nan))).reshape(p_single.shape)
    apart = np.logical_or.reduce(alone, axis=-2)
    is_far = np.logical_or.reduce(means <= -far, axis=-2)
    against = (apart.sum(axis=-1) > spared) | (p_noise < LEVEL) | (is_far.sum(axis=-1) > spared)
    return Judgement(
        holds=np.logical_and.reduce(means > 0, axis=-2),
        fails=np.logical_or.reduce(means < 0, axis=-2),
        surely=holm(np.where(missing, 0.0, p_of(gains)).max(axis=-2)),
        refuted=refuted,
        apart=apart,
        far=is_far,
        tested=np.isfinite(closest).sum(axis=-1) > 1,
        p_average=p_average,
        p_noise=p_noise,
        verdict=np.where(
            supported,
            np.where(against, "mixed", "reproduced"),
            np.where(contradicted, "not reproduced", "undecided"),
        ),
    )


def p_of_noise(gains: Floats, spared: int = 0) -> Floats:
    """Return the probability with which noise alone contradicts a true claim as much as these gains.

    The measure is that of Gail and Simon (Biometrics 41, 1985): the sum of z^2 over the comparisons that
    contradict the claim, without the ``spared`` greatest. z is the normal quantile of the t-test's p value, so
    that a few repetitions count for what they prove. Of several sides, the one with the least z counts.

    The distribution of the sum is that of a wild bootstrap: the deviations of the repetitions of a comparison from
    their mean are multiplied by standard normal numbers. The claim is just true there: means are zero where they
    are below one standard error, but for the ``spared`` comparisons that contradict the claim most. Where nothing
    varies, or there is one repetition, there is a sign alone, and both signs are equally probable.
    """
    from scipy.special import ndtri

    found = Moments.of(gains)
    p = np.minimum(np.where(found.mean < 0, p_above_zero(-gains), p_above_zero(gains)), 0.5)
    z = np.where(found.n == 1, np.sign(found.mean), np.copysign(ndtri(np.maximum(p, 1e-300)), found.mean))
    z = np.where(found.n == 0, np.inf, z)
    signs = (found.constant | (found.n == 1)) & (found.n > 0)
    truth = np.where(signs | (found.mean < found.standard_error), 0.0, z)
    most = np.argsort(z.min(axis=-2), axis=-1)[..., :spared]
    allowed = np.zeros(z.shape[:-2] + z.shape[-1:], dtype=bool)
    np.put_along_axis(allowed, most, True, axis=-1)
    truth = np.where(allowed[..., None, :], np.minimum(z, truth), truth)
    deviations = np.where(signs[..., None], 1.0, gains - found.mean[..., None])
    deviations = np.where(np.isfinite(gains), deviations, 0.0)
    size = np.linalg.norm(deviations, axis=-1, keepdims=True)
    deviations /= np.where(size > 0, size, 1.0)
    rng, observed = np.random.default_rng(0), _contradiction(z, spared)
    as_much = np.ones_like(observed)
    for _ in range(_DRAWS):
        noise = np.einsum("...cr,cr->...c", deviations, rng.standard_normal(gains.shape[-2:]))
        noise = np.where(signs, np.copysign(z, noise), noise)
        as_much += _contradiction(truth + noise, spared) >= observed
    return np.asarray(as_much / (_DRAWS + 1))


def _contradiction(z: Floats, spared: int) -> Floats:
    squares = np.minimum(z.min(axis=-2), 0.0) ** 2
    if spared:
        squares = np.sort(squares, axis=-1)[..., : squares.shape[-1] - spared]
    return np.asarray(squares.sum(axis=-1))


def deterministic(found: Moments) -> Flags:
    """Return which claims (...) are about deterministic methods, so that the signs of their gains decide.

    These are claims of which no comparison varies over its repetitions, with three or more repetitions beyond the
    first ones, because scores of a few rows may be equal by chance.
    """
    rigid = (found.constant | (found.n == 0)).all(axis=(-2, -1))
    return np.asarray(rigid & (np.maximum(found.n - 1, 0).sum(axis=(-2, -1)) > 2))


def weaker(gains: Floats) -> Floats:
    """Return the gains (..., comparisons, repetitions) of the side that is closest to failing."""
    found = Moments.of(gains)
    side = np.where(found.n == 0, np.inf, found.mean).argmin(axis=-2)[..., None, :, None]
    return np.take_along_axis(gains, side, axis=-3)[..., 0, :, :]


def average(gains: Floats) -> Floats:
    """Average over the comparisons (last axis but one), each divided by its root mean square; zeros stay zeros."""
    scale = np.sqrt(mean_of(gains**2, -1))[..., None]
    return mean_of(gains / np.where(scale > 0, scale, 1.0), -2)


def _flat(p: Floats) -> Floats:
    """Return the p values of all sides and comparisons along one axis."""
    return p.reshape(*p.shape[:-2], -1)
