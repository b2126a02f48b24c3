"""Estimators against the law: their mean and variance, with a stated false-alarm rate.

Seeds are fixed, so a test that passes once passes always; the rate says how likely a right estimator would have
failed when the seeds were chosen. Family-wise it is below 1e-3: every z-test is at 1e-6 (|z| < 4.9), and there
are less than a thousand.
"""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from rflib import maps
from rflib.kernels import Gaussian, Polynomial
from rflib.maps import GORF, GRFF, ORF, RFF, RandomMaclaurin
from rflib.measures import Domain
from rflib.measures.construct import construct
from rflib.measures.omega import omega
from rflib.measures.variance import variance_frame, variance_orthogonal
from rflib.metrics import relative_frobenius_error

from .conftest import BIASED, DELTA, POLYNOMIAL, UNBIASED

LIMIT = norm.isf(1e-6 / 2)
DRAWS = 200
D = 24


def estimates(make, X, y, draws=DRAWS, columns=D):
    """K_hat[0, 1:6] of many seeds, shape (draws, 5), and the exact values."""
    first = make(columns, 0).fit(X, y)
    shared = {"measure": first.measure_} if "measure" in first.get_params() else {}
    fitted = (make(columns, seed).set_params(**shared).fit(X, y) for seed in range(draws))
    values = [m.kernel_matrix(X[:6])[0, 1:] for m in fitted]
    return np.array(values), first.kernel_(X[:1], X[1:6])[0]


@pytest.mark.parametrize("name", UNBIASED)
def test_unbiased(name, X, y):
    values, exact = estimates(UNBIASED[name], X, y)
    error = values.std(axis=0, ddof=1) / np.sqrt(DRAWS)
    assert np.all(np.abs(values.mean(axis=0) - exact) < LIMIT * error + 1e-12)


def srf_as_printed(columns, seed):
    """pennington2015, algorithm 1: a cosine with a random phase for each frequency."""
    return BIASED["SRF"](columns, seed).set_params(layout="phase")


@pytest.mark.parametrize(
    "name", ["SRF", "SRF as printed", "SRF optimum", "GRFF reference", "GORF polynomial"]
)
def test_biased_methods_are_unbiased_for_their_measure(name, X, y):
    make = {**BIASED, "SRF as printed": srf_as_printed}[name]
    values, _ = estimates(make, X, y)
    fitted = make(D, 0).fit(X)
    expected = fitted.measure_.profile(np.linalg.norm(X[0] - X[1:6], axis=1))
    error = values.std(axis=0, ddof=1) / np.sqrt(DRAWS)
    assert np.all(np.abs(values.mean(axis=0) - expected) < LIMIT * error + 1e-6)


def assert_variance(values, expected):
    """z-test of sample variances, with the fourth moment for their standard error."""
    centred = values - values.mean(axis=0)
    found = (centred**2).mean(axis=0)
    error = np.sqrt(((centred**4).mean(axis=0) - found**2) / len(values))
    assert np.all(np.abs(found - expected) < LIMIT * error + 1e-15), (found, expected, error)


def test_variance_of_rff(X, y):
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    k = Gaussian(0.8).at_distance
    values, _ = estimates(UNBIASED["RFF"], X, y, draws=1000)
    assert_variance(values, ((1 + k(2 * z)) / 2 - k(z) ** 2) / (D / 2))


def test_variance_of_rff_with_phases(X, y):
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    k = Gaussian(0.8).at_distance
    values, _ = estimates(UNBIASED["RFF phase"], X, y, draws=1000)
    assert_variance(values, (1 + k(2 * z) / 2 - k(z) ** 2) / D)


def test_variance_of_orf_in_one_block(X, y):
    """luo2021, theorem 5 with its sign corrected, by the trapezoidal rule over both norms, every fourth node."""
    d, s = X.shape[1], 6
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    kernel = Gaussian(0.8)
    k = kernel.at_distance
    r, p = (nodes[::4] for nodes in construct("exact", kernel, Domain.of(X)).positive.quadrature())
    p = p / p.sum()
    both = np.sqrt(np.add.outer(r**2, r**2))
    pair = np.array([p @ omega(d, both * distance) @ p for distance in z])
    expected = ((1 + k(2 * z)) / 2 - k(z) ** 2) / s + (s - 1) / s * (pair - k(z) ** 2)
    values, _ = estimates(lambda D, seed: ORF(kernel, D, random_state=seed), X, y, draws=1000, columns=2 * s)
    assert_variance(values, expected)


def test_variance_of_orf_with_paired_norms(X, y):
    """Half of ORF's pairs of frequencies keep independent norms, which Reid et al. couple in the others.

    The authors prove that the variance is lower at small distances.
    """
    d, s = X.shape[1], 6
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    kernel = Gaussian(0.8)
    part = construct("exact", kernel, Domain.of(X)).positive
    r, p = (nodes[::4] for nodes in part.quadrature())
    p = p / p.sum()
    u = (np.arange(2000) + 0.5) / 2000
    coupled = omega(d, np.multiply.outer(z, np.hypot(part.quantile(u), part.quantile(1 - u)))).mean(axis=1)
    free = np.array([p @ omega(d, np.hypot(r[:, None], r) * distance) @ p for distance in z])
    expected = variance_orthogonal(construct("exact", kernel, Domain.of(X)), z, s) + (coupled - free) / s
    assert np.all(coupled[z < 1.5] < free[z < 1.5])
    values, _ = estimates(UNBIASED["ORF paired"], X, y, draws=1000, columns=2 * s)
    assert_variance(values, expected)


def variance_of_grff(X):
    """luo2021, theorem 4, of the first row with the next five."""
    d, s = X.shape[1], D // 4
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    expected = np.zeros_like(z)
    for _, part in construct("exact", DELTA, Domain.of(X)).parts():
        r, p = part.quadrature()
        first, second = (omega(d, np.multiply.outer(factor * z, r)) @ p for factor in (1, 2))
        expected += part.mass**2 / s * ((1 + second) / 2 - first**2)
    return expected


def test_variance_of_grff(X, y):
    values, _ = estimates(UNBIASED["GRFF"], X, y, draws=1000)
    assert_variance(values, variance_of_grff(X))


@pytest.mark.parametrize(("name", "formula"), [("GORF", variance_orthogonal), ("GORF frame", variance_frame)])
def test_variance_of_gorf(name, formula, X, y):
    """luo2021, theorems 5 (its sign corrected) and 6, which says that orthogonality lowers it here."""
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    expected = formula(construct("exact", DELTA, Domain.of(X)), z, D // 4, D // 4)
    assert np.all(expected < variance_of_grff(X))
    values, _ = estimates(UNBIASED[name], X, y, draws=1000)
    assert_variance(values, expected)
    assert np.all(values.var(axis=0) < variance_of_grff(X))


def test_variance_of_random_maclaurin(X, y):
    a = POLYNOMIAL.maclaurin()
    P = 0.5 ** np.arange(1, len(a) + 1)
    P /= P.sum()
    x, others = X[0], X[1:6]
    t = others @ x
    m = 1 + 2 * t**2 - 2 * (others**2) @ x**2
    second = np.sum(a**2 / P * m[:, None] ** np.arange(len(a)), axis=1)
    values, exact = estimates(UNBIASED["RM"], X, y, draws=1000)
    assert_variance(values, (second - exact**2) / D)


@pytest.mark.parametrize("cls", [RFF, ORF, GRFF, GORF])
def test_kernel_at_distance_zero_is_exact(cls, X):
    K = cls(Gaussian(), 20, random_state=0).fit(X).kernel_matrix(X)
    assert np.allclose(np.diag(K), 1, atol=1e-12)


def test_law_of_random_maclaurin_of_degree_one_is_linear(X):
    """With one degree only, the mean over many columns tends to the linear kernel."""
    K = RandomMaclaurin(POLYNOMIAL, 40_000, random_state=0).fit(X).kernel_matrix(X[:10])
    assert np.abs(K - POLYNOMIAL(X[:10])).max() < 0.05


OBLIVIOUS = {
    name: getattr(maps, name)
    for name in maps.__all__
    if not any(part in name for part in ("RandomFeatureMap", "AutoMap", "CRAFT", "Leverage", "Nystroem"))
} | {
    "CRAFT": lambda kernel, D, random_state: maps.CRAFT(
        maps.TensorSketch(kernel), D, n_components_up=2 * D, random_state=random_state
    ),
    "GORF frame": lambda kernel, D, random_state: GORF(
        kernel, D, directions="frame", random_state=random_state
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly)
        if name in ("DIGMM", "MVORF", "MercerFeatures")
        else name
        for name in OBLIVIOUS
    ],
)
def test_rows_that_are_drawn_with_the_seed_of_the_map_have_no_larger_error(name):
    """There are as many frequencies as rows, so that the frequencies may be the rows. A rank test, at 1e-6."""
    d, seeds = 24, 32
    sketches = ("CRAFT", "PolySketch", "RandomMaclaurin", "TensorSketch")
    kernel = Polynomial(2, 1 / d) if name in sketches else Gaussian(5.0)
    same, other = [], []
    for seed in range(seeds):
        X = np.random.default_rng(seed).standard_normal((d, d))
        for errors, random_state in ((same, seed), (other, seed + seeds)):
            fitted = OBLIVIOUS[name](kernel, 2 * d, random_state=random_state).fit(X)
            errors.append(relative_frobenius_error(kernel(X), fitted.kernel_matrix(X)))
    assert mannwhitneyu(same, other, alternative="greater").pvalue > 1e-6
