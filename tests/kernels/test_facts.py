"""What each kernel says of itself is so: on random rows, against brute force and other kernels."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group

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
    SphericalPolynomial,
)

KERNELS = [
    Gaussian(1.3),
    Laplacian(0.4),
    Cauchy(0.7),
    Matern(0.7, 1.5),
    Matern(2.5, 1.5),
    RationalQuadratic(0.8, 1.2),
    DeltaGaussian((1, -0.5), (1, 3)),
    DeltaGaussian((1, 2), (1, 3)),
    Polynomial(3, 0.5, 1.0, 2.0),
    Polynomial(2),
    SphericalPolynomial(3.0, 4),
    ArcCosine(0),
    ArcCosine(1),
    NeuralTangent(2),
    RadialFunction(np.cos),
]
ROWS = np.random.default_rng(0).standard_normal((40, 3))
ROTATION = ortho_group.rvs(3, random_state=0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_what_a_kernel_says_of_itself_is_so(kernel):
    X = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True) if kernel.unit_norm else ROWS
    K, same = kernel(X), {"rtol": 1e-8, "atol": 1e-10}
    values = np.linalg.eigvalsh(K)
    if kernel.definite_on == "all" or (kernel.definite_on == "sphere" and kernel.unit_norm):
        assert values[0] > -1e-10 * values[-1]
    else:
        assert kernel.definite_on is None and values[0] < -1e-3 * values[-1]
    assert kernel.is_stationary == (np.ptp(np.diag(K)) < 1e-7)
    assert kernel.is_rotation_invariant == np.allclose(kernel(X @ ROTATION), K, **same)
    if kernel.is_radial:
        np.testing.assert_allclose(kernel.at_distance(cdist(X, X)), K, rtol=1e-6, atol=1e-6)
    if kernel.is_product:
        np.testing.assert_allclose(kernel.on_line(X[:, None] - X).prod(axis=2), K, **same)
    if kernel.is_dot_product:
        np.testing.assert_allclose(np.polynomial.Polynomial(kernel.maclaurin())(X @ X.T), K, **same)
    if (polynomial := kernel.as_polynomial()) is not None:
        np.testing.assert_allclose(polynomial(X), K, **same)
    if kernel.matern_order is not None:
        near = Matern(min(kernel.matern_order, 1e6), kernel.single_width)
        np.testing.assert_allclose(near(X), K, rtol=1e-4)
    assert kernel.is_gaussian == isinstance(kernel, Gaussian)


def test_the_absolute_kernel_of_a_sum_is_definite_and_spans_it():
    kernel = DeltaGaussian((1, -0.5), (1, 3))
    assert kernel.absolute() == DeltaGaussian((1, 0.5), (1, 3))
    assert kernel.absolute().definite_on == "all"
    assert Gaussian(2.0).absolute() == Gaussian(2.0)
