"""Exact kernels against scikit-learn, closed forms, and their own other forms."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.sparse import csr_array, issparse
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as SklearnRationalQuadratic
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

import rflib.kernels
from rflib.kernels import (
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    NeuralTangent,
    Polynomial,
    RadialFunction,
    RationalQuadratic,
    Similarity,
    SphericalPolynomial,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 4))
Y = RNG.standard_normal((7, 4))
U, V = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, Y))


def test_against_scikit_learn():
    assert np.allclose(Gaussian(1.7)(X, Y), rbf_kernel(X, Y, gamma=1 / (2 * 1.7**2)), atol=1e-12)
    assert np.allclose(Laplacian(0.3)(X, Y), laplacian_kernel(X, Y, gamma=0.3), atol=1e-12)
    assert np.allclose(Polynomial(3, 0.5, 2.0, 1.5)(X, Y), 1.5 * polynomial_kernel(X, Y, 3, 0.5, 2.0))
    for nu in (0.5, 1.5, 2.5, 0.9):
        assert np.allclose(Matern(nu, 1.3)(X, Y), SklearnMatern(1.3, nu=nu)(X, Y), atol=1e-10)
    for alpha in (0.2, 1.0, 30.0):
        expected = SklearnRationalQuadratic(1.3, alpha)(X, Y)
        assert np.allclose(RationalQuadratic(alpha, 1.3)(X, Y), expected, atol=1e-12)


def test_cauchy_is_a_product_over_the_coordinates():
    direct = np.prod(1 / (1 + 0.7**2 * (X[:, None] - Y[None]) ** 2), axis=2)
    assert np.allclose(Cauchy(0.7)(X, Y), direct)


def test_delta_gaussian_is_a_sum():
    expected = 2 * Gaussian(1)(X, Y) - 0.5 * Gaussian(3)(X, Y)
    assert np.allclose(DeltaGaussian((2, -0.5), (1, 3))(X, Y), expected)


@given(a=st.floats(2, 10), p=st.integers(1, 25))
def test_spherical_polynomial_by_distance_by_product_and_by_series(a, p):
    kernel = SphericalPolynomial(a, p)
    by_distance = kernel(U, V)
    assert np.allclose(by_distance, kernel.at_product(U @ V.T), atol=1e-10)
    powers = (U @ V.T)[..., None] ** np.arange(p + 1)
    assert np.allclose(by_distance, powers @ kernel.maclaurin(), atol=1e-10)
    assert np.all(kernel.maclaurin() >= 0)


def test_high_degrees_in_single_precision():
    """(q + t)^p alone would overflow."""
    for kernel in (SphericalPolynomial(4, 60), SphericalPolynomial(4, 300)):
        assert np.allclose(kernel(U.astype(np.float32), V.astype(np.float32)), kernel(U, V), atol=1e-4)


def test_polynomial_series():
    kernel = Polynomial(4, 0.5, 2.0, 3.0)
    t = np.linspace(-1, 1, 9)
    assert np.allclose(kernel.at_product(t), t[:, None] ** np.arange(5) @ kernel.maclaurin())


@pytest.mark.parametrize("order", [0, 1])
def test_arc_cosine_against_the_integral_over_weights(order):
    """2 E[(w.x)^n (w.y)^n 1 1], scaled to one on the diagonal (Cho & Saul 2009, eq. 1)."""
    w = np.random.default_rng(1).standard_normal((400_000, 4))
    unit = [np.maximum(w @ u, 0) ** order * (w @ u > 0) for u in (U[0], U[1])]
    scale = {0: 2, 1: 2}[order]
    samples = scale * unit[0] * unit[1]
    error = samples.std() / np.sqrt(len(samples))
    assert abs(samples.mean() - ArcCosine(order)(U[:1], U[1:2])[0, 0]) < 5 * error


def test_neural_tangent_of_one_layer():
    t = U @ V.T
    k0 = 1 - np.arccos(t) / np.pi
    k1 = (np.sqrt(1 - t**2) + t * (np.pi - np.arccos(t))) / np.pi
    assert np.allclose(NeuralTangent(1)(U, V), (t * k0 + k1) / 2)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        Laplacian(),
        Cauchy(),
        Matern(),
        RationalQuadratic(0.3),
        SphericalPolynomial(),
        ArcCosine(),
        NeuralTangent(3),
        DeltaGaussian((2, -1)),
    ],
)
def test_common_properties(kernel):
    K = kernel(U)
    assert np.allclose(K, K.T)
    assert np.allclose(K, kernel(U, U), atol=1e-7)
    assert np.allclose(np.diag(K), 1)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))


def test_delta_gaussian_is_indefinite():
    assert np.linalg.eigvalsh(DeltaGaussian()(X)).min() < -1e-3


def test_rows_off_the_sphere_are_named():
    with pytest.raises(ValueError, match=r"row 3 has norm 2.*1 of 12 rows.*normalize"):
        rows = U.copy()
        rows[3] *= 2
        SphericalPolynomial()(rows)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0), "Gaussian: sigma must be a number above 0, got 0"),
        (lambda: Gaussian(float("nan")), "sigma must be a number above 0, got nan"),
        (lambda: Gaussian("a"), "sigma must be a number above 0, got 'a'"),
        (lambda: Gaussian([1.0]), "sigma must be a number above 0"),
        (lambda: Laplacian(-1), "Laplacian: gamma must be a number above 0"),
        (lambda: Cauchy(None), "Cauchy: gamma must be a number above 0"),
        (lambda: Matern(nu=0), "Matern: nu must be a number above 0"),
        (lambda: Matern(length_scale=np.inf), "length_scale must be a number above 0"),
        (lambda: SphericalPolynomial(a=1.9), "a must be a number of at least 2"),
        (lambda: SphericalPolynomial(p=0), "p must be an integer of at least 1"),
        (lambda: SphericalPolynomial(p=2.0), "p must be an integer"),
        (lambda: Polynomial(coef0=-1), "coef0 must be a number of at least 0"),
        (lambda: Polynomial(degree=2.0), "Polynomial: degree must be an integer of at least 1, got 2.0"),
        (lambda: Polynomial(degree="2"), "degree must be an integer"),
        (lambda: DeltaGaussian((1,), (1, 2)), "coefficients must be as many numbers as sigmas"),
        (lambda: DeltaGaussian((1, 0), (1, 2)), "none of them zero"),
        (lambda: DeltaGaussian((1, "a"), (1, 2)), "coefficients must be finite numbers"),
        (lambda: DeltaGaussian((1, 1), (1, -2)), "sigmas must be one or more numbers above 0"),
        (lambda: DeltaGaussian(sigmas=3), "sigmas must be finite numbers"),
        (lambda: ArcCosine(2), "ArcCosine: order must be one of 0, 1, got 2"),
        (lambda: ArcCosine(1.0), "order must be one of 0, 1, got 1.0"),
        (lambda: NeuralTangent(0), "NeuralTangent: depth must be an integer of at least 1"),
        (lambda: NeuralTangent(2.0), "depth must be an integer of at least 1, got 2.0"),
        (lambda: RadialFunction("exp"), "profile must be a function of one array"),
        (lambda: RadialFunction(lambda x, y: x), "profile must be a function of one array"),
        (lambda: RadialFunction(np.exp, unit_norm="no"), "unit_norm must be one of True, False"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_profile_of_another_shape_is_an_error():
    with pytest.raises(ValueError, match="profile returned an array of shape"):
        RadialFunction(lambda z: 1.0)(X)


@pytest.mark.parametrize("nu", [0.01, 0.3, 0.5, 0.99999, 1, 1.5, 2.5, 7, 19.9, 20, 25, 40, 100, 200, 500])
def test_matern_at_all_orders_and_distances(nu):
    """Against mpmath; near zero K_nu overflows, and the kernel is 1."""
    z = np.array([0, 1e-300, 1e-30, 1e-11, 1e-10, 1e-8, 1e-5, 1e-3, 0.1, 0.5, 1, 3, 10, 100, 1e3])

    def exact(distance):
        t = mp.sqrt(2 * mp.mpf(nu)) * mp.mpf(distance)
        if t > 2000:
            return 0.0
        return float(2 ** (1 - mp.mpf(nu)) / mp.gamma(nu) * t**nu * mp.besselk(nu, t)) if t else 1.0

    with mp.workdps(30):
        expected = np.array([exact(float(distance)) for distance in z])
    kernel = Matern(nu)
    np.testing.assert_allclose(kernel.at_distance(z), expected, rtol=3e-13, atol=1e-14)
    single = z[3:].astype(np.float32)
    with np.errstate(all="raise", under="ignore"):
        found = kernel(np.zeros((1, 1), dtype=np.float32), single[:, None])[0]
        np.testing.assert_allclose(found, kernel.at_distance(single), rtol=1e-6, atol=1e-30)


KERNELS = [
    Gaussian(3.0),
    Laplacian(0.3),
    Cauchy(0.1),
    Matern(1.5, 2.0),
    DeltaGaussian(),
    Polynomial(3, 0.1, 1.0),
    RadialFunction(np.sinc),
    SphericalPolynomial(),
    ArcCosine(),
    NeuralTangent(),
]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "uint64", "float16", "float32", "list"])
def test_rows_of_every_type_mean_their_numbers(kernel, dtype):
    """Integers must not wrap, nor half floats overflow; float32 stays."""
    highest = 1 if kernel.unit_norm or dtype == "bool" else 100
    rows = np.eye(6)[[0, 1, 2, 0]] * highest if kernel.unit_norm else RNG.integers(0, highest + 1, (5, 4))
    given_rows = rows.tolist() if dtype == "list" else rows.astype(dtype)
    exact, found = kernel(rows.astype(float)), kernel(given_rows)
    assert found.dtype == (np.float32 if dtype == "float32" else np.float64)
    np.testing.assert_allclose(found, exact, rtol=1e-5 if dtype == "float32" else 0, atol=1e-7)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(kernel(given_rows, given_rows[:2]), exact[:, :2], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(exponent=st.floats(-20, 20))
@settings(max_examples=25)
def test_the_unit_of_the_rows_does_not_matter(dtype, exponent):
    """Squares of such rows leave float32."""
    unit = 10.0**exponent
    rows = (X * unit).astype(dtype)
    for kernel, plain in (
        (Gaussian(2 * unit), Gaussian(2)),
        (Laplacian(0.3 / unit), Laplacian(0.3)),
        (Cauchy(0.4 / unit), Cauchy(0.4)),
        (Matern(1.5, unit), Matern(1.5)),
        (DeltaGaussian(sigmas=(unit, 3 * unit)), DeltaGaussian(sigmas=(1, 3))),
        (RadialFunction(lambda z: np.exp(-z / unit)), RadialFunction(lambda z: np.exp(-z))),
    ):
        np.testing.assert_allclose(kernel(rows), plain(X), atol=2e-6 if dtype == "float32" else 1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0],), "Expected 2D array"),
        (([[1.0, np.nan]],), "contains NaN"),
        (([[1.0]], [[np.inf]]), "contains infinity"),
        (([[1.0, 2.0]], [[1.0]]), "Incompatible dimension"),
        (([["a"]],), "could not convert string"),
        (
            (np.full((2, 2), 1e20, dtype=np.float32),),
            "computed NaN or infinity in float32 .* 1e.20.*as float64",
        ),
        ((np.full((2, 2), 1e200),), "computed NaN or infinity in float64 from numbers as large as 1e"),
    ],
)
def test_rows_that_a_kernel_cannot_take(arguments, message):
    with pytest.raises(ValueError, match=message):
        Polynomial()(*arguments)


def test_a_profile_without_a_name_is_pickled_by_value():
    kernel = RadialFunction(lambda z: np.exp(-z))
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(X), kernel(X))
    assert deepcopy(kernel) == kernel
    assert pickle.loads(pickle.dumps(RadialFunction(np.sinc))) == RadialFunction(np.sinc)


def test_every_public_name_loads():
    for name in rflib.kernels.__all__:
        assert getattr(rflib.kernels, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Gausian'"):
        rflib.kernels.Gausian  # noqa: B018


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_the_diagonal_is_that_of_the_matrix(container):
    X = np.random.default_rng(0).standard_normal((40, 3))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    similarity = Similarity(lambda A, B: np.asarray((A @ B.T).toarray() if issparse(A) else A @ B.T) ** 3)
    for kernel in (
        *(Gaussian((1.0, 2, 3)), DeltaGaussian(coefficients=(2, -1)), Matern(), Laplacian(), Cauchy()),
        *(Polynomial(3, coef0=1.0), SphericalPolynomial(), ArcCosine(), NeuralTangent(), similarity),
    ):
        rows = unit if kernel.unit_norm else X
        if kernel.takes_sparse or container is np.asarray:
            np.testing.assert_allclose(
                kernel.diagonal(container(rows)), np.diagonal(kernel(container(rows))), atol=1e-12
            )
