"""The rule that judges claims: its error rates by simulation, which docs/report.md prints, and its parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

from rflib.report.inference import holm, judge, p_above_zero

DOCS = Path(__file__).parents[2] / "docs/report.md"
STUDIES, CELLS = 2000, 36
VERDICTS = ("reproduced", "undecided", "not reproduced")
SCENARIOS = {
    "the same method twice": (0.0, 0.0, 0),
    "the same method twice, comparisons correlated by 0.9": (0.0, 0.9, 0),
    "the same method twice, 7 failures allowed": (0.0, 0.0, 7),
    "better by 1 standard error everywhere": (1.0, 0.0, 0),
    "better by 1 standard error everywhere, comparisons correlated by 0.9": (1.0, 0.9, 0),
    "better by 3 standard errors everywhere, comparisons correlated by 0.9": (3.0, 0.9, 0),
    "worse by 1 standard error everywhere": (-1.0, 0.0, 0),
    "better by 3 standard errors, but worse by 12 in one comparison": ([-12.0] + 35 * [3.0], 0.0, 0),
    "better by 3 standard errors, but worse by 12 in one comparison, 7 failures allowed": (
        [-12.0] + 35 * [3.0],
        0.0,
        7,
    ),
}


@pytest.fixture(scope="module")
def rates():
    """Percentages of the verdicts over studies of normal gains with the given mean, in standard errors."""
    found = {}
    for repetitions in (5, 10):
        rng = np.random.default_rng(0)
        own = rng.standard_normal((STUDIES, 1, CELLS, repetitions))
        shared = rng.standard_normal((STUDIES, 1, 1, repetitions))
        for name, (mean, correlation, spared) in SCENARIOS.items():
            gains = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared
            gains += np.broadcast_to(mean, CELLS)[:, None] / np.sqrt(repetitions)
            verdicts = judge(gains, spared).verdict
            found[name, repetitions] = [100 * float(np.mean(verdicts == verdict)) for verdict in VERDICTS]
    return found


@pytest.mark.parametrize("repetitions", [5, 10])
def test_the_same_method_twice_is_not_reproduced_and_reproduced_in_5_percent_at_most(rates, repetitions):
    """In theory 1 - (1 - .05 / 37)^37 = 4.9 % if comparisons are independent; 2,000 studies deviate by .5 %."""
    for name in SCENARIOS:
        if name.startswith("the same method"):
            reproduced, _, refuted = rates[name, repetitions]
            assert refuted <= 5.0
            assert reproduced <= 5.0 + 3 * 0.5


@pytest.mark.parametrize("repetitions", [5, 10])
def test_one_standard_error_everywhere_is_reproduced_in_98_percent(rates, repetitions):
    reproduced, _, refuted = rates["better by 1 standard error everywhere", repetitions]
    assert reproduced >= 98
    assert refuted <= 1


@pytest.mark.parametrize("repetitions", [5, 10])
def test_one_comparison_twelve_standard_errors_worse_is_not_reproduced_in_98_percent(rates, repetitions):
    bad = "better by 3 standard errors, but worse by 12 in one comparison"
    assert rates[bad, repetitions][2] >= 98
    assert rates[f"{bad}, 7 failures allowed", repetitions][0] >= 98


def test_the_documentation_prints_these_rates(rates):
    text = DOCS.read_text(encoding="utf-8")
    for name in SCENARIOS:
        five, ten = (
            " / ".join(f"{rate:.1f}" for rate in rates[name, repetitions]) for repetitions in (5, 10)
        )
        assert f"| {name} | {five} | {ten} |" in text


def test_p_values_are_those_of_scipy():
    values = np.random.default_rng(0).standard_normal((6, 7)) + 0.4
    expected = ttest_1samp(values, 0.0, axis=1, alternative="greater").pvalue
    np.testing.assert_allclose(p_above_zero(values), expected, rtol=1e-10)
    values[0, 3] = np.nan
    expected = ttest_1samp(np.delete(values[0], 3), 0.0, alternative="greater").pvalue
    np.testing.assert_allclose(p_above_zero(values)[0], expected, rtol=1e-10)


def test_equal_differences_are_as_likely_as_a_coin_that_falls_on_one_side():
    assert list(p_above_zero([[0.1, 0.1, 0.1], [-0.1, -0.1, -0.1], [0, 0, 0]])) == [1 / 8, 1, 1]
    assert p_above_zero([5.0]) == 1, "one repetition proves nothing"


def test_scores_of_few_rows_prove_nothing_by_being_equal():
    """Two methods that are alike, scored on 20 rows in two repetitions: often the differences are the same."""
    rng = np.random.default_rng(0)
    gains = (rng.binomial(20, 0.9, (2000, 50, 2)) - rng.binomial(20, 0.9, (2000, 50, 2))) / 20
    assert (gains[..., 0] == gains[..., 1]).mean() > 0.1
    false_alarms = int(holm(p_above_zero(gains)).any(axis=-1).sum())
    assert binom.sf(false_alarms - 1, 2000, 0.05) > 1e-6


def test_holm_steps_down_until_one_passes_no_more():
    assert list(holm([0.01, 0.04, 0.02, 0.001])) == [True, True, True, True]
    assert list(holm([0.03, 0.04, 0.02, 0.001])) == [False, False, False, True]
    assert not holm([0.0501 / 3, 0.02, 0.01667]).any()


def test_opposite_differences_do_not_make_two_methods_equal():
    """Half the comparisons 2 margins above and half 2 below average to nothing; each has one side that fails."""
    noise = 10 * np.random.default_rng(0).standard_normal((4, 10))
    difference = noise - noise.mean(axis=1, keepdims=True) + np.array([[2.0], [-2.0], [2.0], [-2.0]])
    found = judge([1 + difference, 1 - difference])
    assert found.verdict == "undecided"
    assert not found.holds.any()
