"""Sparse rows have the kernels of dense ones, and what maps ask of them is what they ask of dense ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    RadialFunction,
    Similarity,
    SphericalPolynomial,
)
from rflib.kernels.sparse_rows import ShiftedRows, canonical, lexicographic_order, mean_row, squared_norms
from rflib.measures.domain import distances_from

MATRICES = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 0.0, 0.0, -0.0, -2.0, -1.0, 0.5, 3.0]),
)
ROWS = np.random.default_rng(0).standard_normal((9, 5)) * (np.random.default_rng(1).random((9, 5)) < 0.5)
ROWS[3] = 0
UNIT = np.eye(5)[[0, 1, 1, 4]] * np.array([1.0, -1, 1, 1])[:, None]


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.5),
        Gaussian((1.0, 2.0, 3.0, 4.0, 5.0)),
        Laplacian(0.3),
        Matern(1.5),
        DeltaGaussian(),
        RadialFunction(np.cos),
        Polynomial(3, 0.5, 1.0),
        ArcCosine(),
        SphericalPolynomial(),
        Similarity(lambda X, Y: X @ Y.T),
    ],
    ids=lambda kernel: repr(kernel).split(" at 0x")[0],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_kernel_of_sparse_rows_is_that_of_dense_ones(kernel, dtype):
    X = (UNIT if kernel.unit_norm else ROWS).astype(dtype)
    S, K = sparse.csr_array(X), kernel(X)
    for found in (kernel(S), kernel(sparse.coo_matrix(X)), kernel(S, X), kernel(X, S), kernel(S, S)):
        assert type(found) is np.ndarray
        assert found.dtype == dtype
        np.testing.assert_allclose(found, K, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=1e-6)


def test_a_kernel_that_needs_dense_rows_says_so_and_rows_off_the_sphere_are_named():
    with pytest.raises(TypeError, match=r"Sparse data was passed.*Use '\.toarray\(\)'"):
        Cauchy()(sparse.csr_array(ROWS))
    with pytest.raises(ValueError, match=r"needs rows of unit norm, but row 0 has norm 2"):
        ArcCosine()(sparse.csr_array(2 * UNIT))
    with pytest.raises(ValueError, match="from numbers as large as 1e\\+200"):
        Polynomial()(sparse.csr_array([[1e200]]))


@given(X=MATRICES)
@settings(max_examples=200)
def test_lexicographic_order_is_numpys(X):
    for rows in (X, canonical(sparse.csr_array(X))):
        np.testing.assert_array_equal(lexicographic_order(rows), np.lexsort(X.T[::-1]))


@given(X=MATRICES, seed=st.integers(0, 100))
@settings(max_examples=50)
def test_rows_less_a_vector(X, seed):
    c = np.random.default_rng(seed).integers(-2, 3, X.shape[1]) / 2
    S, Y = canonical(sparse.csr_array(X)), X - c
    rows = ShiftedRows.less(S, c).times(np.arange(1.0, len(X) + 1))
    Y = Y * np.arange(1.0, len(X) + 1)[:, None]
    other = np.random.default_rng(seed).permutation(len(X))
    M = np.random.default_rng(seed).standard_normal((X.shape[1], 3))
    np.testing.assert_allclose(rows.toarray(), Y)
    np.testing.assert_allclose(rows.product(M, rows.vector @ M), Y @ M, atol=1e-12)
    np.testing.assert_allclose(rows.gram(), Y @ Y.T, atol=1e-12)
    np.testing.assert_allclose(rows.products(other), (Y * Y[other]).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(rows.norms(), np.linalg.norm(Y, axis=1), atol=1e-12)
    np.testing.assert_allclose(rows.squares().gram(), Y**2 @ (Y**2).T, atol=1e-9)
    np.testing.assert_allclose(squared_norms(S), (X**2).sum(axis=1))
    np.testing.assert_allclose(distances_from(c, S), distances_from(c, X), atol=1e-12)


def test_the_mean_of_rows_is_the_same_to_the_bit():
    X = np.random.default_rng(0).standard_normal((999, 7)).astype(np.float32)
    X[X < 0.5] = 0
    np.testing.assert_array_equal(mean_row(sparse.csr_array(X)), X.mean(axis=0, dtype=np.float64))


def test_rows_of_any_sparse_form_become_one_and_are_not_changed():
    entries, columns, starts = np.array([1.0, 2.0, 0.0, 4.0]), np.array([2, 0, 1, 2]), np.array([0, 4])
    X = sparse.csr_array((entries, columns, starts), shape=(1, 3))
    rows = canonical(X)
    np.testing.assert_array_equal(rows.indices, [0, 2])
    np.testing.assert_array_equal(rows.data, [2, 5])
    np.testing.assert_array_equal(X.data, [1, 2, 0, 4])
    np.testing.assert_array_equal(X.indices, [2, 0, 1, 2])
    assert np.shares_memory(canonical(rows).data, rows.data)
