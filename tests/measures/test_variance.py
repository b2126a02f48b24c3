"""The formulas of the variance against simulation and against each other.

Simulated variances are compared in units of their standard error (from the fourth moment); the bound of 6 lets
one test in about 10^8 fail by chance for normal errors, and the seeds are fixed.
"""

import numpy as np
import pytest

from rflib.frequencies.draw import sample_frequencies
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.matern import Matern
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure
from rflib.measures.omega import omega
from rflib.measures.srf import srf
from rflib.measures.variance import variance_frame, variance_iid, variance_orthogonal

FORMULAS = {"iid": variance_iid, "orthogonal": variance_orthogonal, "frame": variance_frame}
DISTANCES = np.array([0.3, 1.0, 2.5])
DRAWS = 2500

# Kernel, d, and a number of frequencies that leaves a partial block.
CASES = [
    (DeltaGaussian((1, -1), (1, 2)), 3, 10),
    (DeltaGaussian((1, -1), (1, 2)), 16, 32),
    (DeltaGaussian((1, -1), (1, 10)), 1, 6),
    (Matern(0.5, 1.0), 3, 7),
    (Gaussian(1.0), 5, 5),
]


def halves(measure, n):
    return ((n + 1) // 2, n // 2) if measure.negative else (n, 0)


@pytest.mark.parametrize("directions", FORMULAS)
@pytest.mark.parametrize(("kernel", "d", "n"), CASES, ids=lambda value: repr(value))
def test_against_simulation(kernel, d, n, directions):
    measure = exact_measure(kernel, d)
    predicted = FORMULAS[directions](measure, DISTANCES, *halves(measure, n))
    rng = np.random.default_rng(n)
    draws = (
        sample_frequencies(measure, n, directions=directions, radii="iid", rng=rng) for _ in range(DRAWS)
    )
    estimates = np.array([f.weights @ np.cos(np.outer(f.vectors[:, 0], DISTANCES)) for f in draws])
    variance = estimates.var(axis=0, ddof=1)
    fourth = ((estimates - estimates.mean(axis=0)) ** 4).mean(axis=0)
    assert np.all(np.abs(variance - predicted) < 6 * np.sqrt((fourth - variance**2) / DRAWS))


def test_gaussian_closed_form():
    """Rahimi & Recht: variance (1 - e^(-z^2))^2 / (2 n) for the Gaussian kernel."""
    z = np.linspace(0, 4, 17)
    variance = variance_iid(exact_measure(Gaussian(1.0), 7), z, 20)
    np.testing.assert_allclose(variance, (1 - np.exp(-(z**2))) ** 2 / 40, atol=1e-9)


def test_single_norm():
    """All norms r: theorem 5 has sqrt(2) r and nothing to average."""
    d, n, z = 256, 300, np.linspace(0, 2, 9)
    measure = srf(SphericalPolynomial(4, 3), Domain(d, 2.0, z[1:]), method="optimum")
    (r,) = measure.positive.radii
    single = (1 + omega(d, 2 * r * z)) / 2 - omega(d, r * z) ** 2
    pair = omega(d, np.sqrt(2) * r * z) - omega(d, r * z) ** 2
    pairs = d * (d - 1) + 44 * 43
    expected = single / n + pairs * pair / n**2
    np.testing.assert_allclose(variance_orthogonal(measure, z, n), expected, rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("d", [16, 256])
def test_orthogonal_directions_lower_the_variance_of_luo2021s_kernel(d):
    """Theorem 6 with s = d, and s = 4 d: separate blocks everywhere, the frame less."""
    measure = exact_measure(DeltaGaussian(), d)
    z = np.linspace(0.05, 3, 6)
    for s in (d, 4 * d):
        iid, orthogonal, frame = (f(measure, z, s, s) for f in FORMULAS.values())
        assert np.all(orthogonal < iid)
        assert np.mean(orthogonal / iid) < 0.8
        assert np.all(orthogonal < frame * (1 + 1e-6))


def test_one_frequency_has_nothing_to_be_orthogonal_to():
    measure = exact_measure(Gaussian(), 4)
    np.testing.assert_array_equal(
        variance_orthogonal(measure, DISTANCES, 1), variance_iid(measure, DISTANCES, 1)
    )
    np.testing.assert_allclose(variance_frame(measure, DISTANCES, 1), variance_iid(measure, DISTANCES, 1))


def test_zero_at_zero_distance_for_a_probability():
    measure = exact_measure(DeltaGaussian(), 6)
    for formula in FORMULAS.values():
        np.testing.assert_allclose(formula(measure, [0.0], 8, 8), 0, atol=1e-12)
