"""Atoms for training rows among which are outliers, equal rows or opposite ones."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from rflib.kernels import ArcCosine, Gaussian, SphericalPolynomial
from rflib.maps import GORF, MVORF

ATOMS = partial(GORF, measure="minimum_variance", radii="stratified")


@pytest.mark.parametrize("make", [MVORF, ATOMS])
def test_an_outlier_among_few_rows_does_not_spoil_the_others(make):
    """The error is .08 to .11, and that of random Fourier features .14; a range of all rows alone gives .53."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    X[0] = 1e4
    kernel = Gaussian(2.0)
    exact = kernel(X)
    fitted = make(kernel, 100, random_state=0).fit(X)
    assert np.linalg.norm(fitted.kernel_matrix(X) - exact) < 0.2 * np.linalg.norm(exact)


def test_equal_rows_count_in_the_predicted_error():
    """Half of all pairs of different rows are equal rows, whose kernel is 1, and the others are opposite."""
    X = np.repeat([[0.6, 0.8], [-0.6, -0.8]], 40, axis=0)
    kernel = SphericalPolynomial(3, 4)
    fitted = MVORF(kernel, 5, random_state=0).fit(X)
    error = np.sqrt(np.mean((fitted.kernel_matrix(X) - kernel(X)) ** 2))
    assert error == pytest.approx(fitted.predicted_error_, rel=0.05, abs=1e-9)


@pytest.mark.parametrize("make", [MVORF, ATOMS])
def test_a_profile_that_has_no_hash(make):
    profile = np.polynomial.Polynomial([1, 0, -0.1])
    X = normalize(np.random.default_rng(0).standard_normal((12, 4)))
    fitted = make(profile, 64, random_state=0).fit(X)
    assert np.abs(fitted.kernel_matrix(X) - profile(euclidean_distances(X))).max() < 0.05


OPPOSITE = np.array([[1.0, 0.0], [-1.0, 0.0]] * 5)


@pytest.mark.parametrize(
    ("kernel", "X", "advises"),
    [
        (SphericalPolynomial(2, 4), OPPOSITE, False),
        (ArcCosine(0), OPPOSITE, False),
        (Gaussian(0.01), np.eye(3), True),
    ],
)
@pytest.mark.parametrize("make", [MVORF, ATOMS, partial(GORF, measure="minimum_variance")])
def test_a_kernel_that_is_zero_between_different_rows(make, kernel, X, advises):
    with pytest.warns(UserWarning, match="is zero at the distances between the training rows") as warned:
        fitted = make(kernel, 200, random_state=0).fit(X)
    assert ("Choose a width" in str(warned[0].message)) == advises
    exact = kernel(X)
    assert np.linalg.norm(fitted.kernel_matrix(X) - exact) < 0.2 * np.linalg.norm(exact)
