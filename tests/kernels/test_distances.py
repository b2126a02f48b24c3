"""Distances are those of the differences, wherever the rows are, and so are kernels, learners and maps."""

import numpy as np
import pytest
from mpmath import mp
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

from rflib.kernels import Cauchy, DeltaGaussian, Gaussian, Laplacian, Matern, RadialFunction, distances
from rflib.kernels.distances import euclidean_distances
from rflib.learners import ExactKernelSVC, ExactKRR
from rflib.maps import Nystroem
from rflib.measures.domain import Domain

FORMS = pytest.mark.parametrize("form", [np.asarray, csr_array])
TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
ROUNDING = {np.float32: 1e-7, np.float64: 2e-12}


def exact(X, Y, factors=1.0):
    """The distances in more digits and a wider range than those of float64."""
    with mp.workdps(40):
        rows = [[[mp.mpf(float(value)) for value in row] for row in Z] for Z in (X, Y)]
        f = [mp.mpf(float(factor)) for factor in np.broadcast_to(factors, X.shape[1])]
        return np.array(
            [
                [
                    float(mp.sqrt(sum((w * (a - b)) ** 2 for w, a, b in zip(f, x, y, strict=True))))
                    for y in rows[1]
                ]
                for x in rows[0]
            ]
        )


def groups(n, d, far):
    """Rows of five groups, as far apart as ``far``, with rows that are repeated and nearly repeated."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + far * rng.integers(0, 5, (n, 1))
    X[1], X[2] = X[0], X[0] * (1 + 1e-9)
    return X


# Rows with d columns; squares of the large number overflow.
ROWS = {
    "as they should be": lambda d, large: groups(24, d, 0),
    "an offset": lambda d, large: groups(24, d, 0) + 1e8,
    "groups": lambda d, large: groups(24, d, 2.0**27),
    "groups in one column": lambda d, large: groups(24, d, 0) + np.eye(1, d) * groups(24, 1, 1e12),
    "one column far off": lambda d, large: groups(24, d, 0) + np.eye(1, d) * 1e12,
    "outliers": lambda d, large: groups(24, d, 0) * np.repeat([1e8, 1, large], [2, 20, 2])[:, None],
    "tiny": lambda d, large: groups(24, d, 0) / large,
    "huge": lambda d, large: groups(24, d, 0) * large,
    "tiny and ordinary": lambda d, large: groups(24, d, 0) * np.repeat([1 / large, 1], 12)[:, None],
}


@FORMS
@TYPES
@pytest.mark.parametrize("d", [3, pytest.param(40, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("rows", ROWS)
def test_every_distance_keeps_its_digits(rows, d, dtype, form):
    X = ROWS[rows](d, 1e25 if dtype == np.float32 else 1e200).astype(dtype)
    for factors in (None, np.geomspace(0.1, 30, d)):
        expected = exact(X, X, 1.0 if factors is None else factors)
        square, matrix = (euclidean_distances(form(X), Y, factors) for Y in (None, form(X[::3].copy())))
        assert square.dtype == matrix.dtype == dtype
        least = 1e6 * np.finfo(dtype).smallest_subnormal
        np.testing.assert_allclose(square, expected, rtol=ROUNDING[dtype], atol=least)
        np.testing.assert_allclose(matrix, expected[:, ::3], rtol=ROUNDING[dtype], atol=least)
        assert (square[expected == 0] == 0).all() and (matrix[expected[:, ::3] == 0] == 0).all()
        np.testing.assert_array_equal(square, square.T)


@FORMS
def test_tiles_of_all_shapes_are_one_matrix(form, monkeypatch):
    X, Y = groups(50, 20, 1e9), groups(31, 20, 1e9)[::-1]
    expected = euclidean_distances(form(X), form(Y)), euclidean_distances(form(X))
    for size in (1, 7, 30):
        for name in ("_TILE", "_SPARSE_TILE", "_DIFFERENCES"):
            monkeypatch.setattr(distances, name, size)
        for many in (0.0, 1.0):
            monkeypatch.setattr(distances, "_MANY", many)
            np.testing.assert_allclose(euclidean_distances(form(X), form(Y)), expected[0], rtol=1e-12)
            found = euclidean_distances(form(X))
            np.testing.assert_allclose(found, expected[1], rtol=1e-12)
            np.testing.assert_array_equal(found, found.T)


KERNELS = [
    Gaussian(1e-3),
    Gaussian(1.0),
    Gaussian(1e6),
    Gaussian((0.3, 1.0, 0.7)),
    Matern(0.5, 1.0),
    Matern(1.5, (0.3, 1.0, 0.7)),
    DeltaGaussian((2, -1)),
    RadialFunction(np.sinc, width=3.0),
    Laplacian(0.3),
    Laplacian((0.3, 1.0, 0.7)),
    Cauchy((0.3, 1.0, 0.7)),
]


@TYPES
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_kernels_of_groups_far_apart(kernel, dtype):
    """Differences of such rows are exact, so that the kernel is that of the rows brought near to each other."""
    near = np.random.default_rng(0).integers(-8, 8, (30, 3)) / 4
    far = near + np.repeat([0.0, 2.0**20], 15)[:, None]
    found, expected = kernel(far.astype(dtype)), kernel(near)
    same = np.kron(np.eye(2), np.ones((15, 15))) > 0
    np.testing.assert_allclose(found[same], expected[same], atol=1e-12 if dtype == np.float64 else 1e-6)
    assert (np.diag(found) == np.diag(kernel(near[:1]))[0].astype(dtype)).all()
    if kernel.takes_sparse and not isinstance(kernel, Laplacian):
        np.testing.assert_allclose(kernel(csr_array(far.astype(dtype))), found, atol=1e-7)


@pytest.mark.parametrize("form", [csr_array, lambda X: X])
def test_sparse_rows_and_a_width_for_each_column_of_the_one_norm(form):
    X, kernel = groups(30, 20, 1e12), Laplacian(tuple(np.geomspace(0.1, 1.7, 20)))
    np.testing.assert_allclose(kernel(csr_array(X), form(X[::2])), kernel(X, X[::2]), atol=1e-12)


def test_values_do_not_depend_on_the_other_rows():
    X, kernel = groups(30, 20, 1e9), Gaussian(2.0)
    whole = kernel(X)
    np.testing.assert_allclose(kernel(X[:7], X), whole[:7], atol=1e-12)
    np.testing.assert_allclose(kernel(X, X[:1]), whole[:, :1], atol=1e-12)
    np.testing.assert_array_equal(kernel(X, X), whole)


def two_places():
    """Equal rows, apart by 1,000 and by 2^27, and targets of their places within the groups."""
    rng = np.random.default_rng(0)
    near, y = rng.integers(-64, 64, (60, 2)) / 32, rng.standard_normal(60)
    return [near + np.repeat([0.0, far], 30)[:, None] for far in (1000.0, 2.0**27)], y


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky"])
@TYPES
def test_nystroem_of_groups_far_apart(landmarks, dtype):
    near = np.random.default_rng(0).integers(-64, 64, (200, 2)) / 32
    errors = []
    for far in (100.0, 2.0**18 if dtype == np.float32 else 2.0**27):
        X = (near + np.repeat([0.0, far], 100)[:, None]).astype(dtype)
        K = Gaussian(1.0)(X.astype(np.float64))
        found = Nystroem(Gaussian(1.0), 60, landmarks=landmarks, random_state=0).fit(X).kernel_matrix(X)
        errors.append(np.linalg.norm(found - K) / np.linalg.norm(K))
    assert errors[1] < 1.1 * errors[0]


def test_exact_learners_of_groups_far_apart():
    rows, y = two_places()
    near, far = (ExactKRR(Gaussian(0.5), alphas=1e-3).fit(X, y).predict(X) for X in rows)
    np.testing.assert_allclose(far, near, atol=1e-9)
    near, far = (ExactKernelSVC(Gaussian(0.5)).fit(X, y > 0).decision_function(X) for X in rows)
    np.testing.assert_allclose(far, near, atol=1e-9)


@FORMS
@pytest.mark.parametrize("far", [0.0, 2.0**27, 1e12])
def test_the_distances_of_a_domain(form, far):
    X = groups(40, 5, far)
    np.testing.assert_allclose(Domain.of(form(X)).distances, np.sort(pdist(X)), rtol=1e-11)
