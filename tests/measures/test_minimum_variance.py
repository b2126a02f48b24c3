"""Minimum-variance measures: the bias bound holds, and candidates are known by the kernel's values.

The predicted error is tested with the maps, in tests/maps/test_predicted_error.py.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import rflib.measures.minimum_variance as module
from rflib.kernels.arc_cosine import ArcCosine
from rflib.kernels.base import RadialKernel
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.matern import Matern
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.kernels.radial_function import RadialFunction
from rflib.measures.base import Sampling
from rflib.measures.digmm import digmm
from rflib.measures.domain import Domain
from rflib.measures.minimum_variance import minimum_variance, ranges_of


def wave(z):
    """A kernel of no known transform, of both signs."""
    return np.cos(2 * z) * np.exp(-z)


CASES = [
    (SphericalPolynomial(4, 3), 16, 2.0),
    (SphericalPolynomial(4, 20), 5, 2.0),
    (DeltaGaussian(), 16, 5.0),
    (ArcCosine(1), 3, 2.0),
    (RadialFunction(wave), 6, 3.0),
    (DeltaGaussian((1e-6, -3e-6), (1e3, 3e3)), 4, 4e3),
    (Matern(0.5, 0.2), 1, 4.0),
    (Matern(0.1), 3, 6.0),  # Its bias is largest at a distance of 1e-8.
    (Matern(0.2, 2.0), 1, 4.0),  # It falls steeply between zero and the first of equally spaced distances.
    (DeltaGaussian((1, -0.5), (0.01, 3)), 100, 6.0),
    pytest.param(Gaussian(1e20), 1000, 4e20, marks=pytest.mark.nightly),
]


def name(value: object) -> str:
    return type(value).__name__ if isinstance(value, RadialKernel) else repr(value)


def domain(d: int, zmax: float) -> Domain:
    rng = np.random.default_rng(d)
    return Domain(d, zmax, np.sort(zmax * rng.beta(6, 4, 500)))


@pytest.mark.parametrize(("kernel", "d", "zmax"), CASES, ids=name)
def test_bias_is_within_its_bound_everywhere(kernel: RadialKernel, d, zmax):
    """On other distances than those of the program: evenly spaced, and at every scale down to 1e-13 zmax."""
    z = zmax * np.append(np.linspace(0, 1, 3331), np.geomspace(1e-13, 1, 2222))
    exact = kernel.at_distance(z)
    candidates = minimum_variance(kernel, domain(d, zmax))
    for each in candidates.candidates:
        assert (
            np.abs(each.profile(z) - exact).max() <= 1.01 * each.bias_estimate + 1e-12 * np.abs(exact).max()
        )
        assert each.total_mass == pytest.approx(np.abs(each.weights).sum())
        assert each.zmax == candidates.zmax == zmax


@pytest.mark.parametrize(("kernel", "d", "zmax"), CASES[:6], ids=name)
def test_some_rung_is_close(kernel, d, zmax):
    bounds = [candidate.bias_estimate for candidate in minimum_variance(kernel, domain(d, zmax)).candidates]
    assert min(bounds) < 3e-2 * np.abs(kernel.at_distance(np.linspace(0, zmax, 99))).max()


def test_more_frequencies_choose_a_closer_fit():
    candidates = minimum_variance(SphericalPolynomial(4, 10), domain(16, 2.0))
    samplings = [Sampling(n, "orthogonal", "stratified") for n in (32, 128, 512, 2048, 20_000)]
    errors = [candidates.for_sampling(sampling).predicted_error(sampling) for sampling in samplings]
    assert np.all(np.diff(errors) < 0)
    few, many = (candidates.for_sampling(sampling) for sampling in (samplings[0], samplings[-1]))
    assert many.bias_estimate < few.bias_estimate


@dataclass
class Bump:
    """A profile that cannot be hashed and can be changed."""

    width: float

    def __call__(self, z):
        return np.exp(-((z / self.width) ** 2) / 2)


@pytest.fixture
def programs(monkeypatch):
    """Counts the linear programs that are solved."""
    module._candidates.cache_clear()
    solved = []
    solve = module.linprog
    monkeypatch.setattr(module, "linprog", lambda *a, **k: solved.append(1) or solve(*a, **k))
    return solved


def test_equal_profiles_solve_the_programs_once(programs):
    deltas = (1e-2, 1e-3)
    for profile in (Bump(1.0), Bump(1.0), Gaussian().at_distance, lambda z: np.exp(-(z**2) / 2)):
        minimum_variance(RadialFunction(profile), domain(3, 2.0), deltas=deltas)
    assert len(programs) == 2 * 2 * len(deltas)  # With and without small norms, for two models of sampling.
    minimum_variance(RadialFunction(Bump(1.001)), domain(3, 2.0), deltas=list(deltas))
    assert len(programs) == 2 * 2 * 2 * len(deltas)


@pytest.mark.parametrize("construction", [minimum_variance, digmm])
def test_a_profile_that_has_changed_is_another_kernel(construction):
    """What a closure refers to, or the attribute of an object, at the time of the fit is what counts."""
    z = np.linspace(0, 2, 41)

    def fit(kernel):
        measure = construction(kernel, domain(3, 2.0))
        return measure.for_sampling(Sampling(2000)).profile(z)

    width = 1.0
    closure = RadialFunction(lambda z: np.exp(-((z / width) ** 2) / 2))
    bump = Bump(1.0)
    first = fit(closure), fit(RadialFunction(bump))
    width = bump.width = 4.0
    second = fit(closure), fit(RadialFunction(bump))
    for profile, kernel in zip((*first, *second), [Gaussian(1.0)] * 2 + [Gaussian(4.0)] * 2, strict=True):
        np.testing.assert_allclose(profile, kernel.at_distance(z), atol=0.05)


def test_a_numpy_polynomial_is_a_profile():
    kernel = RadialFunction(np.polynomial.Polynomial([1, 0, -0.2]))
    for construction in (minimum_variance, digmm):
        measure = construction(kernel, domain(3, 2.0)).for_sampling(Sampling(500, "orthogonal", "stratified"))
        np.testing.assert_allclose(measure.profile([0.5, 1.5]), [0.95, 0.55], atol=0.02)


def test_an_outlier_among_few_rows_leaves_a_range_of_the_others():
    """One row of 60 takes part in 3 % of all pairs, and would be in a range of 99 % of them."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    assert len(ranges_of(Domain.of(X))) == 1
    X[0] = 1e4
    far, near = ranges_of(Domain.of(X))
    assert far > 1e4
    assert np.quantile(Domain.of(X[1:]).distances, 0.9) < near < 20


def test_a_kernel_that_is_zero_at_0_and_beyond_the_other_rows_can_be_fitted():
    """At the nodes of the largest range it is zero, but not at the distances between the rows."""
    X = np.random.default_rng(5).standard_normal((120, 5))
    X[0] = 1e5
    kernel = DeltaGaussian((1, -1), (1, 10))
    candidates = minimum_variance(kernel, Domain.of(X))
    measure = candidates.for_sampling(Sampling(500, "orthogonal", "stratified"))
    z = np.linspace(0, 5, 20)
    np.testing.assert_allclose(measure.profile(z), kernel.at_distance(z), atol=0.05)


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        (lambda z: np.where(z > 1, np.nan, 1.0), r"is not finite on the distances \[0, 2\]"),
        (np.zeros_like, r"is zero at the distances \[0, "),
        (lambda z: 1.0, "returned an array of shape"),
    ],
)
def test_profiles_that_cannot_be_fitted(profile, message):
    with pytest.raises(ValueError, match=message):
        minimum_variance(RadialFunction(profile), domain(3, 2.0))
