"""Kernels of a user's own say what they are; maps and learners serve them like rflib's of the same values."""

from dataclasses import dataclass
from math import inf

import numpy as np
import pytest
from sklearn.pipeline import FeatureUnion

from rflib.kernels import Gaussian, Laplacian, Polynomial, SphericalPolynomial
from rflib.kernels.base import DotProductKernel, Kernel, RadialKernel
from rflib.learners import ExactKRR
from rflib.maps import (
    MVORF,
    QMC,
    RFF,
    SORF,
    GegenbauerFeatures,
    HilbertSpaceFeatures,
    MercerFeatures,
    Nystroem,
    OptimizedMaclaurin,
    QuadratureFeatures,
    RandomMaclaurin,
    SphericalRadialRFF,
    TaylorFeatures,
)
from rflib.measures.base import ProductMeasure
from rflib.measures.exact_measures import has_positive_measure

X = np.random.default_rng(0).standard_normal((80, 3))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


@dataclass(frozen=True)
class OwnLaplacian(Kernel):
    """exp(-gamma |x - y|_1): a product over the columns, definite, with a known spectral measure."""

    is_product = True
    is_stationary = True
    definite_on = "all"

    gamma: float = 1.0

    def on_line(self, z):
        return np.exp(-self.gamma * abs(z))

    def spectral_measure(self, dimension):
        return ProductMeasure(dimension, "cauchy", self.gamma)

    def _matrix(self, X, Y):
        Y = X if Y is None else Y
        return np.exp(-self.gamma * sum(abs(np.subtract.outer(x, y)) for x, y in zip(X.T, Y.T, strict=True)))


@dataclass(frozen=True)
class OwnGaussian(RadialKernel):
    """exp(-z^2 / 2), which says that it is the Gaussian of width 1."""

    matern_order = inf
    definite_on = "all"

    def at_distance(self, z):
        return np.exp(-0.5 * np.asarray(z) ** 2)


@dataclass(frozen=True)
class OwnSquare(DotProductKernel):
    """(1 + <x, y>)^2."""

    def at_product(self, t):
        return (1 + np.asarray(t)) ** 2

    def maclaurin(self):
        return np.array([1.0, 2.0, 1.0])


@dataclass(frozen=True)
class OnTheSphere(RadialKernel):
    """((3 + <x, y>) / 4)^3 of rows of norm one, which no positive measure represents at all distances."""

    unit_norm = True

    def at_distance(self, z):
        return (1 - np.asarray(z) ** 2 / 8) ** 3


class DefiniteOnTheSphere(OnTheSphere):
    """The same kernel, which says that it is definite."""

    definite_on = "sphere"


def features(feature_map, rows=X):
    return feature_map.set_params(random_state=0).fit(rows).transform(rows)


@pytest.mark.parametrize("make", [RFF, QMC, MercerFeatures])
def test_a_product_with_a_measure_has_the_features_of_rflibs_kernel(make):
    own, known = OwnLaplacian(0.5), Laplacian(0.5)
    assert has_positive_measure(own)
    np.testing.assert_allclose(own(X), known(X), rtol=1e-12)
    np.testing.assert_allclose(features(make(own, 32)), features(make(known, 32)), atol=1e-8)


@pytest.mark.parametrize(
    "make", [TaylorFeatures, HilbertSpaceFeatures, SORF, QuadratureFeatures, SphericalRadialRFF]
)
def test_a_gaussian_has_the_features_of_rflibs_kernel(make):
    np.testing.assert_allclose(
        features(make(OwnGaussian(), 40)), features(make(Gaussian(1.0), 40)), atol=1e-12
    )


@pytest.mark.parametrize("make", [RandomMaclaurin, GegenbauerFeatures])
def test_a_series_has_the_features_of_rflibs_kernel(make):
    known = features(make(Polynomial(2, coef0=1.0), 200))
    np.testing.assert_allclose(features(make(OwnSquare(), 200)), known, atol=1e-10)


def test_low_degrees_of_a_series_are_exact():
    fitted = OptimizedMaclaurin(OwnSquare(), 20, random_state=0).fit(X)
    np.testing.assert_allclose(fitted.kernel_matrix(X), OwnSquare()(X), atol=1e-10)


def test_a_kernel_that_is_definite_on_the_sphere_has_no_negative_signs():
    own, known = DefiniteOnTheSphere(), SphericalPolynomial(a=8**0.5, p=3)
    fitted = [MVORF(kernel, 10, random_state=0).fit(UNIT) for kernel in (own, known)]
    assert (fitted[0].signature_ == 1).all()
    errors = [np.linalg.norm(each.kernel_matrix(UNIT) - known(UNIT)) for each in fitted]
    assert errors[0] < 1.1 * errors[1]


def test_what_a_kernel_does_not_declare_is_not_assumed():
    assert not has_positive_measure(DefiniteOnTheSphere())
    for kernel, wrong in ((OnTheSphere(), RFF), (OwnSquare(), RFF), (OwnLaplacian(), TaylorFeatures)):
        with pytest.raises(ValueError, match=f"{type(kernel).__name__}.*Use .*Nystroem"):
            wrong(kernel).fit(UNIT)
    with pytest.raises(TypeError, match=r"OwnLaplacian.* is not a function of the Euclidean distance"):
        OwnLaplacian().at_distance(np.ones(1))
    with pytest.raises(TypeError, match=r"OwnGaussian.* is not a function of the inner product"):
        OwnGaussian().maclaurin()


def test_an_exact_learner_takes_it():
    y = np.sin(X[:, 0])
    own, known = (
        ExactKRR(kernel, alphas=0.01).fit(X, y).predict(X) for kernel in (OwnLaplacian(), Laplacian())
    )
    np.testing.assert_allclose(own, known, rtol=1e-8)


@pytest.mark.parametrize(
    ("combined", "words"),
    [
        (lambda a: a + a, r"no sum, product or power\..*lambda X, Y: a\(X, Y\) \+ b\(X, Y\).*FeatureUnion"),
        (lambda a: a * OwnSquare(), "no sum, product or power"),
        (lambda a: 2 * a, "no factor, constant or power. KRR chooses a ridge, which acts as a factor does"),
        (lambda a: a + 1.0, "no factor, constant or power"),
        (lambda a: a**2, "no factor, constant or power"),
    ],
)
def test_what_there_is_in_place_of_sums_and_products_is_told(combined, words):
    with pytest.raises(TypeError, match=words):
        combined(OwnGaussian())


def test_the_sum_of_kernels_is_had_in_both_ways_that_the_message_tells():
    a, b = Gaussian(1.0), Gaussian(3.0)
    by_rows = Nystroem(lambda X, Y: a(X, Y) + b(X, Y), len(X)).fit(X)
    np.testing.assert_allclose(by_rows.kernel_matrix(X), a(X) + b(X), atol=1e-6)
    Z = FeatureUnion([("a", Nystroem(a, len(X))), ("b", Nystroem(b, len(X)))]).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, a(X) + b(X), atol=1e-6)
