"""Claims of a paper as statements that a machine checks on the cells, with verdict and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_rel

from rflib.report.options import LOWER_IS_BETTER, check_options, select

ALLOWED = {"better": ("metric!", "method!", "than!", "share", "learner", "kernels", "datasets", "source")}
COLUMNS = ("claim", "source", "verdict", "evidence")
LEVEL = 0.05
_NOISE = 1e-9


def check_claims(claims: Sequence[Mapping[str, Any]], cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each claim: its text, source, verdict and evidence.

    Raises
    ------
    ValueError
        For unknown types, keys or metrics; the message names the claim.
    """
    rows = []
    for claim in claims:
        check_options("claim", claim, ALLOWED)
        verdict, evidence = better(claim, cells)
        rows.append(
            {
                "claim": claim["title"],
                "source": claim.get("source", ""),
                "verdict": verdict,
                "evidence": evidence,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def better(claim: Mapping[str, Any], cells: pd.DataFrame) -> tuple[str, str]:
    """Check that ``method`` is better than ``than`` on average, in all cells or in a ``share`` of them.

    Cells are (data set, kernel, s). The evidence tells in how many the mean is better, in how many
    significantly so (paired t-test over the seeds, 5 %), and the smallest margin.
    """
    lower = LOWER_IS_BETTER[claim["metric"]]
    chosen = select(
        cells, {k: v for k, v in claim.items() if k in ("metric", "learner", "kernels", "datasets")}
    )
    wins = significant = 0
    margins = []
    keys = ["dataset", "kernel", "s_label"]
    for _, group in chosen.groupby(keys):
        values = [
            group[group["method"] == name].drop_duplicates("seed").set_index("seed")["value"]
            for name in (claim["method"], claim["than"])
        ]
        pair = pd.concat(values, axis=1, join="inner", keys=["method", "than"]).dropna()
        if pair.empty:
            continue
        gain = (pair["than"] - pair["method"]) * (1 if lower else -1)
        margins.append(float(gain.mean() / abs(pair["than"].mean())))
        wins += bool(gain.mean() > 0)
        if len(pair) > 1 and gain.std() > _NOISE * abs(gain.mean()):
            significant += bool(gain.mean() > 0 and ttest_rel(pair["than"], pair["method"]).pvalue < LEVEL)
    if not margins:
        return "no data", "none of its cells was run"
    share = float(claim.get("share", 1.0))
    verdict = "reproduced" if wins >= np.ceil(share * len(margins) - 1e-9) else "not reproduced"
    return verdict, (
        f"better in {wins} of {len(margins)} cells ({share:.0%} claimed), significantly in {significant}; "
        f"margin {min(margins):+.1%} to {max(margins):+.1%}"
    )
