"""SphericalRadialRFF: its nodes and weights, its law, and the convergence that its authors claim.

The z-tests are at 1e-6, and there are less than twenty of them.
"""

import numpy as np
import pytest
from scipy.special import hyp1f1, roots_genlaguerre
from scipy.stats import norm

from rflib.kernels import Gaussian
from rflib.maps import ORF, SphericalRadialRFF
from rflib.measures.omega import omega
from rflib.metrics import relative_frobenius_error

from .conftest import sphere

LIMIT = norm.isf(1e-6 / 2)


def nodes(d, n):
    squares, masses = roots_genlaguerre(n, d / 2 - 1)
    return np.sqrt(2 * squares), masses / masses.sum()


def test_norms_are_those_of_gauss_laguerre_quadrature():
    """With 4 frequencies for each of the norms but the last one, which has the least weight."""
    fitted = SphericalRadialRFF(Gaussian(2.0), 22, random_state=0).fit(sphere(10, 6))
    radii, masses = nodes(6, 3)
    order = np.argsort(-masses)
    norms = np.linalg.norm(fitted.frequencies_, axis=1) * 2
    assert np.allclose(norms, np.repeat(radii[order], [4, 4, 3]))
    starts = [0, 4, 8]
    assert np.allclose(np.add.reduceat(fitted.weights_, starts), masses[order])
    unit = fitted.frequencies_ / np.linalg.norm(fitted.frequencies_, axis=1, keepdims=True)
    assert np.allclose(unit[:4], unit[4:8])
    assert np.allclose(unit[:3], unit[8:])


def test_optimal_weights_are_those_of_the_symmetric_set():
    """By the authors' system for all directions and their antipodes, whose weights must be equal."""
    d, n = 4, 10
    fitted = SphericalRadialRFF(Gaussian(1.0), 2 * n, n_radii=1, random_state=0).fit(sphere(10, d))
    unit = fitted.frequencies_ / np.sqrt(d)
    both = np.concatenate([unit, -unit])
    squares = ((both[:, None] - both) ** 2).sum(axis=2)
    weights = np.linalg.solve(np.exp(-squares / 2) + 1e-5 * np.eye(2 * n), np.ones(2 * n))
    weights /= weights.sum()
    assert np.allclose(weights[:n], weights[n:])
    assert np.allclose(fitted.weights_, 2 * weights[:n])
    assert np.ptp(fitted.weights_) > 0.01


def test_mean_and_variance_with_equal_weights():
    """Of a block of d orthogonal directions, each with all norms, by the means of plane waves."""
    d, draws, z = 6, 2000, np.array([0.5, 1.5, 3.0])
    rows = np.concatenate([np.zeros((1, d)), np.multiply.outer(z, sphere(1, d, seed=4)[0])])
    values = np.array(
        [
            SphericalRadialRFF(Gaussian(1.0), 6 * d, optimal_weights=False, random_state=seed)
            .fit(rows)
            .kernel_matrix(rows)[0, 1:]
            for seed in range(draws)
        ]
    )
    radii, masses = nodes(d, 3)
    products = np.outer(masses, masses)
    plus, minus = np.add.outer(radii, radii), np.subtract.outer(radii, radii)
    right = np.hypot(radii[:, None], radii)

    def mean(norms):
        return np.array([(products * omega(d, t * norms)).sum() for t in z])

    expected = np.array([masses @ omega(d, t * radii) for t in z])
    single = (mean(plus) + mean(minus)) / 2 - expected**2
    variance = (single + (d - 1) * (mean(right) - expected**2)) / d
    assert np.all(np.abs(values.mean(axis=0) - expected) < LIMIT * np.sqrt(variance / draws))
    squares = (values - expected) ** 2
    error = squares.std(axis=0) / np.sqrt(draws)
    assert np.all(np.abs(squares.mean(axis=0) - variance) < LIMIT * error)


def test_many_norms_are_the_sliced_kernel():
    """Hertrich et al.: the mean of 1F1(d/2; 1/2; -<u, z>^2 / (2 sigma^2)) over the directions u."""
    d, n_radii, n = 5, 30, 12
    X = sphere(8, d)
    options = {"n_radii": n_radii, "directions": "distance", "optimal_weights": False, "random_state": 0}
    fitted = SphericalRadialRFF(Gaussian(0.8), 2 * n * n_radii, **options).fit(X)
    unit = fitted.frequencies_[:n] / np.linalg.norm(fitted.frequencies_[:n], axis=1, keepdims=True)
    along = (X[0] - X[1:]) @ unit.T
    slices = hyp1f1(d / 2, 1 / 2, -(along**2) / (2 * 0.8**2)).mean(axis=1)
    assert np.abs(fitted.kernel_matrix(X)[0, 1:] - slices).max() < 1e-8


@pytest.mark.parametrize(("directions", "gain"), [("orthogonal", 10), ("distance", 100)])
def test_the_error_falls_nearly_exponentially_for_wide_kernels(directions, gain):
    """The authors' width, 2 d^(1/4), for rows of the unit ball. Four times the columns halve a sampling error."""
    d = 4
    X = sphere(200, d) * np.random.default_rng(1).random((200, 1)) ** (1 / d)
    kernel = Gaussian(2 * d**0.25)

    def error(make, columns):
        return np.mean(
            [
                relative_frobenius_error(
                    kernel(X), make(kernel, columns, random_state=seed).fit(X).kernel_matrix(X)
                )
                for seed in range(5)
            ]
        )

    def make(*args, **options):
        return SphericalRadialRFF(*args, directions=directions, **options)

    few, many, sampled = error(make, 96), error(make, 384), error(ORF, 384)
    assert many < few / 10
    assert many < sampled / (10 * gain)


@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_few_columns(columns):
    X = sphere(30, 6)
    fitted = SphericalRadialRFF(Gaussian(), columns, random_state=0).fit(X)
    assert fitted.transform(X).shape == (30, columns)
    assert fitted.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_radii": 0}, "SphericalRadialRFF: n_radii must be"),
        ({"directions": "iid"}, "directions must be one of 'orthogonal', 'distance'"),
        ({"optimal_weights": "yes"}, "optimal_weights must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SphericalRadialRFF(**options).fit(sphere(30, 6))
