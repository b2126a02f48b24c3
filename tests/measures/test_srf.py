"""SRF's fits: gradient, the paper's bound, and the optimum over all probability measures."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import erf

from rflib.kernels.arc_cosine import NeuralTangent
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.matern import Matern
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.kernels.radial_function import RadialFunction
from rflib.maps import GORF, MVORF, SRF
from rflib.measures.base import DiscretePart, TablePart
from rflib.measures.domain import Domain
from rflib.measures.srf import GaussianFit, fit_loss, srf

CASES = [(4, p, d) for p in (3, 7, 10, 20) for d in (123, 256, 5000)] + [(3, 1, d) for d in (13, 16, 22, 256)]

# a, p, d, loss and norm of the optimum (SPEC 10).
OPTIMA = [
    (4, 3, 256, 4.72e-5, 10.218),
    (4, 7, 256, 7.01e-5, 15.458),
    (4, 10, 256, 5.53e-5, 18.357),
    (4, 20, 256, 1.39e-5, 25.632),
    (3, 1, 13, 8.84e-5, 1.8335),
    (3, 1, 16, 9.30e-5, 2.0381),
    (3, 1, 22, 9.89e-5, 2.3957),
    (3, 1, 256, 1.150e-4, 8.2258),
]


def domain(d: int, zmax: float = 2.0) -> Domain:
    return Domain(d, zmax, np.linspace(0, zmax, 101)[1:])


def test_loss_by_adaptive_quadrature_and_in_closed_form():
    kernel, gaussian = SphericalPolynomial(4, 10), Gaussian(4 / np.sqrt(20))
    squared = integrate.quad(
        lambda z: (kernel.at_distance(z) - gaussian.at_distance(z)) ** 2, 0, 2, epsabs=1e-15
    )[0]
    assert fit_loss(kernel, gaussian.at_distance, 2.0) == pytest.approx(squared / 2, rel=1e-9)
    closed = np.sqrt(np.pi) * gaussian.sigma / 4 * erf(2 / gaussian.sigma)
    assert fit_loss(gaussian, np.zeros_like, 2.0) == pytest.approx(closed, rel=1e-12)
    assert fit_loss(RadialFunction(np.ones_like), np.zeros_like, 3.0) == pytest.approx(1.5)


@pytest.mark.parametrize(("d", "n"), [(1, 3), (16, 10), (256, 10)])
def test_gradient_against_finite_differences(d, n):
    rng = np.random.default_rng(d)
    x, weights = np.polynomial.legendre.leggauss(20)
    z = x + 1
    fit = GaussianFit(d, z, weights, SphericalPolynomial(4, 3).at_distance(z), sigma=0.5)
    parameters = np.concatenate([rng.uniform(-0.3, 1, n), rng.uniform(-1, 1, n)])
    _, gradient = fit.loss_and_gradient(parameters)
    step = 1e-6
    numeric = [
        (fit.loss_and_gradient(parameters + e)[0] - fit.loss_and_gradient(parameters - e)[0]) / (2 * step)
        for e in step * np.eye(2 * n)
    ]
    np.testing.assert_allclose(gradient, numeric, atol=2e-5 * np.abs(gradient).max())


def test_one_gaussian_is_represented_exactly():
    """The masses of the nodes are those of a Gaussian's norms: its transform is exp(-sigma^2 z^2)."""
    x, weights = np.polynomial.legendre.leggauss(20)
    z = x + 1
    for d in (2, 16, 784, 5000):
        fit = GaussianFit(d, z, weights, np.exp(-(0.7**2) * z**2), sigma=0.7)
        assert fit.loss_and_gradient(np.array([1.0, 0.0]))[0] < 1e-10


@pytest.mark.parametrize(("a", "p", "d"), CASES)
def test_loss_is_at_most_the_single_gaussians_and_the_papers_bound(a, p, d):
    kernel = SphericalPolynomial(a, p)
    loss = fit_loss(kernel, srf(kernel, domain(d)).profile, 2.0)
    assert loss <= fit_loss(kernel, Gaussian(a / np.sqrt(2 * p)).at_distance, 2.0)
    assert loss <= 105 / 4096 * np.sqrt(np.pi / 2) * a / p**2.5


@pytest.mark.parametrize(("a", "p", "d", "loss", "norm"), OPTIMA)
def test_optimum_is_a_single_norm(a, p, d, loss, norm):
    kernel = SphericalPolynomial(a, p)
    measure = srf(kernel, domain(d), method="optimum")
    assert isinstance(measure.positive, DiscretePart)
    assert measure.negative is None
    assert measure.positive.mass == 1
    np.testing.assert_allclose(measure.positive.radii, [norm], rtol=1e-4)
    assert fit_loss(kernel, measure.profile, 2.0) == pytest.approx(loss, rel=5e-3)


@pytest.mark.parametrize(("a", "p", "d"), CASES)
def test_ten_gaussians_reach_the_optimum(a, p, d):
    """Within 0.5 percent: a clipped sum of Gaussians can be as narrow as it likes."""
    kernel = SphericalPolynomial(a, p)
    optimum = fit_loss(kernel, srf(kernel, domain(d), method="optimum").profile, 2.0)
    assert optimum * (1 - 1e-6) <= fit_loss(kernel, srf(kernel, domain(d)).profile, 2.0) <= 1.005 * optimum


def test_optimum_in_few_dimensions_has_several_norms():
    kernel = SphericalPolynomial(4, 10)
    measure = srf(kernel, domain(16), method="optimum")
    assert len(measure.positive.radii) == 2
    assert fit_loss(kernel, measure.profile, 2.0) < 1e-8


@pytest.mark.parametrize("method", ["gaussians", "optimum"])
def test_measure_is_a_probability_times_the_kernel_at_zero(method):
    kernel = RadialFunction(lambda z: 3 * np.exp(-(z**2)))
    measure = srf(kernel, domain(8, 3.0), method=method)
    assert measure.total_mass == pytest.approx(3)
    assert measure.profile(0.0)[0] == pytest.approx(3)
    z = np.linspace(0, 3, 31)
    np.testing.assert_allclose(measure.profile(z), kernel.at_distance(z), atol=2e-4)


def test_a_gaussian_kernel_is_its_own_fit():
    measure = srf(Gaussian(1.5), domain(6, 4.0))
    assert isinstance(measure.positive, TablePart)
    assert fit_loss(Gaussian(1.5), measure.profile, 4.0) < 1e-6


def test_indefinite_kernel_gets_its_shape():
    """k(0) = 0: the kernel is fitted up to a constant."""
    kernel = DeltaGaussian((1, -1), (1, 10))
    measure = srf(kernel, domain(16, 4.0))
    z = np.linspace(0, 4, 41)
    shape = kernel.at_distance(z) - kernel.at_distance(z).min()
    assert np.abs(measure.profile(z) - shape).max() < 0.1


def test_neural_tangent_kernel():
    kernel = NeuralTangent(2)
    measure = srf(kernel, domain(50))
    assert fit_loss(kernel, measure.profile, 2.0) < 5e-5


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        (Gaussian(), {"method": "magic"}, "srf: method must be one of 'gaussians', 'optimum', got 'magic'"),
        (RadialFunction(np.zeros_like), {}, "finite and not constant"),
        (RadialFunction(lambda z: np.full_like(z, np.inf)), {}, "finite and not constant"),
        (RadialFunction(lambda z: np.where(z > 1, -np.inf, 0.0)), {}, "finite and not constant"),
        (RadialFunction(lambda z: -np.ones_like(z)), {}, "finite and not constant"),
        (DeltaGaussian((-1,), (1,)), {}, r"not positive at the distance 0 and least there, on \[0, 2\]"),
        (DeltaGaussian((-1, 1), (1, 10)), {}, "No positive measure comes near .* Use MVORF or GORF instead"),
    ],
)
def test_errors(kernel, options, message):
    with pytest.raises(ValueError, match=message):
        srf(kernel, domain(3), **options)


@pytest.mark.parametrize("other", [MVORF, GORF])
def test_the_maps_that_the_error_names_take_a_kernel_that_is_least_at_zero(other):
    kernel, X = DeltaGaussian((-1,), (1,)), np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match="Use MVORF or GORF instead of SRF"):
        SRF(kernel, 64).fit(X)
    estimate = other(kernel, 256, random_state=0).fit(X).kernel_matrix(X)
    assert np.linalg.norm(estimate - kernel(X)) < 0.3 * np.linalg.norm(kernel(X))


def test_a_kernel_that_no_sum_of_gaussians_comes_near_is_named():
    with pytest.raises(ValueError, match=r"near Matern\(nu=0.01.*\) on \[0, 2\].*method='optimum'"):
        srf(Matern(nu=0.01), domain(5))
    assert np.isfinite(srf(Matern(nu=0.01), domain(5), method="optimum").profile([0.1, 1])).all()
