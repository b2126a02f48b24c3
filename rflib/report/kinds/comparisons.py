"""Claims that compare two methods: one is better than the other, equal to it, or varies less."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rflib.report import keys
from rflib.report.cell_table import at_columns, at_s, select
from rflib.report.claim_rule import Judgement, judge, spared
from rflib.report.inference import LEVEL, Floats, Moments
from rflib.report.kind import Check, Checked, DataFrame, Options, Results, Series
from rflib.report.power import detectable
from rflib.report.wording import METRICS, between, place_text, plural, points, times

COMPARED = {
    **keys.METRIC,
    **{"method": keys.label("method"), "than": keys.label("method")},
    **{"at": keys.S_OR_COLUMNS, "share": keys.SHARE, **keys.PLACES},
}
REQUIRED = ("metric", "method", "than")
# So many comparisons that make a claim mixed are named.
_NAMED = 3
_NO_TEST = "One repetition allows no test."


def relative_gain(sign: int, method: DataFrame, than: DataFrame) -> Series:
    """Return by how much the mean of ``method`` is better than that of ``than``, relative to the latter."""
    return sign * (than - method).mean(axis=1) / scale(than)


def scale(than: DataFrame) -> Series:
    """Return the unit of relative differences in each comparison."""
    return than.mean(axis=1).abs().replace(0.0, 1.0)


def sign_of(entry: Options) -> int:
    """Return 1 if less is better by the metric of an entry, and -1 otherwise."""
    return 1 if METRICS[entry["metric"]].lower else -1


def in_units_of(than: ArrayLike, gains: ArrayLike) -> Floats:
    """Return gains in units of the mean of ``than``; both have the shape (sides, comparisons, repetitions)."""
    unit = np.abs(Moments.of(than).mean)
    return np.asarray(np.asarray(gains) / np.where(unit > 0, unit, 1.0)[..., None])


def factor_of_two(sign: int) -> float:
    """Return the loss, in units of the other mean, that is a factor of two: twice an error, or half a score."""
    return 1.0 if sign == 1 else 0.5


def smallest(metric: str, gains: ArrayLike, than: ArrayLike) -> str:
    """Say which differences are detectable: in points of accuracy, and by other metrics as ratios to ``than``."""
    return detectable(gains, points) if metric == "accuracy" else detectable(in_units_of(than, gains), times)


@dataclass(frozen=True)
class Difference:
    """By how much a method is better in each comparison, of ``what``, in two ``words``, and what is detectable."""

    what: str
    relative: Series
    smallest: str
    words: tuple[str, str] = ("better", "worse")

    def told(self, than: str) -> str:
        """Return the range of the differences as a sentence."""
        return f"{self.what} is {between(self.relative.min(), self.relative.max(), self.words)} than {than}."

    def against(self, judgement: Judgement) -> str:
        """Name the comparisons that make a claim mixed, at most three, and how many more there are."""
        if judgement.verdict != "mixed":
            return ""
        decide = judgement.apart | judgement.far | (judgement.fails & (judgement.p_noise < LEVEL))
        worst = self.relative[decide].sort_values(kind="stable")
        named = [
            f"{_place(where)} ({between(gain, gain, self.words)})"
            for where, gain in zip(worst.index[:_NAMED], worst, strict=False)
        ]
        more = [f"{len(worst) - _NAMED} more"] if len(worst) > _NAMED else []
        return f" Against it: {'; '.join([*named, *more])}."


def _place(where: tuple[str, str, Any]) -> str:
    dataset, kernel, at = where
    return place_text(dataset, kernel, f"s = {at}" if isinstance(at, str) else f"D = {at:g}")


def _of_means(claim: Options, gains: Floats, method: DataFrame, than: DataFrame) -> Difference:
    relative = relative_gain(sign_of(claim), method, than)
    found = smallest(claim["metric"], gains, than.to_numpy()[None])
    return Difference(f"The mean of {claim['method']}", relative, found)


def compare(
    claim: Options,
    results: Results,
    gains: Callable[[int, DataFrame, DataFrame], list[DataFrame]],
    said: Callable[[Options, Floats, DataFrame, DataFrame], Difference] = _of_means,
    far: float | None = None,
) -> Checked:
    """Judge a claim about ``method`` and ``than`` in a ``share`` of the comparisons.

    A comparison is (data set, kernel, s), or with ``at: columns`` (data set, kernel, D).

    Parameters
    ----------
    gains : callable
        Function of 1 if less is better and -1 otherwise, and of the values of ``method`` and ``than``, which have
        a row for each comparison and a column for each repetition. It returns how much each repetition supports
        the claim, in a table for each side of the claim.
    said : callable
        Function of the claim, its gains and the values. It returns the differences.
    far : float, optional
        The loss that is a factor of two.
    """
    cells, place = cells_of(claim, results)
    method, than = paired(cells, place, claim["method"], claim["than"])
    if method.empty:
        return Checked("no data", "None of its comparisons was run.")
    sides, share = np.stack(gains(sign_of(claim), method, than)), float(claim.get("share", 1.0))
    judgement = judge(
        in_units_of(than.to_numpy()[None], sides),
        spared(len(method), share),
        factor_of_two(sign_of(claim)) if far is None else far,
    )
    found = said(claim, sides, method, than)
    than_that = f"that of {claim['than']}"
    told = f"{counted(judgement, share)}{found.against(judgement)} {found.told(than_that)}"
    return Checked(str(judgement.verdict), told, found.smallest)


def counted(judgement: Judgement, share: float) -> str:
    """Say in how many comparisons a claim holds and fails, and what the average over them says."""
    held = f"It holds in {judgement.holds.sum()} of {plural(len(judgement.holds), 'comparison')} "
    held += f"({share * 100:.0f} % claimed)"
    if not judgement.tested:
        return f"{held} and fails in {judgement.fails.sum()}. {_NO_TEST}"
    return (
        f"{held}, significantly in {judgement.surely.sum()}, and fails in {_failed(judgement)}. The average "
        f"over the comparisons {_weighed(judgement)}"
    )


def _failed(judgement: Judgement) -> str:
    """Return in how many comparisons a claim fails, and how often significantly and by a factor of two."""
    said = f"{judgement.fails.sum()}"
    if judgement.fails.any():
        said += f", significantly in {judgement.refuted.sum()}"
    return said + (f" and by a factor of two or more in {judgement.far.sum()}" if judgement.far.any() else "")


def _weighed(judgement: Judgement) -> str:
    """Say whether the average supports a claim, and whether noise explains what contradicts it."""
    supports = judgement.p_average < LEVEL
    said = f"{'supports' if supports else 'does not support'} it (p value {float(judgement.p_average):.2g})."
    if not (supports and judgement.fails.any()):
        return said
    explains = "does not explain" if judgement.p_noise < LEVEL else "may explain"
    said += f" Noise alone {explains} what contradicts it (p value {float(judgement.p_noise):.2g})."
    apart = judgement.apart.sum()
    return f"{said} If only what contradicts it is tested, {apart} of it is significant." if apart else said


def cells_of(claim: Options, results: Results) -> tuple[DataFrame, list[str]]:
    """Return the cells that a claim is about, and the columns that name a comparison."""
    chosen = {
        k: v for k, v in claim.items() if k in ("metric", "learner", "ridge", "kernels", "datasets", "title")
    }
    x = "n_components" if claim.get("at") == "columns" else "s_label"
    found = (at_columns if x == "n_components" else at_s)(select(results.cells, chosen))
    return found, ["dataset", "kernel", x]


def paired(found: DataFrame, place: list[str], method: str, than: str) -> tuple[DataFrame, DataFrame]:
    """Return the values of two methods, with a row for each comparison and a column for each repetition."""
    parts = (found[found["method"] == name] for name in (method, than))
    tables = (part.pivot(index=place, columns="seed", values="value") for part in parts)
    first, second = next(tables).align(next(tables), join="inner")
    both: Any = np.isfinite(first) & np.isfinite(second)
    run = both.any(axis=1)
    return first.where(both)[run], second.where(both)[run]


@Check.with_options({**COMPARED, "factor": keys.POSITIVE}, REQUIRED)
def better(claim: Options, results: Results) -> Checked:
    """The mean of `method` is better than that of `than`, by at least the ratio `factor` if given."""

    def gains(sign: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        return [sign * (than - float(claim.get("factor", 1.0)) ** sign * method)]

    return compare(claim, results, gains)


@Check.with_options({**COMPARED, "within": keys.NOT_NEGATIVE}, (*REQUIRED, "within"))
def equal(claim: Options, results: Results) -> Checked:
    """The relative difference of the two means is at most `within`."""

    def gains(_: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        margin = claim["within"] * scale(than)
        return [(side * (than - method)).add(margin, axis=0) for side in (1, -1)]

    return compare(claim, results, gains)


@Check.with_options(COMPARED, REQUIRED)
def steadier(claim: Options, results: Results) -> Checked:
    """The variance of `method` over the repetitions is smaller than that of `than`."""

    def gains(_: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        return [_squares(than) - _squares(method)]

    return compare(claim, results, gains, _of_deviations, far=np.inf)


def _of_deviations(claim: Options, gains: Floats, method: DataFrame, than: DataFrame) -> Difference:
    relative = 1 - (_squares(method).mean(axis=1) / _squares(than).mean(axis=1)) ** 0.5
    in_variances = in_units_of(_squares(than).to_numpy()[None], gains)
    found = detectable(in_variances, lambda excess: times((1 + excess) ** 0.5 - 1))
    what = f"The standard deviation of {claim['method']}"
    return Difference(what, relative, found, ("smaller", "larger"))


def _squares(values: DataFrame) -> DataFrame:
    """Squared deviations from the mean of each comparison."""
    return values.sub(values.mean(axis=1), axis=0) ** 2
