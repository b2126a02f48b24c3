"""Claims that compare two methods flip with the results."""

import re

import numpy as np
import pandas as pd
import pytest

from rflib.report.claim_rule import judge
from rflib.report.claims import COLUMNS, check_claims
from rflib.report.kind import Results
from rflib.report.kinds.comparisons import Difference
from rflib.report.wording import between, in_percent

from .made_up import ERROR, made_up_cells


def verdicts(study, means, published, **claim):
    """The verdicts of the study's claim, changed by ``claim``, on made-up cells."""
    claims = [{**study["claims"][0], **claim}]
    cells = means if isinstance(means, pd.DataFrame) else made_up_cells(means)
    found = check_claims(Results({**study, "claims": claims}, cells, published))
    return found["verdict"][0], found["evidence"][0]


def test_claims_flip_with_the_results(study, published):
    good, evidence = verdicts(study, {"GORF": 0.1, "GRFF": 0.2}, published)
    assert good == "reproduced"
    assert "It holds in 4 of 4 comparisons (100 % claimed)" in evidence
    assert "The mean of GORF is 50 % better than that of GRFF." in evidence
    assert verdicts(study, {"GORF": 0.2, "GRFF": 0.1}, published)[0] == "not reproduced"
    assert verdicts(study, {"GORF": 0.1}, published)[0] == "no data"


def test_one_repetition_is_not_said_to_support_a_claim(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    verdict_, evidence = verdicts(study, cells[cells["seed"] == 0], published)
    assert verdict_ == "undecided"
    assert evidence.startswith(
        "It holds in 4 of 4 comparisons (100 % claimed) and fails in 0. One repetition allows no test. The mean of"
    )
    assert " supports it (p value " in verdicts(study, cells[cells["seed"] < 2], published)[1]


def test_the_evidence_against_a_claim_is_not_said_to_support_it(study, published):
    verdict_, evidence = verdicts(study, {"GORF": 0.2, "GRFF": 0.1}, published)
    assert verdict_ == "not reproduced"
    assert "The average over the comparisons does not support it (p value 1)." in evidence


def test_a_difference_from_rounding_error_is_a_multiple(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 1e-15}, spread=1e-17)
    (evidence,) = check_claims(Results(study, cells, published))["evidence"]
    assert "The mean of GORF is 1e+14 times worse than that of GRFF." in evidence


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.49, -0.004, "0.4 to 49 % worse"),
        (0.173, 0.968, "17 to 97 % better"),
        (-0.035, 0.529, "between 3.5 % worse and 53 % better"),
        (0.5, 0.5, "50 % better"),
        (-123.4, -0.2, "20 % to 124 times worse"),
        (-13.06, -1.5, "2.5 to 14 times worse"),
        (-13.06, 0.3, "between 14 times worse and 30 % better"),
        (-1.0, -1.0, "100 % worse"),
        (2.0, 2.0, "3.0 times better"),
        (0.0, 0.1, "0.0 to 10 % better"),
    ],
)
def test_a_range_of_differences_is_readable(low, high, text):
    assert between(low, high) == text


def test_the_smallest_detectable_difference_is_a_ratio_of_errors_and_points_of_accuracy(study, published):
    noise = np.random.default_rng(0).standard_normal(80)
    errors = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    errors["value"] += 0.01 * noise
    for changed, text in ((errors, r"1\.\d+ times"), (errors.assign(metric="accuracy"), r"[0-9.]+ points")):
        claims = [{**study["claims"][0], "metric": changed["metric"][0]}]
        (found,) = check_claims(Results({**study, "claims": claims}, changed, published))[COLUMNS[3]]
        assert re.fullmatch(rf"In one comparison: {text} \(median; .*\)\. In all alike: .*\.", found)


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (-0.355, "-36 %"),
        (-1e-5, "+0.0 %"),
        (0.9962, "+99.6 %"),
        (41.929, "+4,193 %"),
        (123.4, "+123 times"),
        (-4567, "-4,567 times"),
        (8e9, "+8e+09 times"),
    ],
)
def test_a_difference_is_readable(difference, text):
    assert in_percent(difference) == text


def test_one_bad_comparison_makes_a_claim_fail(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    bad = (cells["method"] == "GORF") & (cells["dataset"] == "usps") & (cells["n_components"] == 64)
    cells.loc[bad, "value"] = 0.5
    verdict_, evidence = verdicts(study, cells, published)
    assert verdict_ == "mixed", "the average supports it"
    assert "and fails in 1, significantly in 1 and by a factor of two or more in 1." in evidence
    assert "Against it: usps, delta, s = d (2.5 times worse). The mean of" in evidence
    assert verdicts(study, cells, published, share=0.75)[0] == "reproduced"


def test_the_worst_three_of_the_comparisons_that_decide_are_named():
    noise = 0.01 * np.random.default_rng(0).standard_normal((1, 12, 8))
    means = np.array([-1.2, -3.0, 0.9, -1.1, -2.0, -0.001, *[0.9] * 6])
    judgement = judge(means[:, None] + noise, far=1.0)
    assert judgement.verdict == "mixed"
    places = pd.MultiIndex.from_product([["usps"], ["p=3"], range(12)])
    told = Difference("The mean of A", pd.Series(means, places), "").against(judgement)
    worst = "; ".join(
        f"usps, p=3, D = {at} ({by} times worse)" for at, by in ((1, "4.0"), (4, "3.0"), (0, "2.2"))
    )
    assert told == f" Against it: {worst}; {judgement.apart.sum() - 3} more."
    assert Difference("", pd.Series(means, places), "").against(judge(0.9 + noise)) == ""


def test_a_failure_within_the_noise_is_undecided(study, published):
    cells = made_up_cells({"GORF": 0.2001, "GRFF": 0.2})
    noise = np.random.default_rng(1).standard_normal(len(cells)) * 0.01
    verdict_, evidence = verdicts(study, cells.assign(value=cells["value"] + noise), published)
    assert verdict_ == "undecided"
    assert ", significantly in 0. The average" in evidence


@pytest.mark.parametrize(("factor", "expected"), [(1.9, "reproduced"), (2.1, "not reproduced")])
def test_a_claim_of_a_factor(study, published, factor, expected):
    assert verdicts(study, {"GORF": 0.1, "GRFF": 0.2}, published, factor=factor)[0] == expected


def test_higher_accuracy_is_better(study, published):
    cells = made_up_cells({"GORF": 0.9, "GRFF": 0.8}).assign(metric="accuracy")
    assert verdicts(study, cells, published, metric="accuracy")[0] == "reproduced"
    assert verdicts(study, cells, published, metric="accuracy", factor=1.2)[0] == "not reproduced"


def test_equal(study, published):
    claim = {"type": "equal", "within": 0.02}
    assert verdicts(study, {"GORF": 0.1, "GRFF": 0.101}, published, **claim)[0] == "reproduced"
    assert verdicts(study, {"GORF": 0.1, "GRFF": 0.11}, published, **claim)[0] == "not reproduced"


def test_steadier(study, published):
    cells = made_up_cells({"GORF": 0.5, "GRFF": 0.2})
    wide = cells["method"] == "GRFF"
    spread = cells.assign(value=cells["value"].where(~wide, 0.2 + 10 * (cells["value"] - 0.2)))
    found, evidence = verdicts(study, spread, published, type="steadier")
    assert found == "reproduced"
    assert "It holds in 4 of 4 comparisons (100 % claimed)" in evidence
    assert "The standard deviation of GORF is 90 % smaller than that of GRFF." in evidence
    turned = verdicts(study, spread, published, type="steadier", method="GRFF", than="GORF")
    assert turned[0] == "not reproduced"


def test_equal_spreads_of_a_skewed_law_are_not_called_different(study, published):
    """The F-test, made for normal values, refutes the claim in most studies of 16 such comparisons."""
    cells = pd.concat(
        [made_up_cells({"GORF": 0.5, "GRFF": 0.2}).assign(kernel=f"k{i}", data=f"d{i}") for i in range(4)]
    )
    skewed = cells.assign(value=np.exp(np.random.default_rng(0).standard_normal(len(cells))))
    found, evidence = verdicts(study, skewed, published, type="steadier")
    assert found == "undecided"
    assert ", significantly in 0. The average" in evidence


def test_an_explanation_must_hold_itself(study, published):
    reason = {
        "text": "They differ little",
        "type": "equal",
        "metric": ERROR,
        "method": "GORF",
        "than": "GRFF",
    }
    failed = {"GORF": 0.201, "GRFF": 0.2}
    verdict_, evidence = verdicts(study, failed, published, explanation={**reason, "within": 0.01})
    assert verdict_ == "explained"
    assert " Explanation: They differ little. It holds in 4 of 4 comparisons" in evidence
    verdict_, evidence = verdicts(study, failed, published, explanation={**reason, "within": 0.001})
    assert verdict_ == "not reproduced"
    assert (
        "The study offers an explanation, which is not reproduced: They differ little. It holds in 0"
        in evidence
    )
    with pytest.raises(ValueError, match="'GORF wins': explanation: the key 'within' is missing"):
        verdicts(study, failed, published, explanation=reason)


def test_a_mixed_claim_can_be_explained(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    bad = (cells["method"] == "GORF") & (cells["dataset"] == "usps") & (cells["n_components"] == 64)
    cells.loc[bad, "value"] += 0.15
    reason = {"text": "T", "type": "better", "metric": ERROR, "method": "GORF", "than": "GRFF"}
    assert verdicts(study, cells, published, explanation={**reason, "share": 0.75})[0] == "explained"
    assert verdicts(study, cells, published, explanation=reason)[0] == "mixed"
