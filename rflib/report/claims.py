"""Claims of a paper as statements that are checked on the cells, each with a verdict and its evidence.

Verdicts: "reproduced", "not reproduced" and "undecided" by :data:`rflib.report.inference.CLAIM_RULE`; "explained"
(not reproduced, but the study's explanation, checked by the same rule, is reproduced); "no data".
"""

import pandas as pd

from rflib.report.kind import Check, Options, Results, kinds
from rflib.report.options import check_entries, explanation_of

COLUMNS = ("verdict", "claim", "evidence", "source")


def check_claims(results: Results) -> pd.DataFrame:
    """Return a row for each claim of the study: verdict, text, evidence and source.

    Raises
    ------
    ValueError
        For unknown types, keys, labels or values. The message names the claim and the key.
    """
    rows = []
    for claim in check_entries(results.study, "claims"):
        verdict, evidence = _judged(claim, results)
        explanation = explanation_of(claim)
        if verdict == "not reproduced" and explanation:
            found, details = _judged(explanation, results)
            offered = f"The study offers an explanation, which is {found}"
            if found == "reproduced":
                verdict, offered = "explained", "Explanation"
            evidence = f"{evidence} {offered}: {claim['explanation']['text'].strip().rstrip('.')}. {details}"
        rows.append((verdict, claim["title"], evidence, claim.get("source", "")))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _judged(claim: Options, results: Results) -> tuple[str, str]:
    verdict, evidence = kinds(Check)[claim["type"]].make(claim, results)
    return verdict, evidence
