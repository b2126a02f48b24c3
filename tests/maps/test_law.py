"""Formulas for the variance of maps, and the means of biased ones; `laws.py` has the means of unbiased maps.

Every z-test is at 1e-6, as there.
"""

import numpy as np
import pytest

from rflib.kernels import DeltaGaussian, Gaussian, SphericalPolynomial
from rflib.maps import GORF, GRFF, ORF, RFF, SRF, RandomMaclaurin
from rflib.measures import Domain
from rflib.measures.construct import construct
from rflib.measures.omega import omega
from rflib.measures.variance import variance_frame, variance_orthogonal

from .laws import DRAWS, LIMIT, D

NARROW, DELTA, POLYNOMIAL = Gaussian(0.8), DeltaGaussian(sigmas=(0.7, 5)), SphericalPolynomial(a=4, p=3)


def of(cls, kernel, **options):
    return lambda columns, seed: cls(kernel, columns, random_state=seed, **options)


def estimates(make, X, y, draws=DRAWS, columns=D):
    """K_hat[0, 1:6] of many seeds, shape (draws, 5), and the exact values."""
    first = make(columns, 0).fit(X, y)
    shared = {"measure": first.measure_} if "measure" in first.get_params() else {}
    fitted = (make(columns, seed).set_params(**shared).fit(X, y) for seed in range(draws))
    values = [m.kernel_matrix(X[:6])[0, 1:] for m in fitted]
    return np.array(values), first.kernel_(X[:1], X[1:6])[0]


@pytest.mark.parametrize(
    "make",
    [
        of(SRF, POLYNOMIAL),
        of(SRF, POLYNOMIAL, layout="phase"),  # as printed, pennington2015, algorithm 1
        of(SRF, POLYNOMIAL, measure={"type": "srf", "method": "optimum"}),
        of(GRFF, POLYNOMIAL, measure="reference"),
        of(GORF, POLYNOMIAL),
    ],
)
def test_biased_methods_are_unbiased_for_their_measure(make, X, y):
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
    values, _ = estimates(of(RFF, NARROW), X, y, draws=1000)
    assert_variance(values, ((1 + k(2 * z)) / 2 - k(z) ** 2) / (D / 2))


def test_variance_of_rff_with_phases(X, y):
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    k = Gaussian(0.8).at_distance
    values, _ = estimates(of(RFF, NARROW, layout="phase"), X, y, draws=1000)
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
    values, _ = estimates(of(ORF, kernel), X, y, draws=1000, columns=2 * s)
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
    values, _ = estimates(of(ORF, NARROW, radii="paired"), X, y, draws=1000, columns=2 * s)
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
    values, _ = estimates(of(GRFF, DELTA), X, y, draws=1000)
    assert_variance(values, variance_of_grff(X))


@pytest.mark.parametrize(
    ("directions", "formula"), [("orthogonal", variance_orthogonal), ("frame", variance_frame)]
)
def test_variance_of_gorf(directions, formula, X, y):
    """luo2021, theorems 5 (its sign corrected) and 6, which says that orthogonality lowers it here."""
    z = np.linalg.norm(X[0] - X[1:6], axis=1)
    expected = formula(construct("exact", DELTA, Domain.of(X)), z, D // 4, D // 4)
    assert np.all(expected < variance_of_grff(X))
    values, _ = estimates(of(GORF, DELTA, directions=directions), X, y, draws=1000)
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
    values, exact = estimates(of(RandomMaclaurin, POLYNOMIAL), X, y, draws=1000)
    assert_variance(values, (second - exact**2) / D)


@pytest.mark.parametrize("cls", [RFF, ORF, GRFF, GORF])
def test_kernel_at_distance_zero_is_exact(cls, X):
    K = cls(Gaussian(), 20, random_state=0).fit(X).kernel_matrix(X)
    assert np.allclose(np.diag(K), 1, atol=1e-12)
