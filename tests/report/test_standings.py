"""Where methods win and lose, from cells made up for the purpose."""

import numpy as np
import pandas as pd
import pytest

from rflib.report.standings import standings

from .made_up import ERROR, made_up_cells


def of(method, cells):
    """The row of a method, all being called by their type."""
    study = {"methods": {label: {"type": "RFF"} for label in "ABC"}}
    table = standings(study, cells)
    (row,) = table[table["method"] == method].to_dict("records")
    return row


def counts(row):
    return row["won"], row["tied"], row["lost"]


def test_counts_and_order():
    cells = made_up_cells({"A": 0.1, "B": 0.2, "C": 0.3})
    middle = of("B", cells)
    assert counts(middle) == (4, 0, 4)
    assert (middle["ahead of"], middle["behind"]) == ("C", "A")
    assert (middle["strongest on"], middle["weakest on"]) == ("", ""), "it is everywhere alike"
    assert of("A", cells)["won"] == 8


def test_higher_accuracy_wins():
    cells = made_up_cells({"A": 0.1, "B": 0.2}).assign(metric="accuracy", learner="SVM")
    found = of("B", cells)
    assert (*counts(found), found["measured by"]) == (4, 0, 0, "accuracy of SVM")


def test_differences_within_the_noise_or_rounding_are_level():
    noisy = made_up_cells({"A": 0.1, "B": 0.1001}, spread=0.01)
    exact = made_up_cells({"A": 0.1, "B": 0.1 + 1e-15}, spread=0)
    for cells in (noisy, exact):
        found = of("A", cells)
        assert counts(found) == (0, 4, 0)
        assert found["ahead of"] == found["behind"] == ""


def test_one_repetition_proves_nothing():
    assert counts(of("A", made_up_cells({"A": 0.1, "B": 0.2}, seeds=3).query("seed == 0"))) == (0, 4, 0)


def test_of_methods_that_are_level_any_is_called_in_5_percent_of_studies():
    """Without a correction 95 % of studies of 60 comparisons call one. Of 40, more than 9 do with p = 3e-5."""
    rng = np.random.default_rng(1)
    cells = made_up_cells(dict.fromkeys("ABCDEF", 0.1), seeds=5).assign(metric="accuracy")
    studies = [cells.assign(learner=str(i), value=rng.standard_normal(len(cells)) + 5) for i in range(40)]
    table = standings({"methods": {label: {"type": "RFF"} for label in "ABCDEF"}}, pd.concat(studies))
    called = table.groupby("measured by")["won"].sum() > 0
    assert len(called) == 40
    assert called.sum() <= 9


def test_only_equal_columns_are_compared():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    apart = cells[(cells["method"] == "A") ^ (cells["s_label"] == "d")]
    assert standings({"methods": {"A": {"type": "RFF"}, "B": {"type": "ORF"}}}, apart).empty


def test_where_it_is_strongest():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    cells.loc[(cells["method"] == "A") & (cells["name"] == "usps"), "value"] += 1
    found = of("A", cells)
    assert counts(found) == (2, 0, 2)
    assert (found["strongest on"], found["weakest on"]) == ("letter, delta", "usps, delta")


@pytest.mark.parametrize("metric", [ERROR, "transform_seconds"])
def test_time_is_no_quality(metric):
    cells = made_up_cells({"A": 0.1, "B": 0.2}).assign(metric=metric)
    found = standings({"methods": {"A": {"type": "RFF"}, "B": {"type": "ORF"}}}, cells)
    assert len(found) == (2 if metric == ERROR else 0)
