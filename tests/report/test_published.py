"""Published numbers beside the measured ones, and claims that they agree."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import chdtri, stdtr
from scipy.stats import ttest_ind_from_stats

from rflib.report.claims import check_claims
from rflib.report.kind import Results
from rflib.report.kinds.published import p_of_difference, published_numbers, verdict
from rflib.report.power import noncentrality

from .made_up import ERROR, PUBLISHED_FOLDER, made, made_up_cells


def judged(mean, std, repetitions, ours, lower, rounding=0.0):
    """The verdict on a published number beside measured values."""
    return verdict(mean, ours, p_of_difference(mean, std, repetitions, ours, rounding), lower)


def test_verdict():
    ours = pd.Series([0.10, 0.12, 0.11, 0.09, 0.13])
    assert judged(0.11, 0.01, 10, ours, lower=True) == "agrees"
    assert judged(0.20, 0.01, 10, ours, lower=True) == "better"
    assert judged(0.20, 0.01, 10, ours, lower=False) == "worse"
    assert judged(0.01, 0.0, 10, ours, lower=True) == "worse"
    assert judged(0.01, 0.0, 10, ours[:0], lower=True) == "not run"


def test_a_published_number_is_compared_by_welchs_test():
    """Not by two standard errors, which 3 and 3 repetitions of one law exceed in 12 to 18 % of cases."""
    ours = pd.Series([0.10, 0.12, 0.11, 0.09, 0.13])
    expected = ttest_ind_from_stats(0.125, 0.01, 10, ours.mean(), ours.std(), 5, equal_var=False).pvalue
    assert p_of_difference(0.125, 0.01, 10, ours) == pytest.approx(expected, rel=1e-10)
    assert p_of_difference(0.127, 0.01, 10, ours, rounding=0.002) == pytest.approx(expected, rel=1e-10)
    draws = np.random.default_rng(0).standard_normal((2, 2000, 3))
    p = [
        p_of_difference(theirs.mean(), theirs.std(ddof=1), 3, pd.Series(mine))
        for theirs, mine in zip(*draws, strict=True)
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.05


def test_table_beside_published(study, published):
    table = made(study["tables"][0], made_up_cells({"GORF": 0.1, "GRFF": 0.2}), published, study)
    assert list(table["verdict"]) == ["agrees", "better", "worse", "not run"]
    assert table["ours"][0] == pytest.approx(0.1)
    assert table["ours std"][0] == pytest.approx(0.001)
    assert list(table["repetitions"]) == [10, 10, 10, 0]
    assert table["difference"][2] == pytest.approx(0.05)


def test_published_percentages_s_as_text_and_last_digits(published):
    pd.DataFrame(
        {
            "table": "A",
            "kernel": "k",
            "dataset": "usps",
            "method": ["RM", "exact"],
            "s": [512, None],
            "metric": "accuracy_percent",
            "mean": ["87.29", "96.2"],
            "std": [0.87, None],
        }
    ).to_csv(published / "percent.csv", index=False)
    numbers = published_numbers(published, "percent", "A", "accuracy")
    assert list(numbers["mean"]) == [0.8729, 0.962]
    assert numbers["std"].iloc[0] == 0.0087
    assert list(numbers["rounding"]) == pytest.approx([0.00005, 0.0005])
    assert pd.isna(numbers["s"].iloc[1])
    for wrong, message in (
        (("none", "A", "accuracy"), "none.csv is missing. There are numbers for mine, percent"),
        (("percent", "B", "accuracy"), "has no table 'B'[.] Its tables are 'A'"),
        (("percent", "A", "rmse"), "no numbers for the metric 'rmse'"),
    ):
        with pytest.raises(ValueError, match=message):
            published_numbers(published, *wrong)


def test_a_number_printed_without_deviation_agrees_within_its_last_digit():
    ours = pd.Series([0.9623])
    assert judged(0.962, np.nan, 10, ours, lower=False, rounding=0.0005) == "agrees"
    assert judged(0.962, np.nan, 10, ours, lower=False, rounding=0.00005) == "better"


def test_agreement_with_a_published_table(study, published):
    claim = {"type": "agrees", "title": "As printed", "share": 0.3}
    claim |= {k: study["tables"][0][k] for k in ("metric", "paper", "table", "kernels", "methods")}
    cells = made_up_cells({"GORF": 0.1})
    found = check_claims(Results({**study, "claims": [claim]}, cells, published))
    assert found["verdict"][0] == "reproduced"
    assert (
        "agrees with 1 of 3 published numbers (30 % claimed), is better than 1 and worse than 1."
        in found["evidence"][0]
    )
    assert "1 more published numbers were not measured." in found["evidence"][0]
    worse = cells.assign(value=cells["value"] + 1)
    assert (
        check_claims(Results({**study, "claims": [claim]}, worse, published))["verdict"][0]
        == "not reproduced"
    )


def test_an_agreement_that_could_have_missed_any_number_is_undecided(study, published):
    claim = {"type": "agrees", "title": "As printed", "share": 0.3}
    claim |= {k: study["tables"][0][k] for k in ("metric", "paper", "table", "kernels", "methods")}
    for spread, expected, smallest in ((0.02, "reproduced", 1.74), (0.3, "undecided", 6.3)):
        cells = made_up_cells({"GORF": 0.1}, spread=spread)
        numbers = pd.read_csv(published / "mine.csv").assign(std=spread)
        numbers.to_csv(published / "mine.csv", index=False)
        (found,) = check_claims(Results({**study, "claims": [claim]}, cells, published)).to_dict("records")
        assert found["verdict"] == expected
        text = found["smallest detectable difference"]
        assert float(text.split()[3]) == pytest.approx(smallest, rel=0.05)


def test_the_smallest_difference_from_a_published_number_is_found_with_a_probability_of_80_percent():
    """At 5 %, two-sided: 3,000 simulated pairs of means over 10 and 5 repetitions deviate by .7 %."""
    rng = np.random.default_rng(0)
    published, ours = rng.standard_normal((3000, 10)), 2 * rng.standard_normal((3000, 5))
    errors = np.sqrt(published.var(axis=1, ddof=1) / 10 + ours.var(axis=1, ddof=1) / 5)
    error, freedom = np.sqrt(1 / 10 + 4 / 5), 4.9
    found = noncentrality(freedom, 0.025) * error / np.sqrt(freedom / chdtri(freedom, 0.5))
    parts = published.var(axis=1, ddof=1) / 10, ours.var(axis=1, ddof=1) / 5
    own = sum(parts) ** 2 / (parts[0] ** 2 / 9 + parts[1] ** 2 / 4)
    t = (ours.mean(axis=1) + found - published.mean(axis=1)) / errors
    assert np.mean(2 * stdtr(own, -t) < 0.05) == pytest.approx(0.8, abs=0.03)


def test_data_sets_are_left_out_of_a_claim(study, published):
    claim = {"type": "agrees", "title": "As printed", "without": ["usps"]}
    claim |= {k: study["tables"][0][k] for k in ("metric", "paper", "table", "kernels", "methods")}
    found = check_claims(Results({**study, "claims": [claim]}, made_up_cells({"GORF": 0.1}), published))
    assert "agrees with 1 of 2 published numbers" in found["evidence"][0]
    other = {**claim, "datasets": {"letter": "other", "usps": "letter"}}
    found = check_claims(Results({**study, "claims": [other]}, made_up_cells({"GORF": 0.1}), published))
    assert "of 1 published numbers" in found["evidence"][0], "other; letter stands for usps and is left out"


def test_agreement_is_judged_over_all_published_cells_together(study, tmp_path):
    """Of 80 cells that agree, tests at 5 % tell about four apart: no refutation, but one outlier is."""
    methods = [f"m{i}" for i in range(20)]
    cells = made_up_cells(dict.fromkeys(methods, 0.1))
    keys = cells[["dataset", "method", "s_label"]].drop_duplicates()
    error = 0.001 * np.sqrt(2 / 10)
    drawn = pd.DataFrame(
        {
            **{"paper": "mine", "table": "T", "kernel": "k", "metric": ERROR, "std": 0.001},
            **{"dataset": keys["dataset"], "method": keys["method"], "s": keys["s_label"]},
            "mean": 0.1 + error * np.random.default_rng(0).standard_normal(len(keys)),
        }
    )
    claim = {"type": "agrees", "title": "As printed", "metric": ERROR, "paper": "mine", "table": "T"}
    claim |= {"kernels": {"delta": "k"}, "methods": dict(zip(methods, methods, strict=True))}
    study = {**study, "methods": {method: {"type": "RFF"} for method in methods}, "claims": [claim]}
    for outlier, expected in ((0.0, "reproduced"), (0.01, "not reproduced")):
        drawn.iloc[0, drawn.columns.get_loc("mean")] += outlier
        drawn.to_csv(tmp_path / "mine.csv", index=False)
        ((found, evidence),) = check_claims(Results(study, cells, tmp_path))[
            ["verdict", "evidence"]
        ].to_numpy()
        assert found == expected
        assert "agrees with 80" not in evidence


def liu_cells(gains):
    """Accuracies on EEG at s = d: a baseline, and methods that are better by a gain, over ten repetitions."""
    cells = made_up_cells({"RFF": 0.7} | {method: 0.7 + gain for method, gain in gains.items()})
    cells = cells[(cells["dataset"] == "usps") & (cells["s_label"] == "d")]
    noise = np.random.default_rng(3).standard_normal(len(cells)) * 0.001
    return cells.assign(metric="accuracy", dataset="eeg", name="eeg", value=cells["value"] + noise)


SIGNIFICANCE = {
    "type": "significance",
    "title": "t",
    "metric": "accuracy",
    "baseline": "RFF",
    "paper": "liu2020",
    "table": "Table 3",
    "kernels": {"delta": "gaussian(sigma=1)"},
    "methods": {"RFF": "RFF", "SLS": "SLS-RFF"},
    "datasets": {"eeg": "EEG"},
}


@pytest.mark.parametrize(("gain", "mark"), [(0.05, "•"), (-0.05, "")])
def test_marks_of_significance(gain, mark):
    table = made(SIGNIFICANCE, liu_cells({"SLS": gain}), PUBLISHED_FOLDER)
    row = table[(table["data set"] == "EEG") & (table["s"] == "d")].set_index("method")
    assert row["our mark"].to_dict() == {"RFF": "", "SLS": mark}
    assert row["published"].round(4).to_dict() == {"RFF": 0.6845, "SLS": 0.6862}
    marked = table[table["published mark"] == "•"]
    assert set(marked["published as"]) == {"SLS-RFF"}
    assert ("EEG", "4d") in set(zip(marked["data set"], marked["s"], strict=True))
