"""Claims that compare two methods, cell by cell: one is better than the other, equal to it, or steadier."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import at_columns, at_s, select
from rflib.report.inference import judge, spared
from rflib.report.kind import Check, DataFrame, Options, Results, Series
from rflib.report.wording import METRICS

_S = {"type": ["string", "integer"], "description": "a value of s"}
_TIED = {**keys.PLACES, "s": keys.list_of(_S), "reason": keys.TEXT}
_TIE = keys.mapping(_TIED, ("reason",), "a mapping: cells that do not count, and the reason")
COMPARED = {
    **keys.METRIC,
    **{"method": keys.label("method"), "than": keys.label("method")},
    **{"at": keys.S_OR_COLUMNS, "share": keys.SHARE, **keys.PLACES, "ties": keys.list_of(_TIE)},
}
REQUIRED = ("metric", "method", "than")


def relative_gain(sign: int, method: DataFrame, than: DataFrame) -> Series:
    """Return by how much the mean of ``method`` is better than that of ``than``, relative to the latter."""
    return sign * (than - method).mean(axis=1) / scale(than)


def scale(than: DataFrame) -> Series:
    """Return the unit of relative differences in each cell."""
    return than.mean(axis=1).abs().replace(0.0, 1.0)


def compare(
    claim: Options,
    results: Results,
    gains: Callable[[int, DataFrame, DataFrame], list[DataFrame]],
    margin: Callable[[int, DataFrame, DataFrame], Series] = relative_gain,
) -> tuple[str, str]:
    """Judge a claim about ``method`` and ``than`` in a ``share`` of the cells; return verdict and evidence.

    A cell is (data set, kernel, s), or with ``at: columns`` (data set, kernel, D). Cells that the claim lists
    under ``ties`` do not count.

    Parameters
    ----------
    gains, margin : callable
        From 1 if less is better and -1 otherwise, and the values of ``method`` and ``than``, a row for each cell
        and a column for each repetition: how much each repetition speaks for the claim, a table for each side of
        the claim; and how much each cell does.
    """
    found, cell, left_out = cells_of(claim, results)
    method, than = paired(found, cell, claim["method"], claim["than"])
    if method.empty:
        return "no data", f"None of its cells was run{left_out}."
    values = 1 if METRICS[claim["metric"]].lower else -1, method, than
    margins = margin(*values)
    n, share = len(margins), float(claim.get("share", 1.0))
    found_by = judge(np.stack(gains(*values)), spared=spared(n, share))
    return str(found_by.verdict), (
        f"{claim['type']} in {found_by.holds.sum()} of {n} cells ({share:.0%} claimed), beyond doubt in "
        f"{found_by.surely.sum()}, refuted in {found_by.refuted.sum()}; average of the cells: p = "
        f"{float(found_by.p_average):.2g}; margin {relative(margins.min())} to {relative(margins.max())}"
        f"{left_out}"
    )


def cells_of(claim: Options, results: Results) -> tuple[DataFrame, list[str], str]:
    """Return the cells that a claim is about, what makes a cell, and how many ties were left out, and why."""
    chosen = {
        k: v for k, v in claim.items() if k in ("metric", "learner", "ridge", "kernels", "datasets", "title")
    }
    x = "n_components" if claim.get("at") == "columns" else "s_label"
    found = (at_columns if x == "n_components" else at_s)(select(results.cells, chosen))
    cell, ties = ["dataset", "kernel", x], Counter[str]()
    for tie in claim.get("ties", ()):
        tied = _tied(tie, found)
        own = found[tied & (found["method"] == claim["method"])]
        ties[tie["reason"].strip().rstrip(".")] += len(own.drop_duplicates(cell))
        found = found[~tied]
    return found, cell, "".join(f"; {number} left out: {reason}" for reason, number in ties.items() if number)


def paired(found: DataFrame, cell: list[str], method: str, than: str) -> tuple[DataFrame, DataFrame]:
    """Return the values of two methods, a row for each cell that both have and a column for each repetition."""
    parts = (found[found["method"] == name] for name in (method, than))
    tables = (part.pivot(index=cell, columns="seed", values="value") for part in parts)
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


def relative(value: float) -> str:
    """A relative difference in per cent; beyond a hundredfold, as beside an error of rounding, in multiples."""
    return f"{value:+.1%}" if abs(value) < 100 else f"{value:+.0e} times"


@Check.with_options({**COMPARED, "factor": keys.POSITIVE}, REQUIRED)
def better(claim: Options, results: Results) -> tuple[str, str]:
    """The mean of `method` is better than that of `than`; with `factor`, at least so many times."""

    def gains(sign: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        return [sign * (than - float(claim.get("factor", 1.0)) ** sign * method)]

    return compare(claim, results, gains)


@Check.with_options({**COMPARED, "within": keys.NOT_NEGATIVE}, (*REQUIRED, "within"))
def equal(claim: Options, results: Results) -> tuple[str, str]:
    """The means differ by at most the relative difference `within`."""

    def gains(_: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        margin = claim["within"] * scale(than)
        return [(side * (than - method)).add(margin, axis=0) for side in (1, -1)]

    return compare(claim, results, gains)


@Check.with_options(COMPARED, REQUIRED)
def steadier(claim: Options, results: Results) -> tuple[str, str]:
    """The variance over the repetitions is smaller."""

    def gains(_: int, method: DataFrame, than: DataFrame) -> list[DataFrame]:
        return [_squares(than) - _squares(method)]

    def margin(_: int, method: DataFrame, than: DataFrame) -> Series:
        return 1 - (_squares(method).sum(axis=1) / _squares(than).sum(axis=1)) ** 0.5

    return compare(claim, results, gains, margin)


def _squares(values: DataFrame) -> DataFrame:
    """Squared deviations from the mean of each cell."""
    return values.sub(values.mean(axis=1), axis=0) ** 2
