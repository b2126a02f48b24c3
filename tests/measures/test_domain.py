"""The distances on which a kernel is needed."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from rflib.kernels.gaussian import Gaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.domain import Domain


@pytest.mark.parametrize("n", [50, 1500])
def test_order_of_the_rows_does_not_matter(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    one = Domain.of(Gaussian(), X)
    other = Domain.of(Gaussian(), np.random.default_rng(1).permutation(X))
    assert one.zmax == pytest.approx(other.zmax, rel=1e-12)
    np.testing.assert_allclose(one.distances, other.distances, rtol=1e-6)


def test_distances_are_those_of_the_rows():
    X = np.random.default_rng(0).uniform(size=(80, 5))
    domain = Domain.of(Gaussian(), X)
    z = np.sort(pdist(X))
    assert domain.dimension == 5
    assert domain.zmax == pytest.approx(z[-1], rel=1e-12)
    np.testing.assert_allclose(domain.distances, z, rtol=1e-7)


def test_large_samples_are_thinned():
    X = np.random.default_rng(0).standard_normal((1500, 2))
    domain = Domain.of(Gaussian(), X)
    assert len(domain.distances) == 1000 * 999 // 2
    assert domain.distances[-1] <= domain.zmax <= pdist(X).max() * (1 + 1e-12)
    assert domain.zmax > 0.99 * pdist(X).max()


def test_on_the_sphere_the_largest_distance_is_two():
    X = np.abs(np.random.default_rng(0).standard_normal((30, 4)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    domain = Domain.of(SphericalPolynomial(), X)
    assert domain.zmax == 2
    assert domain.distances[-1] < 2


@pytest.mark.parametrize(
    "X",
    [np.zeros((1, 3)), np.zeros((4, 3)), np.full((7, 3), 0.1), np.full((5, 2), 1e6), np.ones((1, 1))],
    ids=["one row", "zeros", "equal rows", "large equal rows", "one number"],
)
def test_rows_without_distances_still_have_a_domain(X):
    """The unit of length is then anyone's guess: 1."""
    domain = Domain.of(Gaussian(), X)
    assert domain.zmax == 1
    assert domain.distances.size and domain.distances[0] > 0 and domain.distances[-1] <= 1


def test_float32_rows():
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    domain = Domain.of(Gaussian(), X)
    assert domain.distances.dtype == np.float64
    assert domain.zmax == pytest.approx(pdist(X.astype(float)).max(), rel=1e-5)
