"""Claims of a paper as statements that a machine checks on the cells, with verdict and evidence.

Verdicts: "reproduced"; "not reproduced"; "undecided" (it does not hold, but where it fails it does so within the
noise); "explained" (it does not hold, and the study's explanation, which is checked too, does); "no data".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import f as f_distribution
from scipy.stats import ttest_1samp

from rflib.report.cells import at_columns, at_s, select
from rflib.report.options import CLAIMS, METRICS, check_entries, explanation_of
from rflib.report.published import beside_published

COLUMNS = ("verdict", "claim", "evidence", "source")
LEVEL = 0.05
_CONSTANT = 1e-9


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
    """Check that ``method`` is better than ``than``, or equal to it, by the mean in a ``share`` of the cells.

    A cell is (data set, kernel, s), or with ``at: columns`` (data set, kernel, D). "better" may ask for a
    ``factor`` between them, "equal" allows a relative difference ``within``; each cell is also tested over its
    repetitions, paired by seed (one-sided t-test, 5 %). "steadier" compares the standard deviations over the
    repetitions instead (one-sided F-test, 5 %).
    """
    chosen = {k: v for k, v in claim.items() if k in ("metric", "learner", "kernels", "datasets", "title")}
    x = "n_components" if claim.get("at") == "columns" else "s_label"
    found = (at_columns if x == "n_components" else at_s)(select(cells, chosen))
    outcomes = []
    for _, group in found.groupby(["dataset", "kernel", x], sort=False):
        values = [
            group[group["method"] == claim[key]].set_index("seed")["value"] for key in ("method", "than")
        ]
        pair = pd.concat(values, axis=1, join="inner", keys=["method", "than"]).dropna()
        if len(pair):
            outcomes.append(_outcome(claim, pair))
    if not outcomes:
        return "no data", "None of its cells was run."
    holds, surely, refuted, margin = (pd.Series(column) for column in zip(*outcomes, strict=True))
    n, share = len(outcomes), float(claim.get("share", 1.0))
    spared = floor((1 - share) * n + 1e-9)
    test = "one-sided F-test" if claim["type"] == "steadier" else "paired one-sided t-test"
    evidence = (
        f"{claim['type']} in {holds.sum()} of {n} cells ({share:.0%} claimed), beyond doubt in {surely.sum()}, "
        f"refuted in {refuted.sum()} ({test}, 5 %); "
        f"margin {_relative(margin.min())} to {_relative(margin.max())}"
    )
    if n - holds.sum() <= spared:
        return "reproduced", evidence
    return ("not reproduced" if refuted.sum() > spared else "undecided"), evidence


def _relative(value: float) -> str:
    """A relative difference in per cent; beyond a hundredfold, as beside an error of rounding, in multiples."""
    return f"{value:+.1%}" if abs(value) < 100 else f"{value:+.0e} times"


def _outcome(claim: Mapping[str, Any], pair: pd.DataFrame) -> tuple[bool, bool, bool, float]:
    """Whether the claim holds in one cell by the mean, beyond doubt, is refuted beyond doubt; and the margin."""
    sign = 1 if METRICS[claim["metric"]].lower else -1
    scale = abs(float(pair["than"].mean())) or 1.0
    margin = sign * float((pair["than"] - pair["method"]).mean()) / scale
    if claim["type"] == "equal":
        slack = [claim["within"] * scale - side * (pair["method"] - pair["than"]) for side in (1, -1)]
        holds = abs(margin) <= claim["within"]
        return holds, all(_above(s) for s in slack), any(_above(-s) for s in slack), margin
    if claim["type"] == "steadier":
        return _steadier(pair["method"], pair["than"])
    factor = float(claim.get("factor", 1.0)) ** sign
    gain = sign * (pair["than"] - factor * pair["method"])
    return bool(gain.mean() > 0), _above(gain), _above(-gain), margin


def _steadier(method: pd.Series, than: pd.Series) -> tuple[bool, bool, bool, float]:
    """Whether the first deviation is smaller, beyond doubt, refuted (F-tests of the variances); and the margin."""
    ours, theirs = method.var(), than.var()
    if len(method) < 2 or not (ours > 0 and theirs > 0):
        return False, False, False, 0.0
    freedom = len(method) - 1
    below, above = (
        f_distribution.sf(ratio, freedom, freedom) < LEVEL for ratio in (theirs / ours, ours / theirs)
    )
    return bool(ours < theirs), bool(below), bool(above), 1 - float(ours / theirs) ** 0.5


def _above(values: pd.Series) -> bool:
    """Whether the mean is above zero by a one-sided t-test at 5 %; a constant needs no test."""
    if len(values) < 2:
        return False
    if values.std() <= _CONSTANT * abs(values.mean()):
        return bool(values.mean() > 0)
    return bool(ttest_1samp(values, 0.0, alternative="greater").pvalue < LEVEL)


def agrees(claim: Mapping[str, Any], cells: pd.DataFrame, published: Path) -> tuple[str, str]:
    """Check that measured and published numbers agree in a ``share`` of the published cells that were run."""
    table = beside_published(claim, cells, published)
    run = table[table["verdict"] != "not run"]
    if run.empty:
        return "no data", f"None of the {len(table)} published cells was run."
    counts = run["verdict"].value_counts()
    share = float(claim.get("share", 1.0))
    relative = run["difference"] / run["published"]
    evidence = (
        f"agrees in {counts.get('agrees', 0)} of {len(run)} published cells ({share:.0%} claimed), better in "
        f"{counts.get('better', 0)}, worse in {counts.get('worse', 0)}; difference {relative.min():+.1%} to "
        f"{relative.max():+.1%}, median {relative.median():+.1%}"
    )
    if len(run) < len(table):
        evidence += f"; {len(table) - len(run)} more were not run"
    enough = counts.get("agrees", 0) >= share * len(run) - 1e-9
    return ("reproduced" if enough else "not reproduced"), evidence
