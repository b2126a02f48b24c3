"""Coupled bases: orthonormal, unbiased where they can be, and with the variance that their factors say."""

import numpy as np
import pytest

from rflib.frequencies.coupled import coupled_bases, coupled_factors
from rflib.frequencies.directions import coupled
from rflib.measures.harmonics import DEGREES, legendre, orthogonal_factors


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 10, 16, 64, 100])
def test_bases_are_orthonormal(d):
    bases = coupled_bases(d)
    products = bases @ bases.swapaxes(1, 2)
    assert np.abs(products - np.eye(d)).max() < 1e-12


@pytest.mark.parametrize("d", [4, 16, 64])
def test_kerdock_sets_give_all_mutually_unbiased_bases(d):
    bases = coupled_bases(d)
    assert len(bases) == d // 2 + 1
    products = np.abs(np.einsum("aik,bjk->abij", bases, bases))
    others = products[~np.eye(len(bases), dtype=bool)]
    assert np.abs(others - d**-0.5).max() < 1e-12


@pytest.mark.parametrize("d", [6, 10, 20])
def test_other_dimensions_have_a_low_fourth_moment(d):
    """Independent bases would have the factor of one basis, about 1.3, and unbiased ones nearly zero."""
    factors = coupled_factors(d)[:, DEGREES.index(4)]
    assert factors[-1] < 0.5 < 1 < orthogonal_factors(d)[-1, DEGREES.index(4)]


@pytest.mark.parametrize(("d", "m"), [(4, 3), (6, 4), (16, 5)])
def test_factors_are_the_variance_of_a_mean(d, m):
    """Of P_n(<u, e>) over m coupled bases, within five standard errors of 4,000 draws."""
    rng = np.random.default_rng(d)
    values = {n: [] for n in DEGREES}
    for _ in range(4000):
        along = coupled(m * d, d, rng)[:, 0]
        for n in DEGREES:
            values[n].append(legendre(d, n, along).mean())
    uniform = rng.standard_normal((400_000, d))
    uniform = uniform[:, 0] / np.linalg.norm(uniform, axis=1)
    for k, n in enumerate(DEGREES):
        found = np.array(values[n])
        energy = np.mean(legendre(d, n, uniform) ** 2)
        expected = energy * coupled_factors(d)[m - 1, k] / (m * d)
        error = np.std(found**2) / np.sqrt(len(found))
        assert abs(np.mean(found**2) - expected) < 5 * error + 0.02 * expected + 1e-12
        assert abs(found.mean()) < 5 * found.std() / np.sqrt(len(found)) + 1e-12


def test_a_rest_is_orthogonal():
    vectors = coupled(11, 4, np.random.default_rng(0))
    assert vectors.shape == (11, 4)
    assert np.abs(vectors[8:] @ vectors[8:].T - np.eye(3)).max() < 1e-12
