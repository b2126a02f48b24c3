"""Exact measures: they give back their kernels, and their masses are the closed forms'."""

import numpy as np
import pytest
from scipy.special import gammainc
from scipy.stats import norm

from rflib.kernels.cauchy import Cauchy
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.laplacian import Laplacian
from rflib.kernels.matern import Matern
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.kernels.rational_quadratic import RationalQuadratic
from rflib.measures.base import ProductMeasure, RadialMeasure
from rflib.measures.exact_measures import exact_measure

RADIAL = [
    Gaussian(1.0),
    Gaussian(0.1),
    DeltaGaussian((1, -1), (1, 10)),
    DeltaGaussian((1, -2, 1.5), (0.7, 1, 4)),
    DeltaGaussian((1, 1), (1, 3)),
]


@pytest.mark.parametrize("d", [1, 16, 784])
@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_profile_is_the_kernel(kernel, d):
    largest = 6 * max(getattr(kernel, "sigmas", (getattr(kernel, "sigma", 0),)))
    z = np.concatenate([[0.0], np.geomspace(1e-2, 1, 7) * largest])
    measure = exact_measure(kernel, d)
    assert isinstance(measure, RadialMeasure)
    np.testing.assert_allclose(measure.profile(z), kernel.at_distance(z), atol=1e-6)


@pytest.mark.parametrize(("d", "tolerance"), [(1, 3e-2), (3, 1e-3), (50, 1e-4)])
@pytest.mark.parametrize("nu", [0.5, 1.5, 4])
def test_matern_profile_is_the_kernel(nu, d, tolerance):
    """In low dimensions the heavy tail oscillates far out, where the quadrature is coarse."""
    kernel = Matern(nu, 2.0)
    z = np.geomspace(0.1, 8, 12)
    np.testing.assert_allclose(exact_measure(kernel, d).profile(z), kernel.at_distance(z), atol=tolerance)


@pytest.mark.parametrize("d", [1, 3, 50])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 200.0])
def test_rational_quadratic_profile_is_the_kernel(alpha, d):
    kernel = RationalQuadratic(alpha, 2.0)
    z = np.geomspace(0.1, 20, 12)
    np.testing.assert_allclose(exact_measure(kernel, d).profile(z), kernel.at_distance(z), atol=1e-5)


@pytest.mark.parametrize("sigma", [2.0, 10.0])
def test_jordan_mass_in_one_dimension(sigma):
    """N(0, 1) - N(0, 1/sigma^2) changes sign once, where the two densities cross."""
    crossing = np.sqrt(2 * np.log(sigma) / (sigma**2 - 1))
    mass = 2 * (norm.sf(crossing) - norm.sf(sigma * crossing))
    measure = exact_measure(DeltaGaussian((1, -1), (1, sigma)), 1)
    assert measure.positive.mass == pytest.approx(mass, rel=1e-12)
    assert measure.negative.mass == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize("d", [2, 784])
@pytest.mark.parametrize(("a", "b"), [(1, -1), (1, -0.3), (2, -5)])
def test_jordan_masses_are_differences_of_chi_distributions(a, b, d):
    sigma = 1.5
    square = 2 * (d * np.log(sigma) + np.log(-b / a)) / (sigma**2 - 1)
    inner, outer = (gammainc(d / 2, s**2 * max(square, 0) / 2) for s in (1, sigma))
    positive = a * (1 - inner) + b * (1 - outer)
    negative = -(a * inner + b * outer)
    measure = exact_measure(DeltaGaussian((a, b), (1, sigma)), d)
    assert measure.positive.mass == pytest.approx(positive, rel=1e-9)
    assert (measure.negative.mass if measure.negative else 0.0) == pytest.approx(
        negative, rel=1e-9, abs=1e-12
    )
    assert measure.total_mass == pytest.approx(positive + negative, rel=1e-9)


def test_positive_mixture_has_no_negative_part():
    measure = exact_measure(DeltaGaussian((1, 2), (1, 3)), 7)
    assert measure.negative is None
    assert measure.positive.mass == pytest.approx(3)


def test_quantiles_follow_the_distribution():
    """The radius of a Gaussian's frequency is chi_d / sigma."""
    u = np.linspace(0.001, 0.999, 999)
    closed = exact_measure(Gaussian(2.0), 9).positive.quantile(u)
    table = exact_measure(DeltaGaussian((1.0,), (2.0,)), 9).positive.quantile(u)
    np.testing.assert_allclose(gammainc(4.5, (2 * closed) ** 2 / 2), u, rtol=1e-12)
    np.testing.assert_allclose(table, closed, rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "transform"),
    [
        (Laplacian(0.7), lambda z: np.exp(-0.7 * z)),
        (Cauchy(0.7), lambda z: 1 / (1 + (0.7 * z) ** 2)),
        (Gaussian(1 / 0.7), lambda z: np.exp(-0.5 * (0.7 * z) ** 2)),
    ],
    ids=["Laplacian", "Cauchy", "Gaussian"],
)
def test_coordinates_have_the_kernels_characteristic_function(kernel, transform):
    measure = exact_measure(kernel, 4)
    coordinates = measure if isinstance(measure, ProductMeasure) else measure.coordinates
    assert coordinates.dimension == 4
    w = coordinates.quantile((np.arange(400_000) + 0.5) / 400_000)
    z = np.array([0.0, 0.1, 0.5, 1.0, 3.0])
    np.testing.assert_allclose([np.cos(w * v).mean() for v in z], transform(z), atol=1e-4)


def test_kernel_without_measure_names_the_methods_to_use():
    with pytest.raises(ValueError, match=r"no exact finite spectral measure.*MVORF or SRF"):
        exact_measure(SphericalPolynomial(4, 3), 5)
