"""Claims that compare two methods: one is better than the other, equal to it, or varies less."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import at_columns, at_s, select
from rflib.report.inference import LEVEL, Judgement, judge, spared
from rflib.report.kind import Check, DataFrame, Options, Results, Series
from rflib.report.wording import METRICS, in_percent, plural

_S = {"type": ["string", "integer"], "expected": "a value of s"}
_TIED = {**keys.PLACES, "s": keys.list_of(_S), "reason": keys.TEXT}
_TIE = keys.mapping(_TIED, ("reason",), "a mapping of comparisons that do not count, with the reason")
COMPARED = {
    **keys.METRIC,
    **{"method": keys.label("method"), "than": keys.label("method")},
    **{"at": keys.S_OR_COLUMNS, "share": keys.SHARE, **keys.PLACES, "ties": keys.list_of(_TIE)},
}
REQUIRED = ("metric", "method", "than")
NO_TEST = "One repetition allows no test."


def relative_gain(sign: int, method: DataFrame, than: DataFrame) -> Series:
    """Return by how much the mean of ``method`` is better than that of ``than``, relative to the latter."""
    return sign * (than - method).mean(axis=1) / scale(than)


def scale(than: DataFrame) -> Series:
    """Return the unit of relative differences in each comparison."""
    return than.mean(axis=1).abs().replace(0.0, 1.0)


def compare(
    claim: Options,
    results: Results,
    gains: Callable[[int, DataFrame, DataFrame], list[DataFrame]],
    improvement: Callable[[int, DataFrame, DataFrame], Series] = relative_gain,
    improved: str = "The mean of {method} improves on that of {than}",
) -> tuple[str, str]:
    """Judge a claim about ``method`` and ``than`` in a ``share`` of the comparisons; return verdict and evidence.

    A comparison is (data set, kernel, s), or with ``at: columns`` (data set, kernel, D). Those that the claim
    lists under ``ties`` do not count.

    Parameters
    ----------
    gains, improvement : callable
        Functions of 1 if less is better and -1 otherwise, and of the values of ``method`` and ``than``, which have
        a row for each comparison and a column for each repetition. ``gains`` returns how much each repetition
        supports the claim, in a table for each side of the claim; ``improvement`` returns the relative improvement
        in each comparison.
    improved : str
        What the evidence says of the improvement.
    """
    found, place, left_out = cells_of(claim, results)
    method, than = paired(found, place, claim["method"], claim["than"])
    if method.empty:
        return "no data", f"None of its comparisons was run.{left_out}"
    values = 1 if METRICS[claim["metric"]].lower else -1, method, than
    improvements = improvement(*values)
    share = float(claim.get("share", 1.0))
    judgement = judge(np.stack(gains(*values)), spared=spared(len(improvements), share))
    by = f"by {in_percent(improvements.min())} to {in_percent(improvements.max())}"
    return str(judgement.verdict), f"{counted(judgement, share)} {improved.format(**claim)} {by}.{left_out}"


def counted(judgement: Judgement, share: float) -> str:
    """Say in how many comparisons a claim about a share of them holds, and what the average over them says."""
    held = f"It holds in {judgement.holds.sum()} of {plural(len(judgement.holds), 'comparison')} "
    held += f"({share * 100:.0f} % claimed)"
    if not judgement.tested:
        return f"{held}. {NO_TEST}"
    return (
        f"{held}, significantly in {judgement.surely.sum()}, and fails significantly in "
        f"{judgement.refuted.sum()}. The average over the comparisons {supports(judgement)} it "
        f"(p = {float(judgement.p_average):.2g})."
    )


def supports(judgement: Judgement) -> str:
    """Return the verb with which the evidence says whether the average supports a claim."""
    return "supports" if judgement.p_average < LEVEL else "does not support"


def cells_of(claim: Options, results: Results) -> tuple[DataFrame, list[str], str]:
    """Return the cells that a claim is about, the columns that name a comparison, and what ties were left out."""
    chosen = {
        k: v for k, v in claim.items() if k in ("metric", "learner", "ridge", "kernels", "datasets", "title")
    }
    x = "n_components" if claim.get("at") == "columns" else "s_label"
    found = (at_columns if x == "n_components" else at_s)(select(results.cells, chosen))
    place, ties = ["dataset", "kernel", x], Counter[str]()
    for tie in claim.get("ties", ()):
        tied = _tied(tie, found)
        own = found[tied & (found["method"] == claim["method"])]
        ties[tie["reason"].strip().rstrip(".")] += len(own.drop_duplicates(place))
        found = found[~tied]
    left_out = (f" Left out as ties: {number} ({reason})." for reason, number in ties.items() if number)
    return found, place, "".join(left_out)


def paired(found: DataFrame, place: list[str], method: str, than: str) -> tuple[DataFrame, DataFrame]:
    """Return the values of two methods, with a row for each comparison and a column for each repetition."""
    parts = (found[found["method"] == name] for name in (method, than))
    tables = (part.pivot(index=place, columns="seed", values="value") for part in parts)
    first, second = next(tables).align(next(tables), join="inner")
    both: Any = np.isfinite(first) & np.isfinite(second)
    run = both.any(axis=1)
    return first.where(both)[run], second.where(both)[run]


def _tied(tie: Options, cells: DataFrame) -> Series:
    """Which cells a tie names: all that match each of its keys."""
    tied = cells["kernel"].notna()
    for key, column in (("kernels", "kernel"), ("datasets", "name"), ("s", "s_label")):
        if key in tie:
            tied &= cells[column].isin([str(value) for value in tie[key]])
    return tied


@Check.with_options({**COMPARED, "factor": keys.POSITIVE}, REQUIRED)
def better(claim: Options, results: Results) -> tuple[str, str]:
    """The mean of `method` is better than that of `than`, by at least the ratio `factor` if given."""

    def gains(sign: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        return [sign * (than - float(claim.get("factor", 1.0)) ** sign * method)]

    return compare(claim, results, gains)


@Check.with_options({**COMPARED, "within": keys.NOT_NEGATIVE}, (*REQUIRED, "within"))
def equal(claim: Options, results: Results) -> tuple[str, str]:
    """The relative difference of the two means is at most `within`."""

    def gains(_: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        margin = claim["within"] * scale(than)
        return [(side * (than - method)).add(margin, axis=0) for side in (1, -1)]

    return compare(claim, results, gains)


@Check.with_options(COMPARED, REQUIRED)
def steadier(claim: Options, results: Results) -> tuple[str, str]:
    """The variance of `method` over the repetitions is smaller than that of `than`."""

    def gains(_: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        return [_squares(than) - _squares(method)]

    def improvement(_: int, method: DataFrame, than: DataFrame) -> Series:
        return 1 - (_squares(method).sum(axis=1) / _squares(than).sum(axis=1)) ** 0.5

    improved = "The standard deviation of {method} is smaller than that of {than}"
    return compare(claim, results, gains, improvement, improved)


def _squares(values: DataFrame) -> DataFrame:
    """Squared deviations from the mean of each comparison."""
    return values.sub(values.mean(axis=1), axis=0) ** 2
