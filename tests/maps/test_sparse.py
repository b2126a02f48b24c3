"""Sparse rows beyond the laws of all maps: what is learned of them, maps that refuse them, and their cost."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from rflib.kernels import Cauchy, Gaussian, Polynomial, SphericalPolynomial
from rflib.learners import KRR
from rflib.maps import (
    CRAFT,
    MVORF,
    RFF,
    AutoMap,
    MercerFeatures,
    Nystroem,
    OptimizedMaclaurin,
    RandomMaclaurin,
    TensorSketch,
)
from rflib.maps.base import RandomFeatureMap
from rflib.measures.domain import Domain

from .rows import general_rows


def test_the_domain_of_a_sample_of_many_rows_is_the_same():
    X = (np.random.default_rng(0).random((1200, 6)) < 0.4).astype(float)
    S = sparse.csr_array(X)
    np.testing.assert_allclose(Domain.of(S).distances, Domain.of(X).distances, atol=1e-7)
    assert Domain.of(S).zmax == pytest.approx(Domain.of(X).zmax)


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky"])
def test_landmarks_of_sparse_rows(landmarks):
    X = general_rows(density=0.6)
    make = partial(Nystroem, Gaussian(1.3), 5, landmarks=landmarks, random_state=1)
    found, dense = make().fit(sparse.csr_array(X)), make().fit(X)
    assert sparse.issparse(found.landmarks_) == (landmarks != "kmeans")
    np.testing.assert_allclose(
        found.kernel_matrix(sparse.csr_array(X)),
        dense.kernel_matrix(X),
        atol=1e-9 if landmarks != "kmeans" else 1e-6,
    )


def test_unit_rows_of_a_spherical_kernel():
    X = np.eye(6)[[0, 1, 2, 2, 5, 3]]
    for make in (MVORF, TensorSketch, OptimizedMaclaurin, RandomMaclaurin):
        m = make(SphericalPolynomial(4, 3), 40, random_state=0).fit(X)
        np.testing.assert_allclose(m.transform(sparse.csr_array(X)), m.transform(X), atol=1e-12)
        with pytest.raises(ValueError, match=r"needs rows of unit norm, but row 1 has norm 0"):
            m.transform(sparse.csr_array(np.eye(6)[:2] * [[1.0], [0.0]]))


class DenseMap(RandomFeatureMap):
    """A map of a user's that says nothing about sparse rows."""

    def _draw(self, kernel, X, y, rng):
        self.signature_ = np.ones(self.n_components)

    def _columns(self, X):
        return np.repeat(X.sum(axis=1, keepdims=True), self.n_components, axis=1)


@pytest.mark.parametrize(
    "dense_only",
    [
        AutoMap(Cauchy()),
        DenseMap(),
        CRAFT(DenseMap(), 2, n_components_up=4),
        Nystroem(Cauchy()),
        Nystroem("precomputed"),
        MercerFeatures(Cauchy()),
        MVORF(Cauchy()),
    ],
    ids=repr,
)
def test_maps_that_need_dense_rows_say_so(dense_only):
    X = sparse.csr_array(np.eye(4))
    assert not dense_only.__sklearn_tags__().input_tags.sparse
    with pytest.raises(
        TypeError, match=r"Sparse data was passed for X, but dense data is required. Use '.toarray"
    ):
        dense_only.fit(X)


@pytest.mark.parametrize(
    "make",
    [
        partial(RFF, Gaussian(30.0)),
        partial(TensorSketch, Polynomial(2)),
        partial(RandomMaclaurin, Polynomial(2)),
        partial(OptimizedMaclaurin, Polynomial(2, coef0=1.0)),
        partial(OptimizedMaclaurin, Gaussian(5.0)),
        partial(MVORF, Gaussian(5.0)),
        partial(Nystroem, Gaussian(5.0)),
        partial(MercerFeatures, Gaussian(5.0)),
    ],
    ids=repr,
)
def test_memory_follows_what_is_not_zero(make):
    """20,000 dense rows of 2,000 columns would be 320 MB; features are 2.6 MB, and what maps keep a few more."""
    n, d = 20_000, 2_000
    X = sparse.random_array((n, d), density=0.001, format="csr", rng=np.random.default_rng(0))
    m = make(n_components=16, random_state=0).fit(X)
    tracemalloc.start()
    try:
        m.fit(X).transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 80e6


def test_a_learner_on_more_columns_than_fit_as_dense_rows():
    n, d = 2000, 1_000_000
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=2e-5, format="csr", rng=rng)
    y = np.asarray(X[:, : d // 2].sum(axis=1))
    learner = KRR(feature_map=TensorSketch(Polynomial(1), 256, random_state=0), alphas=1e-3).fit(X, y)
    assert learner.predict(X[:5]).shape == (5,)
