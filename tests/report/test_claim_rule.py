"""The rule that judges claims: its error rates by simulation, which docs/report.md prints, and its parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

from rflib.report.claim_rule import VERDICTS, judge
from rflib.report.inference import holm, p_above_zero

DOCS = Path(__file__).parents[2] / "docs/report.md"
STUDIES, CELLS, REPETITIONS = 250, 36, (3, 5, 10)
POSSIBLE = ("reproduced", "mixed", "undecided", "not reproduced")
SCENARIOS = {
    "the same method twice": (0.0, 0.0, 0),
    "the same method twice, comparisons correlated by 0.9": (0.0, 0.9, 0),
    "the same method twice, 7 failures allowed": (0.0, 0.0, 7),
    "better by 1 standard error everywhere": (1.0, 0.0, 0),
    "better by 1 standard error everywhere, comparisons correlated by 0.9": (1.0, 0.9, 0),
    "better by 3 standard errors everywhere, comparisons correlated by 0.9": (3.0, 0.9, 0),
    "worse by 1 standard error everywhere": (-1.0, 0.0, 0),
    "better by 3 standard errors in 24 comparisons, worse by 3 in 12": (24 * [3.0] + 12 * [-3.0], 0.0, 0),
    "better by 3 standard errors in 24 comparisons, worse by 3 in 12, 7 failures allowed": (
        24 * [3.0] + 12 * [-3.0],
        0.0,
        7,
    ),
    "better by 3 standard errors in 24 comparisons, the same in 12": (24 * [3.0] + 12 * [0.0], 0.0, 0),
    "better by 3 standard errors, but worse by 12 in one comparison": ([-12.0] + 35 * [3.0], 0.0, 0),
    "better by 3 standard errors, but worse by 12 in one comparison, 7 failures allowed": (
        [-12.0] + 35 * [3.0],
        0.0,
        7,
    ),
}


def normal_gains(studies, mean, repetitions, correlation=0.0, seed=0):
    """Gains of studies of 36 comparisons with the given means in standard errors."""
    rng = np.random.default_rng(seed)
    own = rng.standard_normal((studies, 1, CELLS, repetitions))
    shared = rng.standard_normal((studies, 1, 1, repetitions))
    gains = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared
    return gains + np.broadcast_to(mean, CELLS)[:, None] / np.sqrt(repetitions)


@pytest.fixture(scope="module")
def rates():
    """Percentages of the verdicts over studies of normal gains with the given mean, in standard errors."""
    found = {}
    for repetitions in REPETITIONS:
        for name, (mean, correlation, spared) in SCENARIOS.items():
            studies = 5 * STUDIES if name.startswith("the same method") else STUDIES
            verdicts = judge(normal_gains(studies, mean, repetitions, correlation), spared).verdict
            found[name, repetitions] = [100 * float(np.mean(verdicts == verdict)) for verdict in POSSIBLE]
    return found


def test_every_verdict_has_a_meaning():
    assert {*POSSIBLE, "explained", "no data"} == set(VERDICTS)


@pytest.mark.parametrize("repetitions", REPETITIONS)
def test_the_same_method_twice_is_not_reproduced_and_reproduced_in_5_percent_at_most(rates, repetitions):
    """In theory 1 - (1 - .05 / 37)^37 = 4.9 % if comparisons are independent; 1,250 studies deviate by .6 %."""
    for name in SCENARIOS:
        if name.startswith("the same method"):
            reproduced, mixed, _, refuted = rates[name, repetitions]
            assert refuted <= 5.0 + 3 * 0.6
            assert reproduced + mixed <= 5.0 + 3 * 0.6


@pytest.mark.parametrize(("repetitions", "share"), [(3, 90), (5, 98), (10, 99)])
def test_one_standard_error_everywhere_is_nearly_always_reproduced(rates, repetitions, share):
    reproduced, _, _, refuted = rates["better by 1 standard error everywhere", repetitions]
    assert reproduced >= share
    assert refuted <= 1


@pytest.mark.parametrize("repetitions", REPETITIONS)
def test_a_third_of_the_comparisons_three_standard_errors_worse_is_reproduced_in_5_percent_at_most(
    rates, repetitions
):
    bad = "better by 3 standard errors in 24 comparisons, worse by 3 in 12"
    assert rates[bad, repetitions][0] <= 5
    assert rates[bad, repetitions][1] >= 90, "the average supports it"
    assert rates[f"{bad}, 7 failures allowed", repetitions][0] <= 10


@pytest.mark.parametrize("repetitions", REPETITIONS)
def test_one_comparison_twelve_standard_errors_worse_is_mixed_in_98_percent(rates, repetitions):
    bad = "better by 3 standard errors, but worse by 12 in one comparison"
    assert rates[bad, repetitions][1] >= 98
    assert rates[f"{bad}, 7 failures allowed", repetitions][0] >= 98


def test_the_documentation_prints_these_rates(rates):
    text = DOCS.read_text(encoding="utf-8")
    for name in SCENARIOS:
        columns = (" / ".join(f"{rate:.0f}" for rate in rates[name, n]) for n in REPETITIONS)
        assert f"| {name} | {' | '.join(columns)} |" in text


def test_two_repetitions_find_a_third_of_the_comparisons_too():
    verdicts = judge(normal_gains(200, 24 * [3.0] + 12 * [-3.0], 2)).verdict
    assert np.mean(verdicts == "reproduced") <= 0.05
    assert set(np.unique(verdicts)) >= {"mixed", "undecided"}, "two repetitions often prove nothing"


def test_39_of_48_with_one_comparison_14_times_worse_is_not_reproduced():
    """Its noise hides it from the t-tests; errors are relative to those of the other method."""
    rng = np.random.default_rng(0)
    gains = 0.3 + 0.1 * rng.standard_normal((48, 3))
    gains[:8] = -0.02 + 0.1 * rng.standard_normal((8, 3))
    gains[8] = [-24.0, -3.0, -12.0]
    found = judge(gains[None], far=1.0)
    assert (found.holds.sum() < 48, found.refuted.sum(), found.far.sum()) == (True, 0, 1)
    assert found.verdict == "mixed"
    assert judge(gains[None], spared=9, far=1.0).verdict == "reproduced"


def test_a_dreadful_comparison_does_not_drown_among_many_good_ones():
    """Among 400, Holm's correction at 3 repetitions asks for t = 63; of those that fail, this is the only one."""
    gains = np.random.default_rng(0).standard_normal((400, 3)) + 9
    gains[7] = [-9.0, -10.0, -11.0]
    found = judge(gains[None])
    assert not found.refuted.any()
    assert np.flatnonzero(found.apart).tolist() == [7]
    assert found.verdict == "mixed"


@pytest.mark.parametrize("n", [2, 3, 10])
def test_deterministic_methods_are_compared_exactly(n):
    gains = np.full((1, 4, n), 0.1) * (1 + 1e-12 * np.random.default_rng(0).standard_normal((1, 4, n)))
    assert judge(gains).verdict == "reproduced"
    gains[0, 2] *= -1
    assert judge(gains).verdict == "mixed"
    assert judge(gains, spared=1).verdict == "reproduced"
    assert judge(-np.abs(gains)).verdict == "not reproduced"
    assert judge(gains[..., :1]).verdict == "undecided", "one repetition does not show that nothing varies"


def test_ties_neither_support_nor_contradict():
    gains = np.random.default_rng(0).standard_normal((1, 36, 10)) + 3
    gains[0, 20:] = 0.0
    found = judge(gains)
    assert (found.holds.sum(), found.fails.sum(), found.verdict) == (20, 0, "reproduced")
    assert judge(0 * gains).verdict == "undecided"


def test_missing_repetitions_count_for_what_is_there():
    """Comparisons of 10, 3, 2 and 1 repetitions, and one of none, which changes nothing."""
    gains = np.random.default_rng(0).standard_normal((1, 36, 10)) + 3
    for start, n in ((9, 3), (18, 2), (27, 1)):
        gains[0, start : start + 9, n:] = np.nan
    found = judge(gains)
    assert found.verdict == "reproduced"
    more = judge(np.concatenate([gains, np.full((1, 1, 10), np.nan)], axis=1))
    assert (more.verdict, more.p_average) == (found.verdict, found.p_average)
    for worse in (slice(0, 2), slice(9, 11)):
        mixed = gains.copy()
        mixed[0, worse] -= 6
        assert judge(mixed).verdict == "mixed"
    gains[0, 27:] *= -1
    assert judge(gains).fails.sum() == 9
    assert judge(gains).p_noise < 0.01, "all of nine single repetitions"


def test_the_verdict_is_the_same_each_time():
    gains = normal_gains(1, 24 * [3.0] + 12 * [-2.0], 3)[0]
    assert judge(gains).p_noise == judge(gains).p_noise


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
