"""Gradients of functions of features, against central differences and against those of the kernel."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Laplacian, Matern, Polynomial
from rflib.maps import (
    GORF,
    ORF,
    QMC,
    RFF,
    SORF,
    SRF,
    AutoMap,
    LeverageRFF,
    MercerFeatures,
    MomentMatching,
    Nystroem,
    OptimizedMaclaurin,
    QuadratureRFF,
    TensorSketch,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4)) * (2, 1, 1, 0.5)
X[:, 3] = X[:, 3] > 0  # a column with two values
NEW = X[:20] + 0.01 * RNG.standard_normal((20, 4))
WIDTHS = Gaussian((1.0, 2.0, 3.0, 2.0))
# linear programs that take no time
QUICK = {"type": "minimum_variance", "deltas": (0.01,)}

MAPS = {
    "RFF odd": RFF(Gaussian(1.0), 31),
    "RFF phase": RFF(WIDTHS, 30, layout="phase"),
    "ORF": ORF(Matern(1.5, 2.0), 30),
    "QMC": QMC(Gaussian(1.0), 30),
    "GORF": GORF(DeltaGaussian(sigmas=(1.0, 5.0)), 31),
    "SRF": SRF(Gaussian(1.0), 30),
    "GORF atoms": GORF(Gaussian(2.0), 32, measure=QUICK, radii="stratified"),
    "SORF": SORF(Gaussian(1.0), 31),
    "MomentMatching": MomentMatching(Gaussian(1.0), 30),
    "Quadrature": QuadratureRFF(Gaussian(1.0), 31),
    "Leverage": LeverageRFF(Gaussian(1.0), 30),
    "Leverage reference": LeverageRFF(Gaussian(1.0), 30, variant="reference"),
    "AutoMap": AutoMap(Gaussian(1.0), 30, candidates=["RFF", "ORF"]),
    "Mercer": MercerFeatures(Gaussian("median"), 40, axes="principal"),
    "Mercer inputs": MercerFeatures(Gaussian(2.0), 40, axes="input"),
    "Mercer widths": MercerFeatures(WIDTHS, 40),
    "Mercer Cauchy": MercerFeatures(Cauchy(2.0), 40),
    "Mercer Laplacian": MercerFeatures(Laplacian(0.5), 40),
    "Mercer Matern": MercerFeatures(Matern(1.5, 2.0), 40),  # combined products of two kernels
    "Nystroem": Nystroem(Gaussian(1.0), 30),
    "Nystroem widths": Nystroem(Matern(1.5, (1.0, 2.0, 3.0, 2.0)), 30),
    "Nystroem profile": Nystroem(lambda z: 1 / (1 + z**2), 30),
    "Mercer polynomial": MercerFeatures(Polynomial(3), 40),
}


def differences(features, rows, weights, step=1e-5):
    found = np.empty((len(rows), weights.shape[1], rows.shape[1]))
    for j, shift in enumerate(step * np.eye(rows.shape[1])):
        above, below = features.transform(rows + shift), features.transform(rows - shift)
        found[:, :, j] = (above - below) @ weights / (2 * step)
    return found


@pytest.mark.filterwarnings("ignore::rflib.measures.RangeWarning")
@pytest.mark.parametrize("features", MAPS.values(), ids=MAPS)
def test_gradients_are_those_of_central_differences(features):
    features = features.set_params(random_state=0).fit(X)
    weights = np.random.default_rng(1).standard_normal((features.n_components_, 2))
    expected = differences(features, NEW, weights)
    found = features.gradient_products(NEW, weights)
    assert found.shape == (len(NEW), 2, 4)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def test_rows_beyond_the_training_rows_have_gradients():
    features = MercerFeatures(Gaussian(1.0), 40, axes="input", random_state=0).fit(X)
    weights, far = np.ones((40, 1)), X[:5] + 4.0
    with pytest.warns(match="outside the range"):
        expected = differences(features, far, weights)
    np.testing.assert_allclose(
        features.gradient_products(far, weights), expected, atol=1e-8 * np.abs(expected).max()
    )


@pytest.mark.parametrize(
    "method, D, within", [(Nystroem, 300, 1e-6), (MercerFeatures, 400, 1e-4), (ORF, 4000, 0.1)]
)
def test_gradients_of_a_kernel_expansion_are_those_of_the_kernel(method, D, within):
    kernel, points, shares = Gaussian(3.0), X[:50], np.random.default_rng(2).standard_normal(50)
    features = method(kernel, D, random_state=0).fit(X)
    weights = features.transform(points).T @ shares[:, None]
    along = (points[None] - NEW[:, None]) / 9.0
    expected = np.einsum("ij,ijk,j->ik", kernel(NEW, points), along, shares)
    found = features.gradient_products(NEW, weights)[:, 0]
    assert np.linalg.norm(found - expected) < within * np.linalg.norm(expected)


@pytest.mark.parametrize("method", [RFF, Nystroem])
def test_sparse_and_single_precision_rows_have_the_gradients_of_dense_ones(method):
    features, weights = method(WIDTHS, 30, random_state=0).fit(X), np.ones((30, 1))
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
    features.set_params(random_state=0).fit(X)
    with pytest.raises(
        TypeError, match=rf"^{type(features).__name__}: .* no gradients .* MercerFeatures, Nystroem with"
    ):
        features.gradient_products(X, np.ones((features.n_components_, 1)))


def test_each_feature_needs_weights():
    with pytest.raises(ValueError, match="weights must have 20 rows, one for each feature, but have 21"):
        RFF(Gaussian(1.0), 20, random_state=0).fit(X).gradient_products(X, np.ones((21, 1)))
