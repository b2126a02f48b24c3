"""QuadratureRFF, MomentMatching and SORF: what they reproduce exactly, brute force, and the size of their bias.

That QuadratureRFF is unbiased is in test_law.py. The z-tests here are at 1e-6, and there are less than twenty.
"""

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import norm

from rflib.kernels import Gaussian
from rflib.maps import ORF, RFF, SORF, MomentMatching, QuadratureRFF
from rflib.maps.walsh_hadamard import walsh_hadamard

from .conftest import sphere

LIMIT = norm.isf(1e-6 / 2)


def estimates(make, z, draws):
    """K_hat of the origin and rows at the distances z along one direction, for many draws."""
    d = 6
    rows = np.concatenate([np.zeros((1, d)), np.multiply.outer(z, sphere(1, d, seed=4)[0])])
    return np.array([make(seed).fit(rows).kernel_matrix(rows)[0, 1:] for seed in range(draws)])


@pytest.mark.parametrize(
    ("cls", "columns"), [(QuadratureRFF, 2 * 7 + 1), (QuadratureRFF, 2 * 21 + 2), (MomentMatching, 24)]
)
def test_second_moments_are_exact(cls, columns):
    """1 - z^2 / 2 up to the fourth order, in every draw: whole simplices, and whitened frequencies."""
    small = np.array([1e-3, 3e-3])
    values = estimates(lambda seed: cls(Gaussian(1.0), columns, random_state=seed), small, 20)
    assert np.abs(values - (1 - small**2 / 2)).max() < 30 * 3e-3**4
    free = estimates(lambda seed: RFF(Gaussian(1.0), columns, random_state=seed), small, 20)
    assert np.abs(free - (1 - small**2 / 2)).max() > 1e-7


def test_variance_of_one_rule():
    """By an independent simulation of the rule from its formula."""
    z, d, rng = np.array([0.5, 1.0, 2.0]), 6, np.random.default_rng(0)
    values = estimates(lambda seed: QuadratureRFF(Gaussian(1.0), 15, random_state=seed), z, 1500)
    V = np.eye(d + 1) - 1 / (d + 1)
    basis = np.linalg.svd(V)[2][:d]
    simplex = V @ basis.T * np.sqrt((d + 1) / d)
    assert np.allclose(simplex @ simplex.T, (1 + 1 / d) * np.eye(d + 1) - 1 / d)
    rule = []
    for _ in range(4000):
        rho = np.sqrt(rng.chisquare(d + 2, d + 1))
        u = rng.standard_normal(d)
        along = simplex @ (u / np.linalg.norm(u))
        rule.append(np.mean(1 + d / rho**2 * (np.cos(np.multiply.outer(z, rho * along)) - 1), axis=1))
    squares = [(v - np.exp(-(z**2) / 2)) ** 2 for v in (values, np.array(rule))]
    error = np.hypot(*(s.std(axis=0) / np.sqrt(len(s)) for s in squares))
    assert np.all(np.abs(squares[0].mean(axis=0) - squares[1].mean(axis=0)) < LIMIT * error)


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_few_columns(columns):
    X = sphere(30, 6)
    for cls in (QuadratureRFF, MomentMatching, SORF):
        assert cls(Gaussian(), columns, random_state=0).fit(X).transform(X).shape == (30, columns)


def test_moment_matching_with_few_frequencies_is_orthogonal():
    V = MomentMatching(Gaussian(2.0), 8, random_state=0).fit(sphere(10, 6)).frequencies_
    assert np.allclose(V @ V.T, 6 / 4 * np.eye(4))


@pytest.mark.parametrize("d", [1, 2, 16, 256])
def test_walsh_hadamard_is_scipys(d):
    X = np.random.default_rng(0).standard_normal((3, 2, d))
    assert np.allclose(walsh_hadamard(X), X @ hadamard(d) / np.sqrt(d))
    assert walsh_hadamard(X.astype(np.float32)).dtype == np.float32


def test_sorf_is_three_rounds_of_signs_and_hadamard():
    m = SORF(Gaussian(0.5), 2 * 11, random_state=0).fit(sphere(10, 6))
    H, blocks = hadamard(8) / np.sqrt(8), []
    for first, second, third in m.signs_.astype(float):
        blocks.append(np.sqrt(8) / 0.5 * H @ np.diag(first) @ H @ np.diag(second) @ H @ np.diag(third))
    assert np.allclose(m.frequencies_, np.concatenate(blocks)[:11, :6])


@pytest.mark.parametrize("columns", [40, 41])
def test_sorf_by_fast_transforms(columns, monkeypatch):
    X = sphere(50, 6)
    for rows, tolerance in ((X, 1e-12), (X.astype(np.float32), 1e-5)):
        m = SORF(Gaussian(0.5), columns, random_state=0).fit(rows)
        dense = m.transform(rows)
        monkeypatch.setattr("rflib.maps.sorf._FAST_FROM", 1)
        monkeypatch.setattr("rflib.maps.sorf._BLOCK_ELEMENTS", 7 * 24)
        assert m.transform(rows).dtype == rows.dtype
        assert np.abs(m.transform(rows) - dense).max() < tolerance
        monkeypatch.undo()


def test_bias_of_sorf_is_within_the_theorem_and_falls_with_the_dimension():
    bias = []
    for d in (8, 128):
        rows = np.concatenate([np.zeros((1, d)), sphere(4, d)])
        maps = (SORF(Gaussian(1.0), 2 * d, random_state=seed).fit(rows) for seed in range(400))
        values = np.array([m.kernel_matrix(rows)[0, 1:] for m in maps])
        error = values.std(axis=0) / np.sqrt(len(values))
        bias.append(np.abs(values.mean(axis=0) - np.exp(-0.5)))
        assert np.all(bias[-1] < min(6 / np.sqrt(d), 1 / d) + LIMIT * error)
    assert bias[1].max() < 0.5 * bias[0].max()


def test_lower_error_than_independent_frequencies():
    X, kernel = sphere(200, 16), Gaussian(1.0)
    errors = {
        cls: np.mean(
            [
                np.linalg.norm(cls(kernel, 256, random_state=i).fit(X).kernel_matrix(X) - kernel(X))
                for i in range(8)
            ]
        )
        for cls in (RFF, ORF, SORF, MomentMatching, QuadratureRFF)
    }
    assert max(errors[cls] for cls in (SORF, MomentMatching, QuadratureRFF)) < 0.8 * errors[RFF], errors
