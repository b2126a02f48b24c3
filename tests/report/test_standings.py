"""Where methods win and lose, from cells made up for the purpose."""

import numpy as np
import pytest

from rflib.report.methods import cards
from rflib.report.standings import standings

from .test_report import ERROR, made_up_cells, published, results, study  # noqa: F401


def of(method, cells, labels="ABC"):
    methods = {label: {"type": "RFF"} for label in labels}
    return next(found for found in standings("mine", {"methods": methods}, cells) if found.method == method)


def test_counts_and_order():
    cells = made_up_cells({"A": 0.1, "B": 0.2, "C": 0.3})
    middle = of("B", cells)
    assert (middle.wins, middle.level, middle.losses) == (4, 0, 4)
    assert (middle.ahead_of, middle.behind) == (["C"], ["A"])
    assert (middle.best_on, middle.worst_on) == ("", ""), "it is everywhere alike"
    assert of("A", cells).wins == 8


def test_higher_accuracy_wins():
    cells = made_up_cells({"A": 0.1, "B": 0.2}).assign(metric="accuracy", learner="SVM")
    found = of("B", cells)
    assert (found.wins, found.losses, found.what) == (4, 0, "accuracy of SVM")


def test_differences_within_the_noise_or_rounding_are_level():
    noisy = made_up_cells({"A": 0.1, "B": 0.1001}, spread=0.01)
    exact = made_up_cells({"A": 0.1, "B": 0.1 + 1e-15}, spread=0)
    for cells in (noisy, exact):
        found = of("A", cells)
        assert (found.wins, found.level, found.losses) == (0, 4, 0)
        assert found.ahead_of == found.behind == []


def test_one_repetition_proves_nothing():
    assert of("A", made_up_cells({"A": 0.1, "B": 0.2}, seeds=3).query("seed == 0")).level == 4


def test_false_wins_are_as_rare_as_stated():
    """Two methods with the same law: about one comparison in twenty is called; 400 with 99.99 % certainty < 45."""
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(100):
        cells = made_up_cells({"A": 0.1, "B": 0.1})
        cells["value"] = rng.standard_normal(len(cells)) + 5
        found = of("A", cells)
        called += found.wins + found.losses
    assert 3 < called < 45


def test_only_common_columns_are_compared():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    apart = cells[(cells["method"] == "A") ^ (cells["s_label"] == "d")]
    assert standings("mine", {"methods": {"A": {}, "B": {}}}, apart) == []


def test_where_it_is_strongest():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    cells.loc[(cells["method"] == "A") & (cells["name"] == "usps"), "value"] += 1
    found = of("A", cells)
    assert (found.wins, found.losses) == (2, 2)
    assert (found.best_on, found.worst_on) == ("letter, delta", "usps, delta")


def test_cards_hold_them(results, study):  # noqa: F811
    found = {card.type: card for card in cards({"made_up": study}, results[1])}
    (gorf,) = found["GORF"].standings
    assert (gorf.wins, gorf.losses, gorf.ahead_of) == (4, 0, ["GRFF"])
    assert found["MVORF"].standings == []


@pytest.mark.parametrize("metric", [ERROR, "transform_seconds"])
def test_time_is_no_quality(metric):
    cells = made_up_cells({"A": 0.1, "B": 0.2}).assign(metric=metric)
    assert bool(standings("mine", {"methods": {"A": {}, "B": {}}}, cells)) == (metric == ERROR)
