"""A method against several others: claims that flip with the results, and the tables of gains and losses."""

import numpy as np
import pandas as pd
import pytest

from rflib.report.cell_table import select
from rflib.report.claim_rule import judge
from rflib.report.claims import check_claims
from rflib.report.inference import holm
from rflib.report.kind import Results
from rflib.report.options import check_shown

from .made_up import ERROR, made, made_up_cells

MEANS = {"MVORF": 0.1, "ORF": 0.2, "GORF": 0.15}
STUDY = {
    "datasets": [{"name": "letter"}, {"name": "usps"}],
    "kernels": {"delta": {}},
    "methods": {name: {} for name in (*MEANS, "AutoMap")},
    "s": [["d", "2d"]],
}
OURS = {"title": "Ours", "metric": ERROR, "method": "MVORF", "than": ["ORF", "GORF"]}


def judged(kind, means, **changes):
    """Verdict and evidence of a claim on made-up cells."""
    cells = means if isinstance(means, pd.DataFrame) else made_up_cells(means)
    study = {**STUDY, "claims": [{**OURS, "type": kind, **changes}]}
    found = check_claims(Results(study, cells, None))
    return found["verdict"][0], found["evidence"][0]


def spoilt(by, method="MVORF", dataset="usps", columns=64, means=MEANS):
    """Cells in one of which a method is changed by so much."""
    cells = made_up_cells(means).astype({"n_components": float})  # as beside cells of the exact kernel
    where = (cells["method"] == method) & (cells["dataset"] == dataset) & (cells["n_components"] == columns)
    return cells.assign(value=cells["value"] + by * where)


def test_one_repetition_is_not_said_to_support_a_claim():
    cells = made_up_cells(MEANS)
    verdict, evidence = judged("best", cells[cells["seed"] == 0])
    assert verdict == "undecided"
    assert "One repetition allows no test." in evidence
    assert "p value" not in evidence
    assert "significant" not in evidence


def test_best_flips_with_the_results():
    verdict, evidence = judged("best", MEANS)
    assert verdict == "reproduced"
    assert "holds in 4 of 4 comparisons (100 % claimed), significantly in 4, and fails in 0." in evidence
    assert "The mean of MVORF is 50 % better than the best of the others." in evidence
    assert judged("best", {**MEANS, "GORF": 0.05})[0] == "not reproduced"
    assert judged("best", {"MVORF": 0.1})[0] == "no data"


def test_best_counts_a_cell_that_any_other_wins():
    cells = spoilt(0.07)  # worse than GORF, better than ORF
    verdict, evidence = judged("best", cells)
    assert verdict == "mixed"
    assert "holds in 3 of 4 comparisons" in evidence
    assert judged("best", cells, share=0.75)[0] == "reproduced"


def test_best_up_to_a_factor():
    """AutoMap need not be the best, but within 1.1 of it."""
    close = {"MVORF": 0.108, "ORF": 0.1, "GORF": 0.2}
    assert judged("best", close)[0] == "not reproduced"
    assert judged("best", close, factor=1 / 1.1)[0] == "reproduced"
    assert judged("best", {**close, "MVORF": 0.112}, factor=1 / 1.1)[0] == "not reproduced"


def test_rounding_errors_below_the_floor_are_equal():
    cells = made_up_cells(MEANS)
    exact = cells.assign(
        value=cells["value"] * cells["method"].map({"MVORF": 1e-11, "GORF": 1e-14}).fillna(1.0)
    )
    assert judged("best", exact)[0] == "not reproduced"
    verdict, evidence = judged("best", exact, floor=1e-6)
    assert evidence.endswith("Values below 1e-06 count as equal to it.")
    assert verdict != "not reproduced"


def test_higher_accuracy_is_better():
    cells = made_up_cells({"MVORF": 0.9, "ORF": 0.8, "GORF": 0.85}).assign(metric="accuracy")
    assert judged("best", cells, metric="accuracy")[0] == "reproduced"
    assert (
        judged("best", cells, metric="accuracy", method="GORF", than=["MVORF", "ORF"])[0] == "not reproduced"
    )


def test_a_method_that_is_not_everywhere_counts_where_it_is():
    cells = made_up_cells({**MEANS, "GORF": 0.05})
    here = cells[(cells["method"] != "GORF") | (cells["dataset"] == "usps")]
    verdict, evidence = judged("best", here)
    assert verdict == "not reproduced"
    assert "holds in 2 of 4 comparisons" in evidence
    assert judged("best", cells[cells["method"] != "GORF"])[0] == "reproduced"


def test_the_same_method_several_times_is_rarely_refuted_or_best():
    """Three equal laws, one missing in half of the cells: at most 5 % (and 3 standard errors) either way."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((1000, 4, 20, 10))
    gains = values[:, 1:] - values[:, :1]
    gains[:, 2, ::2] = np.nan
    verdicts = judge(gains).verdict
    assert np.mean(verdicts == "not reproduced") <= 0.05 + 3 * 0.007
    assert np.mean(verdicts == "reproduced") <= 0.05 + 3 * 0.007


def test_what_is_missing_is_no_hypothesis():
    assert list(holm([0.02, np.nan, np.nan, 0.03])) == [True, False, False, True]
    assert not holm([0.03, 1.0, 1.0, 0.03]).any()
    sides = np.array([[[1.0, 1.1, 0.9], [1.0, 1.1, 0.9]], [[np.nan] * 3, [-1.0, -1.1, -0.9]]])
    found = judge(sides)
    assert list(found.holds) == [True, False]
    assert list(found.surely) == [True, False]


def test_gains_are_geometric_means():
    cells = spoilt(-0.05)  # usps at d: .05
    table = made({"type": "gains", **OURS}, cells, study=STUDY)
    assert list(table.columns) == ["than", "kernel", "s = d", "s = 2d", "all"]
    assert list(zip(table["than"], table["kernel"], strict=True)) == [
        (than, kernel) for than in ("ORF", "GORF") for kernel in ("delta", "all")
    ]
    np.testing.assert_allclose(
        table.loc[0, ["s = d", "s = 2d"]].astype(float), [np.sqrt(2 * 4), 2], rtol=1e-9
    )
    assert table["all"][3] == pytest.approx(1.5 * 2**0.25)
    better = made(
        {"type": "gains", **OURS, "metric": "accuracy"}, cells.assign(metric="accuracy"), study=STUDY
    )
    assert better["s = 2d"][0] == pytest.approx(0.5), "more is better"


def test_lost_names_cell_winner_and_choice():
    cells = spoilt(0.07, means={**MEANS, "AutoMap": 0.15})
    cells["took"] = np.where(cells["method"] == "AutoMap", np.where(cells["seed"] < 3, "ORF", "GORF"), None)
    entry = {"type": "lost", **OURS, "chooser": "AutoMap"}
    (row,) = made(entry, cells, study=STUDY).to_dict("records")
    assert isinstance(row["D"], int)
    assert (row["data set"], row["kernel"], row["D"], row["best other"]) == ("usps", "delta", 64, "GORF")
    assert row["MVORF"] == pytest.approx(0.17)
    assert row["its mean"] == pytest.approx(0.15)
    assert row["AutoMap"] == pytest.approx(0.15)
    assert row["ratio"] == pytest.approx(17 / 15)
    assert row["significant"] == "yes"
    assert row["its choice"] == "GORF (7), ORF (3)"
    assert made(entry, made_up_cells(MEANS), study=STUDY).empty


def test_a_metric_of_several_ridges_is_used_at_one():
    cells = made_up_cells(MEANS).assign(metric="regularised_spectral_error", at=1e-3)
    other = cells.assign(at=1e-4, value=1 - cells["value"])
    both = pd.concat([cells, other], ignore_index=True)
    entry = {**OURS, "metric": "regularised_spectral_error"}
    assert judged("best", both, metric=entry["metric"], ridge=0.001)[0] == "reproduced"
    assert judged("best", both, metric=entry["metric"], ridge=0.0001)[0] == "not reproduced"
    assert set(made({"type": "ranking", **entry, "ridge": 1e-4}, both)["mean rank"]) == {1, 2, 3}
    assert len(select(both, entry, curves=True)) == len(both)
    with pytest.raises(
        ValueError,
        match="'Ours': ridge: the study has regularised_spectral_error for several ridges; give one",
    ):
        select(both, entry)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"than": "ORF"}, "must be a list whose items are each a method of the study, got 'ORF'"),
        ({"than": ["ORFF"]}, "than.0: must be one of .*, got 'ORFF'. Did you mean 'ORF'"),
        ({"ridge": 0}, "must be a positive number, got 0"),
    ],
)
def test_wrong_keys(wrong, message):
    with pytest.raises(ValueError, match=message):
        check_shown({**STUDY, "claims": [{**OURS, "type": "best", **wrong}]})
