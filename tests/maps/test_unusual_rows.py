"""Atoms for training rows among which are outliers, equal rows or opposite ones."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from rflib.kernels import ArcCosine, Gaussian, Matern, SphericalPolynomial
from rflib.maps import GORF, MVORF, MercerFeatures

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
    ("kernel", "X"),
    [(SphericalPolynomial(2, 4), OPPOSITE), (ArcCosine(0), OPPOSITE), (Gaussian(0.01), np.eye(3))],
)
@pytest.mark.parametrize("make", [ATOMS, partial(GORF, measure="minimum_variance")])
def test_a_kernel_that_is_zero_between_different_rows(make, kernel, X):
    with pytest.warns(UserWarning, match="is zero at the distances between the training rows.*choose one"):
        fitted = make(kernel, 200, random_state=0).fit(X)
    exact = kernel(X)
    assert np.linalg.norm(fitted.kernel_matrix(X) - exact) < 0.2 * np.linalg.norm(exact)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Matern(1.5, 2.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_far", "distance"), [(1, 1e5), (1000, 100.0), (1000, 2.0**20)])
def test_outliers_and_groups_do_not_spoil_mercer_features(n_far, distance, dtype, kernel):
    """The error was .71 to 1 at 1,000 rows in each of two groups, and beside a single outlier."""
    X = np.random.default_rng(0).standard_normal((2000, 2))
    X[:n_far, 1] += distance
    X = X.astype(dtype)
    fitted, some = MercerFeatures(kernel, 60, random_state=0).fit(X), X[::5]
    exact = kernel(some)
    assert np.linalg.norm(fitted.kernel_matrix(some) - exact) < 0.1 * np.linalg.norm(exact)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
def test_numbers_whose_squares_overflow_are_told():
    X = 1e200 * np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ValueError, match=r"MercerFeatures\(.* numbers as large as .*e\+200 .*Scale the rows"):
        MercerFeatures(Gaussian("median"), 10, random_state=0).fit(X)
