"""Landmarks of Nystroem: against brute force with the same random numbers, their law, and what they bring.

The z-test is at 1e-6; the paired tests are at 1e-3, of differences that are many standard errors.
"""

import numpy as np
import pytest
from scipy.stats import norm, ttest_rel
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

from rflib.kernels import DeltaGaussian, Gaussian, Polynomial, RadialFunction, SphericalPolynomial
from rflib.maps import Nystroem
from rflib.maps.landmarks import kmeans, pivoted_cholesky, rpcholesky

from .conftest import sphere

# A cluster and few rows far from it, which uniform draws often miss.
ROWS = np.concatenate([0.2 * sphere(180, 4), 3 * sphere(20, 4, seed=1)])


def trace(kernel, rows, chosen):
    """Of K - C W^+ C^T."""
    K = kernel(rows)
    return np.trace(K - K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)], hermitian=True) @ K[chosen])


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(3, 1.0, 1.0)], ids=str)
def test_pivots_are_those_of_brute_force(kernel):
    K, rng, expected = kernel(ROWS), np.random.default_rng(5), []
    for _ in range(12):
        size = np.diag(K).copy()
        size[expected] = 0
        expected.append(int(rng.choice(len(K), size=1, p=size / size.sum())[0]))
        rng.random(1)
        i = expected[-1]
        K = K - np.multiply.outer(K[:, i], K[i]) / K[i, i]
    found, factor, signs = pivoted_cholesky(kernel, ROWS, 12, np.random.default_rng(5), block=1)
    assert found.tolist() == expected and (signs == 1).all()
    np.testing.assert_allclose(kernel(ROWS) - factor @ factor.T, K, atol=1e-10)
    assert trace(kernel, ROWS, found) == pytest.approx(np.trace(K))


def test_proposals_in_blocks_have_the_same_law():
    """Residual traces of pivots one by one and in blocks of 10, 50 draws of each."""
    kernel = Gaussian(1.0)
    one, ten = (
        np.array(
            [
                trace(kernel, ROWS, pivoted_cholesky(kernel, ROWS, 10, np.random.default_rng(seed), block)[0])
                for seed in seeds
            ]
        )
        for block, seeds in ((1, range(50)), (10, range(50, 100)))
    )
    error = np.hypot(one.std(), ten.std()) / np.sqrt(50)
    assert abs(one.mean() - ten.mean()) < norm.isf(5e-7) * error
    uniform = [trace(kernel, ROWS, np.random.default_rng(i).permutation(200)[:10]) for i in range(25)]
    assert ten.mean() < 0.9 * np.mean(uniform)


def test_exhausted_residuals_leave_the_rest_to_chance():
    X = sphere(50, 3)
    found = rpcholesky(Polynomial(1), X, 20, np.random.default_rng(0))
    assert len(np.unique(found, axis=0)) == 20
    m = Nystroem(Polynomial(1), 20, landmarks="rpcholesky", random_state=0).fit(X)
    assert np.allclose(m.kernel_matrix(X), X @ X.T, atol=1e-10)


def test_pivots_of_a_signed_sum_are_those_of_the_sum_of_absolute_weights():
    assert DeltaGaussian((1, -0.5), (1, 3)).absolute() == DeltaGaussian((1, 0.5), (1, 3))
    profile = RadialFunction(lambda z: np.cos(3 * z) * np.exp(-z))
    m = Nystroem(profile, 20, landmarks="rpcholesky", random_state=0).fit(ROWS)
    assert np.allclose(m.kernel_matrix(m.landmarks_, ROWS), profile(m.landmarks_, ROWS), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_centres_lie_on_the_sphere_if_the_kernel_needs_it(dtype):
    X = np.concatenate([np.eye(3), -np.eye(3)] * 4).astype(dtype)
    for n in (1, 2, 6, 9):
        centres = kmeans(SphericalPolynomial(4, 3), X, n, np.random.default_rng(0))
        assert np.allclose(np.linalg.norm(centres, axis=1), 1, atol=1e-6)
    assert len(kmeans(Gaussian(), X, 9, np.random.default_rng(0))) == 9


@pytest.mark.parametrize("landmarks", ["kmeans", "rpcholesky"])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), DeltaGaussian((1, -1), (1, 5))], ids=str)
@pytest.mark.parametrize("data", ["digits", "breast_cancer"])
def test_lower_error_than_uniform_rows(data, kernel, landmarks):
    X = load_digits().data[:569] if data == "digits" else scale(load_breast_cancer().data)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = kernel(X)
    errors = {
        kind: [
            np.linalg.norm(Nystroem(kernel, 200, landmarks=kind, random_state=i).fit(X).kernel_matrix(X) - K)
            for i in range(12)
        ]
        for kind in ("uniform", landmarks)
    }
    assert ttest_rel(errors["uniform"], errors[landmarks], alternative="greater").pvalue < 1e-3
