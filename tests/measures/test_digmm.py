"""DIGMM: mixtures of either part of the signed measure."""

import numpy as np
import pytest
from scipy.special import gammainc

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.maps.digmm import DIGMM
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
    with pytest.raises(ValueError, match="1 <= n_components <= n_draws"):
        digmm(DeltaGaussian(), domain(3), **options)
