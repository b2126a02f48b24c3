"""Gradients of functions of features beyond the laws of all maps: against those of the kernel, and their cost."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from rflib.kernels import Gaussian, Polynomial
from rflib.maps import ORF, RFF, MercerFeatures, Nystroem, OptimizedMaclaurin, TensorSketch

from .rows import NEW, TRAIN, differences

WIDTHS = Gaussian((1.0, 2.0, 3.0, 2.0))


def test_rows_beyond_the_training_rows_have_gradients():
    features = MercerFeatures(Gaussian(1.0), 40, axes="input", random_state=0).fit(TRAIN)
    weights, far = np.ones((40, 1)), TRAIN[:5] + 4.0
    with pytest.warns(match="outside the range"):
        expected = differences(features, far, weights)
    np.testing.assert_allclose(
        features.gradient_products(far, weights), expected, atol=1e-8 * np.abs(expected).max()
    )


@pytest.mark.parametrize(
    "method, D, within", [(Nystroem, 300, 1e-6), (MercerFeatures, 400, 1e-4), (ORF, 4000, 0.1)]
)
def test_gradients_of_a_kernel_expansion_are_those_of_the_kernel(method, D, within):
    kernel, points, shares = Gaussian(3.0), TRAIN[:50], np.random.default_rng(2).standard_normal(50)
    features = method(kernel, D, random_state=0).fit(TRAIN)
    weights = features.transform(points).T @ shares[:, None]
    along = (points[None] - NEW[:, None]) / 9.0
    expected = np.einsum("ij,ijk,j->ik", kernel(NEW, points), along, shares)
    found = features.gradient_products(NEW, weights)[:, 0]
    assert np.linalg.norm(found - expected) < within * np.linalg.norm(expected)


@pytest.mark.parametrize("method", [RFF, Nystroem])
def test_sparse_and_single_precision_rows_have_the_gradients_of_dense_ones(method):
    features, weights = method(WIDTHS, 30, random_state=0).fit(TRAIN), np.ones((30, 1))
    expected = features.gradient_products(NEW, weights)
    np.testing.assert_allclose(features.gradient_products(csr_array(NEW), weights), expected, rtol=1e-8)
    single = features.gradient_products(NEW.astype(np.float32), weights)
    np.testing.assert_allclose(single, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("method", [ORF, MercerFeatures, Nystroem])
def test_the_jacobian_matrices_are_not_formed(method):
    n, d, D = 2000, 40, 200
    rows = np.random.default_rng(3).standard_normal((n, d))
    features = method(Gaussian(5.0), D, random_state=0).fit(rows)
    tracemalloc.start()
    features.gradient_products(rows, np.ones((D, 1)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n * d * D * 8 / 3


@pytest.mark.parametrize(
    "features",
    [TensorSketch(Polynomial(2), 20), Nystroem(Polynomial(2), 20), OptimizedMaclaurin(Gaussian(2.0), 40)],
)
def test_a_map_without_gradients_names_those_that_have_them(features):
    features.set_params(random_state=0).fit(TRAIN)
    with pytest.raises(
        TypeError, match=rf"^{type(features).__name__}: .* no gradients .* MercerFeatures, Nystroem with"
    ):
        features.gradient_products(TRAIN, np.ones((features.n_components_, 1)))


def test_each_feature_needs_weights():
    with pytest.raises(ValueError, match="weights must have 20 rows, one for each feature, but have 21"):
        RFF(Gaussian(1.0), 20, random_state=0).fit(TRAIN).gradient_products(TRAIN, np.ones((21, 1)))
