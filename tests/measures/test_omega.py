"""Omega_d against mpmath, and against what it is: the mean of a cosine over directions."""

import mpmath
import numpy as np
import pytest

from rflib.measures.omega import omega

DIMENSIONS = (1, 2, 3, 5, 16, 22, 100, 256, 784, 1500, 5000)


def precise(d: int, t: float) -> float:
    with mpmath.workdps(30):
        return float(mpmath.hyp0f1(mpmath.mpf(d) / 2, -(mpmath.mpf(t) ** 2) / 4, maxprec=200_000))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_omega_agrees_with_mpmath(d):
    """From zero to far in the tail, dense where the ways of evaluation meet: t^2 = 10 d, and t near d/2."""
    rng = np.random.default_rng(d)
    t = np.concatenate(
        [
            [0.0, 1e-300, 1e-8, 1e-3, 0.05],
            np.sqrt(d) * np.array([0.5, 1, 2, 3, 3.15, 3.162, 3.163, 3.17, 4, 6]),
            d * np.array([0.3, 0.45, 0.49, 0.5, 0.51, 0.6, 1.0]),
            np.exp(rng.uniform(np.log(0.1), np.log(1e4), 40 if d < 1000 else 8)),
            [1e4, 1e5, 1e6] if d < 1000 else [],
        ]
    )
    exact = np.array([precise(d, value) for value in t])
    assert np.all(np.abs(omega(d, t) - exact) <= 1e-9 * np.maximum(np.abs(exact), 1e-12))


@pytest.mark.parametrize(("d", "closed"), [(1, np.cos), (3, lambda t: np.sinc(t / np.pi))])
def test_closed_forms(d, closed):
    t = np.linspace(-50, 50, 1001)
    np.testing.assert_allclose(omega(d, t), closed(t), atol=1e-13)


def test_shape_and_parity():
    t = np.linspace(0, 9, 12).reshape(3, 4)
    assert omega(7, t).shape == (3, 4)
    assert omega(7, 2.0).shape == ()
    np.testing.assert_array_equal(omega(7, -t), omega(7, t))


@pytest.mark.parametrize("d", [2, 5, 40])
def test_is_the_mean_over_directions(d):
    """The first coordinate of a uniform direction has the density (1 - u^2)^((d-3)/2)."""
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    weights = np.sin(angle) ** (d - 2)
    t = np.array([0.3, 2.0, 7.0])
    mean = np.cos(np.outer(t, np.cos(angle))) @ weights / weights.sum()
    np.testing.assert_allclose(omega(d, t), mean, atol=1e-6 if d == 2 else 1e-10)
