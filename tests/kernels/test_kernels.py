"""Exact kernels against scikit-learn, closed forms, and their own other forms."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
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
    assert kernel(U.astype(np.float32)).shape == (12, 12)


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
        (lambda: Gaussian(0), "sigma must be a positive number"),
        (lambda: Gaussian(float("nan")), "sigma must be a positive number"),
        (lambda: Laplacian(-1), "gamma"),
        (lambda: Matern(nu=0), "nu"),
        (lambda: SphericalPolynomial(a=1.9), "a must be at least 2"),
        (lambda: SphericalPolynomial(p=0), "p must be an integer of at least 1"),
        (lambda: SphericalPolynomial(p=1.5), "p must be an integer"),
        (lambda: Polynomial(coef0=-1), "coef0"),
        (lambda: DeltaGaussian((1,), (1, 2)), "as many coefficients as sigmas"),
        (lambda: DeltaGaussian((1, 0), (1, 2)), "not zero"),
        (lambda: ArcCosine(2), "order must be 0 or 1"),
        (lambda: NeuralTangent(0), "depth"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_profile_of_another_shape_is_an_error():
    with pytest.raises(ValueError, match="profile returned shape"):
        RadialFunction(lambda z: 1.0)(X)


def test_every_public_name_loads():
    for name in rflib.kernels.__all__:
        assert getattr(rflib.kernels, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Gausian'"):
        rflib.kernels.Gausian  # noqa: B018
