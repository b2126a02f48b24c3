"""Claims of a paper as statements that are checked on the cells, each with a verdict and its evidence.

Verdicts: those of :data:`rflib.report.claim_rule.VERDICTS`, by :data:`rflib.report.claim_rule.CLAIM_RULE`.
"""

import pandas as pd

from rflib.report.kind import Check, Checked, Options, Results, kinds
from rflib.report.options import check_entries, explanation_of

COLUMNS = ("verdict", "claim", "evidence", "smallest detectable difference", "source")
CONTRADICTED = ("mixed", "not reproduced")


def check_claims(results: Results) -> pd.DataFrame:
    """Return a row for each claim of the study, with the columns `COLUMNS`.

    Raises
    ------
    ValueError
        For unknown types, keys, labels or values. The message names the claim and the key.
    """
    rows = []
    for claim in check_entries(results.study, "claims"):
        verdict, evidence, detectable = _judged(claim, results)
        explanation = explanation_of(claim)
        if verdict in CONTRADICTED and explanation:
            found, details, _ = _judged(explanation, results)
            offered = f"The study offers an explanation, which is {found}"
            if found == "reproduced":
                verdict, offered = "explained", "Explanation"
            evidence = f"{evidence} {offered}: {claim['explanation']['text'].strip().rstrip('.')}. {details}"
        rows.append((verdict, claim["title"], evidence, detectable, claim.get("source", "")))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _judged(claim: Options, results: Results) -> Checked:
    found: Checked = kinds(Check)[claim["type"]].make(claim, results)
    return found
