"""RandomMaclaurin, TensorSketch, PolySketch and CRAFT: their law, single precision, blocks of rows."""

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import norm
from sklearn.kernel_approximation import PolynomialCountSketch

import rflib.maps.craft
import rflib.maps.poly_sketch
import rflib.maps.tensor_sketch
from rflib.kernels import Polynomial, SphericalPolynomial
from rflib.kernels.base import DotProductKernel
from rflib.maps import CRAFT, SRF, PolySketch, RandomMaclaurin, TensorSketch

from .conftest import sphere

# Each z-test is at this rate, and there are less than a hundred in the file: family-wise below 1e-4.
LIMIT = norm.isf(1e-6 / 2)


def variance_and_error(values):
    """Sample variances along the first axis, and their standard errors from the fourth moments."""
    centred = values - values.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    return variance, np.sqrt(((centred**4).mean(axis=0) - variance**2) / len(values))


def mean_square(x, Y):
    """E (x^T s s^T y)^2 for random signs s, and likewise D E <sketch x, sketch y>^2 less the square's share."""
    return (x**2).sum() * (Y**2).sum(axis=1) + 2 * (Y @ x) ** 2 - 2 * (Y**2) @ x**2


@dataclass(frozen=True)
class Signed(DotProductKernel):
    """1 - t/2 - 2 t^3: a series with negative and missing coefficients."""

    coefficients: ClassVar[tuple] = (1.0, -0.5, 0.0, -2.0)

    def at_product(self, t):
        return np.polynomial.polynomial.polyval(t, self.coefficients)

    def maclaurin(self):
        return np.array(self.coefficients)


def test_maclaurin_of_a_signed_series():
    X = sphere(6, 5)
    a, P = np.array(Signed.coefficients), np.array([8, 4, 0, 1]) / 13
    fitted = [RandomMaclaurin(Signed(), 30, random_state=seed).fit(X) for seed in range(1000)]
    assert all(np.array_equal(m.signature_ < 0, m.degrees_ > 0) for m in fitted)
    values = np.array([m.kernel_matrix(X[:1], X[1:])[0] for m in fitted])
    exact = Signed()(X[:1], X[1:])[0]
    error = values.std(axis=0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - exact) < LIMIT * error)
    powers = mean_square(X[0], X[1:])[:, None] ** np.array([0, 1, 3])
    used = P > 0
    expected = (powers @ (a[used] ** 2 / P[used]) - exact**2) / 30
    variance, error = variance_and_error(values)
    assert np.all(np.abs(variance - expected) < LIMIT * error)


def test_maclaurin_draws_only_degrees_of_the_series():
    m = RandomMaclaurin(Polynomial(degree=4, coef0=0), 20, random_state=0).fit(sphere(5, 3))
    assert set(m.degrees_) == {4}


def test_variance_of_a_count_sketch():
    """p = 1: Var = (|x|^2 |y|^2 + <x, y>^2 - 2 sum_i x_i^2 y_i^2) / D with the constant as a coordinate."""
    X = np.hstack([np.random.default_rng(0).standard_normal((6, 5)), np.full((6, 1), np.sqrt(0.5))])
    fitted = (
        TensorSketch(Polynomial(1, 1.0, 0.5), 7, random_state=seed).fit(X[:, :5]) for seed in range(700)
    )
    values = np.array([m.kernel_matrix(X[:1, :5], X[1:, :5])[0] for m in fitted])
    expected = (mean_square(X[0], X[1:]) - (X[1:] @ X[0]) ** 2) / 7
    variance, error = variance_and_error(values)
    assert np.all(np.abs(variance - expected) < LIMIT * error)


def test_tensor_sketch_has_the_law_of_scikit_learns():
    """Means against the kernel, variances against each other, by z-tests."""
    X, kernel = sphere(6, 5), Polynomial(3, 0.8, 1.0)
    draws = {"ours": [], "theirs": []}
    for seed in range(600):
        ours = TensorSketch(kernel, 16, random_state=seed).fit(X)
        theirs = PolynomialCountSketch(degree=3, gamma=0.8, coef0=1, n_components=16, random_state=seed)
        draws["ours"].append(ours.kernel_matrix(X[:1], X[1:])[0])
        Z = theirs.fit_transform(X)
        draws["theirs"].append(Z[1:] @ Z[0])
    spread = {}
    for name, rows in draws.items():
        values = np.array(rows)
        bias = values.mean(axis=0) - kernel(X[:1], X[1:])[0]
        assert np.all(np.abs(bias) < LIMIT * values.std(axis=0) / np.sqrt(len(values)))
        spread[name] = variance_and_error(values)
    (ours, e), (theirs, f) = spread["ours"], spread["theirs"]
    assert np.all(np.abs(ours - theirs) < LIMIT * np.hypot(e, f))


@pytest.mark.parametrize("p", [1, 2, 3, 6, 7])
def test_poly_sketch_is_a_tree_of_sketches(p):
    """Against matrices: those of the leaves, and at each node rows of a Kronecker product."""
    X, D, m = sphere(6, 3), 11, 16
    fitted = PolySketch(Polynomial(p, 0.8, 0.5, scale=1.7), D, random_state=0).fit(X)
    vector = 1.7 ** (0.5 / p) * np.hstack([np.sqrt(0.8) * X, np.full((6, 1), np.sqrt(0.5))])
    level = []
    for buckets, signs in zip(fitted.hashes_, fitted.signs_, strict=True):
        leaf = np.zeros((4, m if p > 1 else D))
        leaf[np.arange(4), buckets] = signs
        level.append(vector @ leaf)
    nodes = iter(zip(fitted.node_signs_, fitted.node_places_, strict=True))
    while len(level) > 1:
        above, size = [], m if len(level) > 2 else D
        while len(level) > 1:
            u, w, *level = level
            (signs, others), (i, j) = next(nodes)
            H = hadamard(m)
            node = np.kron(H * signs, H * others)[i[:size] * m + j[:size]] / np.sqrt(size)
            above.append(np.einsum("ni,nj->nij", u, w).reshape(6, -1) @ node.T)
        level = above + level
    assert next(nodes, None) is None
    np.testing.assert_allclose(fitted.transform(X), level[0], atol=1e-12)


def test_a_node_of_poly_sketch_is_unbiased_over_all_of_its_draws():
    X = np.random.default_rng(3).standard_normal((2, 1))
    fitted = PolySketch(Polynomial(2, 1.0, 0.7), 2, random_state=0).fit(X)
    fitted.hashes_ = np.array([[0, 1], [0, 1]])
    values = []
    for signs in itertools.product([-1, 1], repeat=4):
        for i, j in itertools.product(itertools.permutations(range(2)), repeat=2):
            fitted.node_signs_ = np.array(signs, dtype=np.int8).reshape(1, 2, 2)
            fitted.node_places_ = np.array([[i, j]])
            values.append(fitted.kernel_matrix(X))
    np.testing.assert_allclose(np.mean(values, axis=0), Polynomial(2, 1.0, 0.7)(X), rtol=1e-12)


def test_variance_of_poly_sketch_grows_in_proportion_to_the_degree():
    """From degree 4 to degree 16 about fourfold; that of TensorSketch grows about 3^12-fold on the diagonal."""
    X = sphere(30, 5)

    def variance(cls, p):
        kernel = Polynomial(p, coef0=0.0)
        draws = (cls(kernel, 256, random_state=seed).fit(X) for seed in range(100))
        return np.mean([(np.diag(drawn.kernel_matrix(X)) - 1) ** 2 for drawn in draws])

    assert variance(PolySketch, 16) < 8 * variance(PolySketch, 4)
    assert variance(TensorSketch, 16) > 100 * variance(TensorSketch, 4)


@pytest.mark.parametrize("cls", [RandomMaclaurin, TensorSketch, PolySketch])
@pytest.mark.parametrize("p", [1, 20, 60])
def test_high_degrees_in_single_precision(cls, p):
    X = sphere(8, 5)
    m = cls(SphericalPolynomial(4, p), 64, random_state=0).fit(X)
    Z, single = m.transform(X), m.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - Z).max() < 1e-4 * np.abs(Z).max()


def test_craft_projects_its_base_by_signs():
    """Given the base's features u and v, the variance over the signs is that of a random projection."""
    X = sphere(6, 5)
    m = CRAFT(RandomMaclaurin(SphericalPolynomial(4, 3)), 10, n_components_up=1100, random_state=0).fit(X)
    up = m.base_.transform(X)
    values = []
    for seed in range(1000):
        m.projection_seed_ = np.array([seed, 1, 2, 3], dtype=np.uint64)
        values.append(m.kernel_matrix(X[:1], X[1:])[0])
    values = np.array(values)
    bias = values.mean(axis=0) - up[1:] @ up[0]
    assert np.all(np.abs(bias) < LIMIT * values.std(axis=0) / np.sqrt(len(values)))
    expected = (mean_square(up[0], up[1:]) - (up[1:] @ up[0]) ** 2) / 10
    variance, error = variance_and_error(values)
    assert np.all(np.abs(variance - expected) < LIMIT * error)


def test_craft_keeps_a_seed_in_place_of_the_projection():
    X = sphere(10, 4)
    m = CRAFT(TensorSketch(SphericalPolynomial(4, 3)), 512, random_state=0).fit(X)
    assert m.base_.n_components_ == 2**14
    assert sum(array.nbytes for array in m.state().values()) < 512 * 2**14 / 8 / 4


def test_craft_takes_kernel_and_parameters_from_its_base():
    m = CRAFT(SRF(SphericalPolynomial(4, 3)), 8, n_components_up=64, random_state=0)
    assert m.kernel == SphericalPolynomial(4, 3)
    assert m.set_params(base__layout="phase").fit(sphere(10, 4)).base_.layout == "phase"
    assert m.base.n_components == 100


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_components", [1, 2, 7, 64])
def test_products_and_fast_transforms_give_the_same_sketch(n_components, dtype, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((40, 9)).astype(dtype)
    sketch = TensorSketch(Polynomial(3, coef0=1.0), n_components, random_state=0).fit(rows)
    monkeypatch.setattr(rflib.maps.tensor_sketch, "_BLOCK_ELEMENTS", 7 * n_components)
    found = []
    for bound in (0, 100):
        monkeypatch.setattr(rflib.maps.tensor_sketch, "_DENSE_BELOW", bound)
        found.append(sketch.transform(rows))
        assert found[-1].dtype == dtype
    scale = np.abs(found[0]).max()
    np.testing.assert_allclose(*found, rtol=0, atol=scale * (1e-5 if dtype == "float32" else 1e-13))
