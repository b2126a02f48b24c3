"""DIGMM: mixtures of either part of the signed measure."""

import numpy as np
import pytest
from scipy.special import gammainc
from sklearn.preprocessing import normalize

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.maps.digmm import DIGMM
from rflib.maps.fourier import FourierFeatures
from rflib.measures.digmm import digmm, scale_mixture
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure


def domain(d: int) -> Domain:
    return Domain(d, 2.0, np.linspace(0, 2, 101)[1:])


@pytest.mark.parametrize("d", [1, 16, 200])
def test_mixture_of_scales_has_its_distribution(d):
    part = scale_mixture(1.0, d, np.array([0.3, 0.7]), np.array([0.1, 2.0]))
    r = np.array([0.05, 0.1, 1.0, 2.0, 3.0]) * np.sqrt(d)
    cdf = 0.3 * gammainc(d / 2, (r / 0.1) ** 2 / 2) + 0.7 * gammainc(d / 2, (r / 2) ** 2 / 2)
    np.testing.assert_allclose(np.interp(r, part.radii, part.cdf), cdf, atol=1e-4)


@pytest.mark.parametrize("d", [2, 16])
def test_finds_the_gaussians_of_a_mixture(d):
    kernel = DeltaGaussian((1, 1), (1, 3))
    z = np.linspace(0, 8, 41)
    measure = digmm(kernel, domain(d))
    assert measure.negative is None
    np.testing.assert_allclose(measure.profile(z), kernel.at_distance(z), atol=0.03)


@pytest.mark.parametrize("d", [16, 256])
def test_parts_have_the_masses_of_the_signed_measure(d):
    kernel = DeltaGaussian()
    measure, exact = digmm(kernel, domain(d)), exact_measure(kernel, d)
    assert measure.positive.mass == exact.positive.mass
    assert measure.negative.mass == exact.negative.mass
    z = np.linspace(0, 2, 21)
    np.testing.assert_allclose(measure.profile(z), kernel.at_distance(z), atol=1e-3)


@pytest.mark.parametrize("p", [3, 10])
def test_polynomial_kernel_is_represented_with_a_small_bias(p):
    kernel = SphericalPolynomial(4, p)
    z = np.linspace(0, 2, 41)
    assert np.abs(digmm(kernel, domain(16)).profile(z) - kernel.at_distance(z)).max() < 0.05


def test_is_a_function_of_its_arguments():
    one, other = (digmm(DeltaGaussian(), domain(3)) for _ in range(2))
    np.testing.assert_array_equal(one.positive.radii, other.positive.radii)
    np.testing.assert_array_equal(one.negative.cdf, other.negative.cdf)


def test_works_for_one_feature_of_the_paper():
    X = np.random.default_rng(0).standard_normal((20, 5))
    features = DIGMM(DeltaGaussian(), n_components=4, random_state=0)
    assert features.columns_per_s == 4
    assert features.fit_transform(X).shape == (20, 4)
    assert sorted(features.signature_) == [-1, -1, 1, 1]


@pytest.mark.parametrize(
    "options", [{"n_components": 0}, {"n_components": 9, "n_draws": 5}, {"n_components": "5"}]
)
def test_errors(options):
    with pytest.raises(ValueError, match="n_components"):
        digmm(DeltaGaussian(), domain(3), **options)


UNIT = normalize(np.random.default_rng(1).standard_normal((200, 6)))


def as_run(kernel, n_components, seed=0):
    return DIGMM(kernel, n_components, measure="digmm_reference", random_state=seed).fit(UNIT)


def test_the_authors_procedure_has_one_set_of_features_for_a_seed_whatever_the_kernel():
    first, again, other = (as_run(SphericalPolynomial(3, 1), 48, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.frequencies_, again.frequencies_)
    np.testing.assert_array_equal(first.frequencies_, as_run(DeltaGaussian(), 48).frequencies_)
    assert not np.array_equal(first.frequencies_, other.frequencies_)
    assert (first.weights_ == 1 / 24).all() and (first.signature_ == 1).all()
    for measure in ("digmm_reference", {"type": "digmm_reference"}):
        assert DIGMM(DeltaGaussian(), measure=measure).columns_per_s == 2
        assert hasattr(DIGMM(SphericalPolynomial(3, 1), measure=measure), "partial_fit")


def test_the_authors_procedure_tends_to_a_gaussian_of_the_difference_of_two_standard_normals():
    """The standard deviation of 4,000 frequencies' share of a matrix is .011; the bound is five of them."""
    fitted = as_run(SphericalPolynomial(3, 1), 8000)
    np.testing.assert_allclose(fitted.kernel_matrix(UNIT), Gaussian(1 / np.sqrt(2))(UNIT), atol=0.055)


@pytest.mark.parametrize(
    ("n_components", "options", "message"),
    [
        (22, {}, "at least 2 d = 12 frequencies.*Use n_components of at least 24"),
        (48, {"radii": "stratified"}, "directions='iid' and radii='iid'"),
        (48, {"directions": "orthogonal"}, "directions='iid' and radii='iid'"),
    ],
)
def test_the_authors_procedure_has_limits(n_components, options, message):
    with pytest.raises(ValueError, match=message):
        FourierFeatures(DeltaGaussian(), n_components, measure="digmm_reference", **options).fit(UNIT)
