"""MVORF: the division of the columns, waves less their projection, and all that a map does, with both parts.

No test fails by chance: seeds are fixed. The one mean is within 6 standard errors at all 465 pairs, which a right
one would miss for one choice of seeds in a million.
"""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from rflib.kernels import (
    ArcCosine,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    SphericalPolynomial,
)
from rflib.maps import MVORF, ORF, MercerFeatures
from rflib.maps.held_out import RowSamples
from rflib.maps.mvorf import _residual_waves
from rflib.maps.seeds import as_generator
from rflib.metrics import relative_frobenius_error

from .conftest import sphere

D, KERNEL = 300, Gaussian(2.0)


def indicators(n, seed=0):
    """Twelve categories with six values each, as indicators: 72 columns, of rank 61."""
    rng = np.random.default_rng(seed)
    return np.hstack([np.eye(6)[rng.integers(6, size=n)] for _ in range(12)])


X, NEW = indicators(600), indicators(400, seed=1)


@pytest.fixture(scope="module")
def fitted():
    """A map of which more than a half of the columns are waves."""
    feature_map = MVORF(KERNEL, D, random_state=0).fit(X)
    assert D / 2 < feature_map.n_waves_ < D - 50
    return feature_map


def error(feature_map, rows):
    return relative_frobenius_error(feature_map.kernel_(rows), feature_map.kernel_matrix(rows))


def mean(matrix, n_rows):
    """The mean of the entries of a matrix of n_rows rows, from that of fewer ones."""
    weights = np.full(matrix.shape, (1 - 1 / n_rows) / (len(matrix) * (len(matrix) - 1)))
    np.fill_diagonal(weights, 1 / (n_rows * len(matrix)))
    return (weights * matrix).sum()


def test_the_first_columns_are_those_of_mercer_features(fitted):
    alone, n = MercerFeatures(KERNEL, D, random_state=0).fit(X), D - fitted.n_waves_
    np.testing.assert_allclose(fitted.transform(NEW)[:, :n], alone.transform(NEW)[:, :n], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fitted.axes_, alone.axes_)
    assert fitted.is_fitted_to_rows_ == alone.is_fitted_to_rows_
    assert list(fitted.get_feature_names_out()[:n]) == list(alone.get_feature_names_out()[:n])
    assert fitted.get_feature_names_out()[-1] == f"wave{fitted.n_waves_}"


def test_the_last_columns_are_waves_less_their_ridge_regression_on_the_first_ones(fitted):
    """By numpy alone from the frequencies and phases: projection, factor of the least error, and error."""
    sample = RowSamples.of(X, KERNEL, as_generator(0))
    waves = fitted.waves_.waves
    factor = waves.weights.sum()  # the weights of ORF have the sum k(x, x) = 1
    head = fitted.transform(sample.rows)[:, : -fitted.n_waves_]

    def drawn(rows):
        angles = rows @ waves.frequencies.T + waves.phases
        n = waves.n_pairs
        columns = np.hstack([np.cos(angles[:, :n]), np.sin(angles[:, :n]), 2**0.5 * np.cos(angles[:, n:])])
        weights = np.concatenate([waves.weights[:n], waves.weights])
        return columns * np.sqrt(weights / factor)

    at_held = fitted.transform(sample.held)[:, : -fitted.n_waves_]
    exact, n_head = KERNEL(sample.held), head.shape[1]
    left = exact - at_held @ at_held.T
    ridge = np.mean(np.diagonal(left))
    stacked = np.vstack([head, np.sqrt(ridge) * np.eye(n_head)])
    targets = np.vstack([drawn(sample.rows), np.zeros((n_head, fitted.n_waves_))])
    projection = np.linalg.lstsq(stacked, targets, rcond=None)[0]
    rest = drawn(sample.held) - at_held @ projection
    estimate = rest @ rest.T
    assert factor == pytest.approx(mean(estimate * left, len(X)) / mean(estimate**2, len(X)))
    assert 0 < factor < 1
    squares = mean((left - factor * estimate) ** 2, len(X)) / mean(exact**2, len(X))
    assert fitted.predicted_error_ == pytest.approx(np.sqrt(squares))
    rows = fitted.transform(NEW)
    expected = drawn(NEW) - rows[:, :n_head] @ projection
    np.testing.assert_allclose(rows[:, n_head:], np.sqrt(factor) * expected, atol=1e-9)


def test_the_mean_of_the_waves_is_what_the_eigenfunctions_lack():
    """L K L^T of the 30 rows, where L takes a function's values less their ridge regression on the columns."""
    rows, kernel = np.random.default_rng(19).standard_normal((30, 3)), Gaussian(0.8)
    columns = MercerFeatures(kernel, 8, random_state=0).fit(rows).transform(rows)
    sample = RowSamples(kernel, rows, rows, kernel(rows), 30, rows[:0])
    lack = np.diagonal(kernel(rows) - columns @ columns.T)
    ridge = np.mean(np.maximum(lack, 0)) * np.eye(8)
    across = np.eye(30) - columns @ np.linalg.solve(columns.T @ columns + ridge, columns.T)
    products = []
    for seed in range(400):
        waves = ORF(kernel, 6, radii="stratified", random_state=seed).fit(rows).waves_
        rest, _ = _residual_waves(waves, columns, columns, np.ones(8), sample)
        found = rest.at(rows, columns)
        products.append(found @ found.T / rest.waves.weights.sum())
    errors = np.mean(products, axis=0) - across @ kernel(rows) @ across.T
    assert np.all(np.abs(errors) < 6 * np.std(products, axis=0) / np.sqrt(400) + 1e-12)


def test_a_narrow_kernel_with_many_columns_has_a_lower_error_than_either_part(fitted):
    for other in (MercerFeatures, ORF):
        assert error(fitted, NEW) < 0.95 * error(other(KERNEL, D, random_state=0).fit(X), NEW)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Matern(2.5, "median")])
def test_a_wide_kernel_has_the_columns_of_mercer_features(kernel):
    rows = StandardScaler().fit_transform(load_breast_cancer().data)
    found, same = (cls(kernel, 60, random_state=0).fit(rows) for cls in (MVORF, MercerFeatures))
    assert found.n_waves_ == 0
    assert found.predicted_error_ == same.predicted_error_
    np.testing.assert_array_equal(found.transform(rows), same.transform(rows))
    np.testing.assert_array_equal(found.get_feature_names_out(), same.get_feature_names_out())


@pytest.mark.parametrize(
    "kernel",
    [
        *(Laplacian(2.0), Polynomial(4), DeltaGaussian((1, -0.5), (0.3, 1))),
        *(SphericalPolynomial(2, 20), ArcCosine(0), lambda z: np.cos(4 * z) * np.exp(-z)),
    ],
)
def test_kernels_that_orf_does_not_take_have_eigenfunctions_alone(kernel):
    rows = sphere(150, 8)
    found = MVORF(kernel, 90, random_state=0).fit(rows)
    assert found.n_waves_ == 0
    np.testing.assert_array_equal(
        found.kernel_matrix(rows), MercerFeatures(kernel, 90, random_state=0).fit(rows).kernel_matrix(rows)
    )


def test_the_predicted_error_is_that_of_new_rows(fitted):
    assert error(fitted, indicators(600, seed=2)) == pytest.approx(fitted.predicted_error_, rel=0.1)


def test_of_many_rows_the_error_is_measured_on_some_that_had_no_part_in_choices(monkeypatch):
    monkeypatch.setattr("rflib.maps.held_out._FIT_ROWS", 480)
    rows = indicators(1600)
    found = MVORF(KERNEL, D, random_state=0).fit(rows)
    sample = RowSamples.of(rows, KERNEL, as_generator(0))
    assert found.n_waves_ > 0 and len(sample.fresh) == 800
    parts = found.kernel_matrix(sample.fresh) - KERNEL(sample.fresh), KERNEL(sample.fresh)
    squares = [mean(part**2, 1600) for part in parts]
    assert found.predicted_error_ == pytest.approx(np.sqrt(squares[0] / squares[1]))
    assert error(found, indicators(1600, seed=2)) == pytest.approx(found.predicted_error_, rel=0.1)


def test_state_and_pickle(fitted):
    expected = fitted.transform(NEW)
    restored = clone(fitted).restore(fitted.state())
    for other in (restored, pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X)):
        np.testing.assert_array_equal(other.transform(NEW), expected)
        assert (other.n_waves_, other.predicted_error_) == (fitted.n_waves_, fitted.predicted_error_)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_single_precision_sparse_rows_and_streams(form):
    expected = MVORF(KERNEL, D, axes="input", random_state=0).fit(X)
    assert expected.n_waves_ > 0
    found = MVORF(KERNEL, D, axes="input", random_state=0).fit(form(X))
    np.testing.assert_allclose(found.kernel_matrix(form(NEW)), expected.kernel_matrix(NEW), atol=1e-9)
    np.testing.assert_allclose(expected.transform(form(NEW)), expected.transform(NEW), atol=1e-9)
    single = expected.transform(form(NEW.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected.transform(NEW), atol=1e-4)
    streamed = clone(expected).partial_fit(form(X[:100])).partial_fit(form(X[100:]))
    np.testing.assert_array_equal(streamed.transform(NEW), found.transform(NEW))
    assert streamed.n_waves_ == found.n_waves_


def test_dask_rows(fitted):
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(X, chunks=(170, X.shape[1]))
    found = clone(fitted).fit(lazy)
    assert found.n_waves_ == fitted.n_waves_
    np.testing.assert_allclose(found.transform(lazy).compute(), fitted.transform(X), atol=1e-9)


def test_gradients_are_those_of_central_differences(fitted):
    rows = NEW[:20] + 0.01 * np.random.default_rng(3).standard_normal((20, X.shape[1]))
    weights, step = np.random.default_rng(4).standard_normal((D, 2)), 1e-5
    expected = np.empty((20, 2, X.shape[1]))
    for j, shift in enumerate(step * np.eye(X.shape[1])):
        above, below = fitted.transform(rows + shift), fitted.transform(rows - shift)
        expected[:, :, j] = (above - below) @ weights / (2 * step)
    found = fitted.gradient_products(rows, weights)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())
