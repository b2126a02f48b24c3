"""Sparse rows give the features of dense rows, to rounding, in every form that they come in, and at their cost."""

import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Laplacian, Polynomial, SphericalPolynomial
from rflib.learners import KRR
from rflib.maps import (
    CRAFT,
    DIGMM,
    GORF,
    GRFF,
    MVORF,
    ORF,
    QMC,
    RFF,
    SORF,
    SRF,
    AutoMap,
    FourierFeatures,
    GegenbauerFeatures,
    HilbertSpaceFeatures,
    LeverageRFF,
    MercerFeatures,
    MomentMatching,
    Nystroem,
    OptimizedMaclaurin,
    PolySketch,
    QuadratureFeatures,
    QuadratureRFF,
    RandomMaclaurin,
    SphericalRadialRFF,
    SurrogateLeverageRFF,
    TaylorFeatures,
    TensorSketch,
)
from rflib.maps.base import RandomFeatureMap
from rflib.measures.domain import Domain

N, D = 14, 5
NARROW = Gaussian(1.3)
CUBIC = Polynomial(3, 0.5, 1.0)
MAPS = {
    "RFF": partial(RFF, NARROW),
    "RFF with phases": partial(RFF, NARROW, layout="phase"),
    "RFF Laplacian": partial(RFF, Laplacian(0.4)),
    "RFF Cauchy": partial(RFF, Cauchy(0.4)),
    "RFF scale": partial(RFF, Gaussian("scale")),
    "RFF median": partial(RFF, Gaussian("median")),
    "RFF widths": partial(RFF, Gaussian((1.0, 2.0, 1.5, 0.7, 1.0))),
    "ORF": partial(ORF, NARROW),
    "QMC": partial(QMC, NARROW),
    "GRFF": partial(GRFF, DeltaGaussian((1, -0.5), (1.3, 4))),
    "GORF": partial(GORF, DeltaGaussian((1, -0.5), (1.3, 4))),
    "FourierFeatures": partial(FourierFeatures, NARROW),
    "SORF": partial(SORF, NARROW),
    "MomentMatching": partial(MomentMatching, NARROW),
    "QuadratureRFF": partial(QuadratureRFF, NARROW),
    "QuadratureFeatures": partial(QuadratureFeatures, NARROW),
    "TaylorFeatures": partial(TaylorFeatures, NARROW),
    "GegenbauerFeatures": partial(GegenbauerFeatures, NARROW),
    "GegenbauerFeatures cubic": partial(GegenbauerFeatures, CUBIC),
    "SphericalRadialRFF": partial(SphericalRadialRFF, NARROW),
    "LeverageRFF": partial(LeverageRFF, NARROW),
    "SurrogateLeverageRFF": partial(SurrogateLeverageRFF, NARROW),
    "RandomMaclaurin": partial(RandomMaclaurin, CUBIC),
    "TensorSketch": partial(TensorSketch, CUBIC),
    "PolySketch": partial(PolySketch, CUBIC),
    "CRAFT": lambda n, **seed: CRAFT(TensorSketch(CUBIC), n, n_components_up=64, **seed),
    "OptimizedMaclaurin": partial(OptimizedMaclaurin, CUBIC),
    "OptimizedMaclaurin Gaussian": partial(OptimizedMaclaurin, NARROW),
    "OptimizedMaclaurin sketches": partial(OptimizedMaclaurin, CUBIC, exact_degrees=0),
    "OptimizedMaclaurin real": partial(
        OptimizedMaclaurin, CUBIC, exact_degrees=0, complex_to_real=False, centre=False
    ),
    "MercerFeatures": partial(MercerFeatures, NARROW, axes="input"),
    "MercerFeatures Laplacian": partial(MercerFeatures, Laplacian(0.4), axes="input"),
    "MVORF": partial(MVORF, NARROW, axes="input"),
    "Nystroem": partial(Nystroem, NARROW),
    "Nystroem rpcholesky": partial(Nystroem, NARROW, landmarks="rpcholesky"),
}
# These solve programs for each new range of rows: few examples.
SLOW = {
    # without MercerFeatures and MVORF, which have principal axes of dense rows only
    "AutoMap": partial(AutoMap, NARROW, candidates=["ORF", "OptimizedMaclaurin", "Nystroem"]),
    "GORF atoms": partial(
        GORF, NARROW, measure={"type": "minimum_variance", "deltas": [0.01]}, radii="stratified"
    ),
    "SRF": partial(SRF, NARROW),
    "DIGMM": partial(DIGMM, NARROW, measure={"type": "digmm", "n_components": 2, "n_draws": 200}),
}
Y = np.arange(N) % 2


def shuffled(X):
    """CSR rows whose entries are not in order."""
    rows = sparse.csr_array(X)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:stop] = rows.indices[start:stop][::-1]
        rows.data[start:stop] = rows.data[start:stop][::-1]
    rows.has_sorted_indices = False
    return rows


def repeated(X):
    """CSR rows in which each entry is the sum of two, x = 2 x - x."""
    rows = sparse.coo_array(X)
    data = np.concatenate([2 * rows.data, -rows.data])
    places = (np.tile(rows.row, 2), np.tile(rows.col, 2))
    order = np.lexsort((np.arange(len(data)), places[0]))
    starts = np.searchsorted(places[0][order], np.arange(len(X) + 1))
    return sparse.csr_array((data[order].astype(X.dtype), places[1][order], starts), shape=X.shape)


def filled(X):
    """CSR rows that store all zeros."""
    n, d = X.shape
    return sparse.csr_array((X.ravel().copy(), np.tile(np.arange(d), n), d * np.arange(n + 1)), shape=X.shape)


FORMS = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "lil_matrix": sparse.lil_matrix,
    "64-bit indices": lambda X: _with_indices(sparse.csr_array(X), np.int64),
    "unsorted": shuffled,
    "duplicates": repeated,
    "stored zeros": filled,
}


def _with_indices(rows, dtype):
    rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)
    return rows


def rows_of(dtype, density, seed):
    """Rows of which one is empty, not of unit norm, and not centred."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((N, D)) if np.dtype(dtype).kind == "f" else rng.integers(1, 3, (N, D))
    X = (numbers * (rng.random((N, D)) < density)).astype(dtype)
    X[rng.integers(N)] = 0
    if not X.any():
        X[0, 0] = 1
    return X


def check(make, X, form):
    held = FORMS[form](X)
    before = held.copy()
    single = X.dtype == np.float32
    plain = X.astype(np.float32 if single else np.float64)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Nystroem: there are only")
        from_dense, from_sparse = (make(23, random_state=3).fit(rows, Y) for rows in (plain, held))
    expected, found = from_dense.transform(plain), from_sparse.transform(held)
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype == plain.dtype
    ties = isinstance(from_dense, Nystroem | MercerFeatures)
    if ties:  # columns of small or equal eigenvalues turn on rounding; the kernel does not
        expected, found = from_dense.kernel_matrix(plain), from_sparse.kernel_matrix(held)
    tolerance = (2e-4 if single else 1e-7) * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(from_sparse.signature_, from_dense.signature_)
    np.testing.assert_array_equal(held.toarray(), before.toarray())
    if held.format == "csr":
        np.testing.assert_array_equal(held.indices, before.indices)
        np.testing.assert_array_equal(held.data, before.data)
    again = make(23, random_state=3).restore(from_sparse.state())
    np.testing.assert_allclose(again.kernel_matrix(held), from_sparse.kernel_matrix(held), atol=tolerance)
    mixed = from_dense.transform(held), from_sparse.transform(plain)
    if not ties:
        np.testing.assert_allclose(mixed[0], expected, rtol=0, atol=tolerance)
        np.testing.assert_allclose(mixed[1], expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", MAPS)
@given(
    dtype=st.sampled_from(["float32", "float64", "int64", "uint8", "bool"]),
    form=st.sampled_from(sorted(FORMS)),
    density=st.sampled_from([0.1, 0.5, 1.0]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_sparse_rows_have_the_features_of_dense_ones(name, dtype, form, density, seed):
    if form == "duplicates" and dtype in ("bool", "uint8"):
        dtype = "int64"  # the parts of an entry may be negative
    check(MAPS[name], rows_of(dtype, density, seed), form)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize(
    ("dtype", "form", "density"), [("float32", "csr_matrix", 0.5), ("int64", "unsorted", 0.2)]
)
def test_slow_maps_too(name, dtype, form, density):
    check(SLOW[name], rows_of(dtype, density, 0), form)


def test_the_domain_of_a_sample_of_many_rows_is_the_same():
    X = (np.random.default_rng(0).random((1200, 6)) < 0.4).astype(float)
    S = sparse.csr_array(X)
    np.testing.assert_allclose(Domain.of(S).distances, Domain.of(X).distances, atol=1e-7)
    assert Domain.of(S).zmax == pytest.approx(Domain.of(X).zmax)


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky"])
def test_landmarks_of_sparse_rows(landmarks):
    X = rows_of(np.float64, 0.6, 0)
    make = partial(Nystroem, NARROW, 5, landmarks=landmarks, random_state=1)
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
        HilbertSpaceFeatures(),
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


@pytest.mark.parametrize("name", [name for name in MAPS | SLOW if " " not in name])
def test_memory_of_few_columns_for_many_input_columns(name):
    """At most 2,000 numbers for each input column; memory that grows with d^2 would take 20,000."""
    d = 20_000
    X = sparse.random_array((60, d), density=1e-3, format="csr", rng=np.random.default_rng(0))
    made = (MAPS | SLOW)[name](16, random_state=0)
    tracemalloc.start()
    try:
        if name == "QMC":
            with pytest.raises(ValueError, match="at most 5,001 coordinates, but 20,000 are needed"):
                made.fit(X)
        else:
            made.fit(X, np.arange(60) % 2).transform(X)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2000 * d
    finally:
        tracemalloc.stop()
