"""Where methods win and lose, from cells made up for the purpose."""

import numpy as np
import pytest

from rflib.report.standings import standings

from .test_report import ERROR, made_up_cells


def of(method, cells):
    """The row of a method, all being called by their type."""
    study = {"methods": {label: {"type": "RFF"} for label in "ABC"}}
    table = standings(study, cells)
    (row,) = table[table["method"] == method].to_dict("records")
    return row


def counts(row):
    return row["won"], row["level"], row["lost"]


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


def test_false_wins_are_as_rare_as_stated():
    """Of 400 comparisons of equals about 20 are called; more than 44 or fewer than 4 with probability < 1e-5."""
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(100):
        cells = made_up_cells({"A": 0.1, "B": 0.1})
        cells["value"] = rng.standard_normal(len(cells)) + 5
        won, _, lost = counts(of("A", cells))
        called += won + lost
    assert 4 <= called <= 44


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
