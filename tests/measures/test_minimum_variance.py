"""Minimum-variance measures: the bias bound holds, and the predicted error is the one that comes out."""

import numpy as np
import pytest

from rflib.frequencies.sample import sample_frequencies
from rflib.kernels.arc_cosine import ArcCosine
from rflib.kernels.base import RadialKernel
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.kernels.radial_function import RadialFunction
from rflib.measures.domain import Domain
from rflib.measures.minimum_variance import minimum_variance


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
]


def name(value: object) -> str:
    return type(value).__name__ if isinstance(value, RadialKernel) else repr(value)


def domain(d: int, zmax: float) -> Domain:
    rng = np.random.default_rng(d)
    return Domain(d, zmax, np.sort(zmax * rng.beta(6, 4, 500)))


@pytest.mark.parametrize(("kernel", "d", "zmax"), CASES, ids=name)
def test_bias_is_within_its_bound_everywhere(kernel: RadialKernel, d, zmax):
    z = np.linspace(0, zmax, 7001)
    exact = kernel.at_distance(z)
    ladder = minimum_variance(kernel, domain(d, zmax))
    bounds = [rung.bias_bound for rung in ladder.rungs]
    for rung in ladder.rungs:
        assert np.abs(rung.profile(z) - exact).max() <= 1.01 * rung.bias_bound + 1e-12 * np.abs(exact).max()
        assert rung.total_mass == pytest.approx(np.abs(rung.weights).sum())
    assert min(bounds) < 3e-2 * np.abs(exact).max()


@pytest.mark.parametrize(("n", "directions"), [(16, "orthogonal"), (200, "orthogonal"), (40, "iid")])
@pytest.mark.parametrize(("kernel", "d", "zmax"), CASES[:3], ids=name)
def test_predicted_error_is_the_error(kernel, d, zmax, n, directions):
    """Mean squared error over 400 draws within 6 standard errors: one false alarm in about 10^8."""
    block = d if directions == "orthogonal" else 1
    measure = minimum_variance(kernel, domain(d, zmax)).for_frequencies(n, block, by_atom=True)
    rng = np.random.default_rng(n)
    squares = np.empty(400)
    for i in range(len(squares)):
        f = sample_frequencies(measure, n, directions=directions, radii="stratified", rng=rng)
        estimate = f.weights @ np.cos(np.outer(f.vectors[:, 0], measure.distances))
        squares[i] = np.mean((estimate - measure.values) ** 2)
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - measure.predicted_error(n, block) ** 2) < 6 * error


def test_more_frequencies_choose_a_closer_fit():
    ladder = minimum_variance(SphericalPolynomial(4, 10), domain(16, 2.0))
    errors = [ladder.for_frequencies(n, 16).predicted_error(n, 16) for n in (32, 128, 512, 2048)]
    assert np.all(np.diff(errors) < 0)
    few, many = (ladder.for_frequencies(n, 16) for n in (32, 1_000_000))
    assert many.bias_bound < few.bias_bound


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        (lambda z: np.where(z > 1, np.nan, 1.0), r"is not finite on the distances \[0, 2\]"),
        (np.zeros_like, "is zero on the distances"),
        (lambda z: 1.0, "returned shape"),
    ],
)
def test_profiles_that_cannot_be_fitted(profile, message):
    with pytest.raises(ValueError, match=message):
        minimum_variance(RadialFunction(profile), domain(3, 2.0))
