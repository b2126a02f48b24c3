"""Claims of a paper as statements that a machine checks on the cells, with verdict and evidence.

Verdicts: "reproduced", "not reproduced" and "undecided" by :data:`rflib.report.inference.CLAIM_RULE`; "explained"
(not reproduced, but the study's explanation, checked by the same rule, is reproduced); "no data".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from rflib.report.cells import at_columns, at_s, select
from rflib.report.inference import LEVEL, holm, judge
from rflib.report.options import CLAIMS, METRICS, check_entries, explanation_of
from rflib.report.published import with_p_values

COLUMNS = ("verdict", "claim", "evidence", "source")


def check_claims(study: Mapping[str, Any], cells: pd.DataFrame, published: Path) -> pd.DataFrame:
    """Return a row for each claim of the study: verdict, text, evidence and source.

    Raises
    ------
    ValueError
        For unknown types, keys, labels or values; the message names the claim and the key.
    """
    rows = []
    for claim in check_entries("claims", study, CLAIMS):
        explanation = explanation_of(claim, study)
        verdict, evidence = check(claim, cells, published)
        if verdict == "not reproduced" and explanation:
            verdict, reason = _explained(claim["explanation"]["text"], explanation, cells, published)
            evidence = f"{evidence}. {reason}"
        rows.append((verdict, claim["title"], evidence, claim.get("source", "")))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def check(claim: Mapping[str, Any], cells: pd.DataFrame, published: Path) -> tuple[str, str]:
    """Return verdict and evidence of one claim."""
    if claim["type"] == "agrees":
        return agrees(claim, cells, published)
    return compare(claim, cells)


def _explained(
    text: str, explanation: Mapping[str, Any], cells: pd.DataFrame, published: Path
) -> tuple[str, str]:
    """Verdict and evidence of a claim that does not hold; its explanation explains only if it holds itself."""
    verdict, evidence = check(explanation, cells, published)
    reason = f"{text.strip().rstrip('.')} ({evidence})"
    if verdict == "reproduced":
        return "explained", f"Explained: {reason}"
    return "not reproduced", f"The explanation offered is {verdict}: {reason}"


def compare(claim: Mapping[str, Any], cells: pd.DataFrame) -> tuple[str, str]:
    """Judge that ``method`` is better than ``than``, equal to it, or steadier, in a ``share`` of the cells.

    A cell is (data set, kernel, s), or with ``at: columns`` (data set, kernel, D). "better" may ask for a
    ``factor`` between the means, "equal" allows a relative difference ``within``, and "steadier" compares the
    variances over the repetitions. Cells that the claim lists under ``ties`` do not count.
    """
    chosen = {k: v for k, v in claim.items() if k in ("metric", "learner", "kernels", "datasets", "title")}
    x = "n_components" if claim.get("at") == "columns" else "s_label"
    found = (at_columns if x == "n_components" else at_s)(select(cells, chosen))
    cell, ties = ["dataset", "kernel", x], Counter[str]()
    for tie in claim.get("ties", ()):
        tied = _tied(tie, found)
        own = found[tied & (found["method"] == claim["method"])]
        ties[tie["reason"].strip().rstrip(".")] += len(own.drop_duplicates(cell))
        found = found[~tied]
    left_out = "".join(f"; {number} left out: {reason}" for reason, number in ties.items() if number)
    pair = (found[found["method"] == claim[key]] for key in ("method", "than"))
    tables = (part.pivot(index=cell, columns="seed", values="value") for part in pair)
    method, than = next(tables).align(next(tables), join="inner")
    paired = np.isfinite(method) & np.isfinite(than)
    run = paired.any(axis=1)
    if not run.any():
        return "no data", f"None of its cells was run{left_out}."
    gains, margin = _gains(claim, method.where(paired)[run], than.where(paired)[run])
    n, share = len(margin), float(claim.get("share", 1.0))
    found_by = judge(gains, spared=_spared(n, share))
    return str(found_by.verdict), (
        f"{claim['type']} in {found_by.holds.sum()} of {n} cells ({share:.0%} claimed), beyond doubt in "
        f"{found_by.surely.sum()}, refuted in {found_by.refuted.sum()}; average of the cells: p = "
        f"{float(found_by.p_average):.2g}; margin {_relative(margin.min())} to {_relative(margin.max())}"
        f"{left_out}"
    )


def _tied(tie: Mapping[str, Any], cells: pd.DataFrame) -> pd.Series:
    """Which cells a tie names: all that match each of its keys."""
    tied = pd.Series(True, index=cells.index)
    for key, column in (("kernels", "kernel"), ("datasets", "name"), ("s", "s_label")):
        if key in tie:
            tied &= cells[column].isin([str(value) for value in tie[key]])
    return tied


def _spared(n: int, share: float) -> int:
    """In how many of n cells a claim about a share of them may fail."""
    return floor((1 - share) * n + 1e-9)


def _relative(value: float) -> str:
    """A relative difference in per cent; beyond a hundredfold, as beside an error of rounding, in multiples."""
    return f"{value:+.1%}" if abs(value) < 100 else f"{value:+.0e} times"


def _gains(
    claim: Mapping[str, Any], method: pd.DataFrame, than: pd.DataFrame
) -> tuple[NDArray[np.float64], pd.Series]:
    """How much each repetition speaks for a claim, (sides, cells, repetitions), and the margin of each cell."""
    sign = 1 if METRICS[claim["metric"]].lower else -1
    if claim["type"] == "steadier":
        ours, theirs = ((table.sub(table.mean(axis=1), axis=0)) ** 2 for table in (method, than))
        return np.stack([theirs - ours]), 1 - (ours.sum(axis=1) / theirs.sum(axis=1)) ** 0.5
    scale = than.mean(axis=1).abs().replace(0.0, 1.0)
    margin = sign * (than - method).mean(axis=1) / scale
    if claim["type"] == "equal":
        return np.stack(
            [(side * (than - method)).add(claim["within"] * scale, axis=0) for side in (1, -1)]
        ), margin
    factor = float(claim.get("factor", 1.0)) ** sign
    return np.stack([sign * (than - factor * method)]), margin


def agrees(claim: Mapping[str, Any], cells: pd.DataFrame, published: Path) -> tuple[str, str]:
    """Judge that measured and published numbers agree in a ``share`` of the published cells that were run.

    It is not reproduced if more cells than it spares disagree after Holm's correction. It is reproduced if instead
    the tests at 5 % each find no more cells that disagree than the spared ones and those that chance would add.
    """
    table = with_p_values(claim, cells, published)
    run = table[table["verdict"] != "not run"]
    if run.empty:
        return "no data", f"None of the {len(table)} published cells was run."
    counts = run["verdict"].value_counts()
    agreeing, n, share = int(counts.get("agrees", 0)), len(run), float(claim.get("share", 1.0))
    spared, refuted = _spared(n, share), int(holm(run["p"]).sum())
    relative = run["difference"] / run["published"]
    evidence = (
        f"agrees in {agreeing} of {n} published cells ({share:.0%} claimed), better in "
        f"{counts.get('better', 0)}, worse in {counts.get('worse', 0)}, refuted in {refuted}; difference "
        f"{relative.min():+.1%} to {relative.max():+.1%}, median {relative.median():+.1%}"
    )
    if n < len(table):
        evidence += f"; {len(table) - n} more were not run"
    if refuted > spared:
        return "not reproduced", evidence
    by_chance = int(binom.ppf(1 - LEVEL, n - spared, LEVEL))
    return ("reproduced" if n - agreeing <= spared + by_chance else "undecided"), evidence
