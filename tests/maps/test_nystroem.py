"""Nystroem: fewer rows than landmarks, its two decompositions, rank, and single precision."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Matern, Polynomial, SphericalPolynomial
from rflib.maps import Nystroem

from .conftest import sphere


def test_fewer_rows_than_landmarks_warn_as_in_scikit_learn(X):
    with pytest.warns(UserWarning, match="only 9 rows for n_components = 20"):
        m = Nystroem(n_components=20, random_state=0).fit(X[:9])
    assert m.n_components_ == m.transform(X).shape[1] == 9


@pytest.mark.parametrize("kernel", [Gaussian(5.0), Cauchy(0.1), DeltaGaussian(sigmas=(2, 8)), Polynomial(2)])
def test_single_precision_of_kernels_of_low_rank(kernel):
    """Small eigenvalues must not blow up the rounding of the kernel's values."""
    X = sphere(300, 6)
    double = Nystroem(kernel, 150, random_state=0).fit(X).kernel_matrix(X)
    m = Nystroem(kernel, 150, random_state=0).fit(X.astype(np.float32))
    single = m.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs((single * m.signature_) @ single.T - double).max() < 1e-5


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian(1.5), SphericalPolynomial(4, 10)])
def test_features_of_single_precision_are_those_of_double(kernel):
    """Some columns are products in single precision, those of small eigenvalues in double; all within 1e-5."""
    X = sphere(2000, 16).astype(np.float32)
    m = Nystroem(kernel, 300, random_state=0).fit(X)
    assert np.abs(m.transform(X) - m.transform(X.astype(np.float64))).max() < 1e-5


def test_landmarks_are_reproduced_exactly(X):
    for kernel in (Gaussian(0.5), DeltaGaussian(sigmas=(0.5, 2))):
        m = Nystroem(kernel, 20, random_state=0).fit(X)
        assert np.allclose(m.kernel_matrix(m.landmarks_, X), kernel(m.landmarks_, X), atol=1e-8)


def spectral(m, X):
    """The estimate by eigenvectors of the landmarks' matrix."""
    values, vectors = np.linalg.eigh(m.kernel_(m.landmarks_))
    kept = np.abs(values) > 1e-12 * np.abs(values).max()
    C = m.kernel_(X, m.landmarks_) @ vectors[:, kept]
    return (C / values[kept]) @ C.T


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian(5.0), Matern(0.5), Polynomial(2), Polynomial(9)])
@pytest.mark.parametrize("repeated", [1, 3])
def test_decomposition_of_a_definite_kernel(kernel, repeated):
    """The pivoted decomposition has the estimate of the eigenvectors, also of low rank and for repeated rows."""
    X = np.tile(sphere(220, 6), (repeated, 1))
    m = Nystroem(kernel, 600 if repeated > 1 else 200, random_state=0).fit(X)
    assert np.all(m.signature_ == 1)
    assert np.allclose(m.normalization_, np.triu(m.normalization_))
    size = np.abs(kernel(X[:3])).max()
    assert np.abs(m.kernel_matrix(X) - spectral(m, X)).max() < 1e-6 * size
    rank = np.linalg.matrix_rank(kernel(m.landmarks_), 1e-9, hermitian=True)
    assert np.count_nonzero(m.normalization_.any(axis=0)) >= rank - 1
    again = Nystroem(kernel, m.n_components).fit(X[::-1]).restore(m.state())
    assert np.array_equal(again.transform(X), m.transform(X))


def test_similarities_of_both_signs_keep_their_eigenvectors():
    """The diagonal tells nothing here: one similarity has zeros on it, and one has a negative eigenvalue only."""

    def difference(X, Y):
        return np.exp(-np.abs(X[:, :1] - Y[:, :1].T)) - np.exp(-np.abs(X[:, 1:2] - Y[:, 1:2].T))

    def shifted(X, Y):
        return 3 * X @ Y.T - 1e-3

    X = sphere(300, 4)
    for kernel in (difference, shifted):
        m = Nystroem(kernel, 120, random_state=0).fit(X)
        assert (m.signature_ < 0).any()
        assert np.abs(m.kernel_matrix(X) - spectral(m, X)).max() < 1e-6
        again = Nystroem(kernel, 120).fit(X[::-1]).restore(m.state())
        assert np.array_equal(again.transform(X), m.transform(X))


def test_a_kernel_that_is_zero_has_features_that_are_zero():
    m = Nystroem(lambda X, Y: np.zeros((len(X), len(Y))), 5, random_state=0).fit(sphere(9, 2))
    assert not m.transform(sphere(9, 2)).any()


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_own_landmarks_are_rows_or_their_numbers(X, sparse_rows):
    rows, numbers = sparse.csr_array(X) if sparse_rows else X, np.array([3, 17, 4, 4, 30])
    by_number = Nystroem(Gaussian(2.0), landmarks=numbers.tolist()).fit(rows)
    by_row = Nystroem(Gaussian(2.0), landmarks=X[numbers]).fit(rows)
    assert by_number.n_components_ == 5 and sparse.issparse(by_number.landmarks_) == sparse_rows
    np.testing.assert_array_equal(by_number.transform(rows), by_row.transform(rows))
    kernel = Gaussian(2.0)
    known = Nystroem("precomputed", landmarks=numbers).fit(kernel(X))
    np.testing.assert_allclose(known.kernel_matrix(kernel(X)), by_row.kernel_matrix(rows), atol=1e-9)
    W = kernel(X[numbers])
    C = kernel(X, X[numbers])
    np.testing.assert_allclose(
        by_row.kernel_matrix(rows), C @ np.linalg.pinv(W, hermitian=True) @ C.T, atol=1e-8
    )
    new = X.mean(axis=0, keepdims=True) + np.eye(X.shape[1])[:2]  # no training rows
    found = clone(by_row).set_params(landmarks=pd.DataFrame(new)).fit(rows)
    np.testing.assert_allclose(found.kernel_matrix(new, X), kernel(new, X), atol=1e-10)
    again = clone(found).restore(found.state())
    np.testing.assert_allclose(again.transform(X), found.transform(X), atol=1e-12)


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        ([0, 5, 9999], r"^Nystroem: landmarks\[2\] is 9999, but X has the rows 0 to \d+\.$"),
        ([-1], r"^Nystroem: landmarks\[0\] is -1, but X has the rows"),
        (np.ones((3, 2)), r"^Nystroem: landmarks have 2 columns, but X has \d+\. Give rows"),
        ([0.5, 1.0], "^Nystroem: landmarks must be the name of a rule, rows .* or integers"),
        ([], "^Nystroem: landmarks must be the name of a rule"),
        ("median", "^Nystroem: landmarks must be one of"),
        (np.full((2, 4), np.nan), "landmarks contains NaN"),
    ],
)
def test_landmarks_that_cannot_be(X, landmarks, message):
    with pytest.raises(ValueError, match=message):
        Nystroem(Gaussian(2.0), landmarks=landmarks).fit(X)


def test_landmarks_by_number_need_all_rows_and_precomputed_ones_have_no_rows(X):
    da = pytest.importorskip("dask.array")
    blocks = da.from_array(X, chunks=(20, X.shape[1]))
    with pytest.raises(
        ValueError, match=r"^Nystroem: of Dask rows, .* Give the landmarks themselves, as rows\.$"
    ):
        Nystroem(Gaussian(2.0), landmarks=[0, 1]).fit(blocks)
    found = Nystroem(Gaussian(2.0), landmarks=X[:4]).fit(blocks)
    np.testing.assert_allclose(
        found.transform(X), Nystroem(Gaussian(2.0), landmarks=X[:4]).fit(X).transform(X)
    )
    with pytest.raises(ValueError, match="landmarks must be the name of a rule, or integers"):
        Nystroem("precomputed", landmarks=np.ones((2, len(X)))).fit(Gaussian(2.0)(X))
