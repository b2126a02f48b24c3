"""The smallest detectable differences, against simulations of the tests that are used."""

import numpy as np
import pytest
from scipy.stats import chi2

from rflib.report.claim_rule import average, judge
from rflib.report.inference import LEVEL, p_above_zero
from rflib.report.power import detectable, in_all, in_one, in_text
from rflib.report.wording import points, times


def spread(comparisons, repetitions, seed=0):
    """Deviations with mean zero and standard deviations of 1, 2, ..., of shape (1, comparisons, repetitions)."""
    values = np.random.default_rng(seed).standard_normal((1, comparisons, repetitions))
    values -= values.mean(axis=-1, keepdims=True)
    return values / values.std(axis=-1, ddof=1, keepdims=True) * np.arange(1, comparisons + 1)[:, None]


@pytest.mark.parametrize("repetitions", [2, 3, 5, 10])
def test_one_comparison_is_found_with_a_probability_of_80_percent(repetitions):
    """In 4,000 simulations, 80 % deviate by .6 %; the others are so good that the first step of Holm decides.

    The noise is as large as makes half of the estimated spreads larger.
    """
    gains = 1e9 + spread(12, repetitions)
    size = in_one(gains)[0, 4]
    noise = 5 / np.sqrt(chi2.median(repetitions - 1) / (repetitions - 1))
    simulated = np.broadcast_to(gains, (4000, *gains.shape)).copy()
    simulated[:, 0, 4] = noise * np.random.default_rng(1).standard_normal((4000, repetitions)) - size
    found = judge(simulated).refuted
    assert not np.delete(found, 4, axis=-1).any()
    assert found[:, 4].mean() == pytest.approx(0.8, abs=4 * 0.0063)


@pytest.mark.parametrize("repetitions", [3, 5, 10])
def test_a_gain_in_all_comparisons_is_found_with_a_probability_of_80_percent(repetitions):
    """In the median of studies, because each estimates the spread."""
    rng, sizes = np.random.default_rng(0), np.arange(1, 13)[:, None]
    gains = rng.standard_normal((100, 12, repetitions)) * sizes
    gain = np.median([in_all(study[None]) for study in gains])
    simulated = rng.standard_normal((4000, 12, repetitions)) * sizes + gain
    assert np.mean(p_above_zero(average(simulated)) < LEVEL) == pytest.approx(0.8, abs=0.1)


def test_more_repetitions_and_fewer_comparisons_find_less():
    assert np.all(in_one(spread(12, 10)) < in_one(spread(12, 3)))
    assert in_one(spread(12, 5))[0, 0] < in_one(spread(120, 5))[0, 0]
    assert in_all(spread(12, 10)) < in_all(spread(12, 3))


def test_where_nothing_can_be_found():
    one = spread(3, 4)
    one[0, 0, 1:] = np.nan
    one[0, 1] = np.nan
    sizes = in_one(one)[0]
    assert np.isinf(sizes[0]), "one repetition"
    assert np.isnan(sizes[1]), "no repetition"
    assert 0 < sizes[2] < np.inf
    assert in_all(one[..., :1]) == np.inf
    assert detectable(one[..., :1], times) == "In one comparison: none. In all alike: none."


def test_deterministic_methods_hide_nothing():
    assert (
        detectable(np.full((1, 4, 3), -0.1), points)
        == "In one comparison: any difference. In all alike: any difference."
    )


def test_texts():
    assert in_text([0.1, 0.31, 12.6], times) == "1.31 times (median; 1.10 to 14 times)"
    assert in_text([0.1, 0.31, np.inf], times) == "1.31 times (median; 1.10 or more)"
    assert in_text([0.02], points) == "2 points"
    assert (times(1e-7), times(4e7), times(2345.0)) == ("1.001 times", "4e+07 times", "2,346 times")
    assert (points(0.0123), points(1.2), points(1e-7)) == ("1.2 points", "none", "0.01 points")
