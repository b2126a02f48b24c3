"""Pairs of rows that are stratified by the distance from the mean: what they represent, and all kinds of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rflib.frequencies.stratified_pairs import StratifiedPairs, joined
from rflib.kernels import Gaussian
from rflib.measures.domain import Domain


def skewed(n: int, d: int = 6) -> np.ndarray:
    """Rows whose distances from the mean have long tails."""
    rng = np.random.default_rng(3)
    return rng.standard_normal((n, d)) * rng.lognormal(sigma=1, size=(n, 1)) + 1


def test_the_sample_of_rows_holds_the_ends_and_does_not_depend_on_their_order():
    X = skewed(5000)
    found = StratifiedPairs.of(X)
    norms = np.sort(np.linalg.norm(X - X.mean(axis=0), axis=1))
    assert np.allclose(found.norms[:3], norms[:3])
    assert np.allclose(found.norms[-3:], norms[-3:])
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[:3] == pytest.approx(1 / 5000)
    again = StratifiedPairs.of(X[np.random.default_rng(0).permutation(5000)])
    assert np.allclose(again.norms, found.norms)
    assert np.allclose(again.pairs.distances, found.pairs.distances)


def test_sparse_rows_have_the_same_pairs():
    X = skewed(3000)
    X[np.abs(X) < 0.5] = 0
    dense, sparse = StratifiedPairs.of(X).pairs, StratifiedPairs.of(csr_array(X)).pairs
    assert np.allclose(sparse.norms, dense.norms)
    assert np.allclose(sparse.cosines, dense.cosines)
    assert np.allclose(sparse.distances, dense.distances)
    assert np.allclose(sparse.shares, dense.shares)


def test_norms_and_cosines_belong_to_the_distances():
    pairs = StratifiedPairs.of(skewed(2000)).pairs
    a, b = pairs.norms
    squares = a**2 + b**2 - 2 * a * b * pairs.cosines
    assert np.allclose(squares, pairs.distances**2, atol=1e-9 * a.max() ** 2)
    assert np.count_nonzero(pairs.distances == 0) >= 64


@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_means_over_the_pairs_are_those_over_all_pairs(width):
    """The mean square of a narrow kernel needs near pairs, and that of the distance needs far rows."""
    X = skewed(1000)
    pairs, K = StratifiedPairs.of(X).pairs, Gaussian(width)(X)
    assert pairs.shares.sum() == pytest.approx(1)
    square = pairs.shares @ Gaussian(width).at_distance(pairs.distances) ** 2
    assert square == pytest.approx((K**2).mean(), rel=0.1)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    assert pairs.shares @ pairs.distances == pytest.approx(distances.mean(), rel=0.05)


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_few_rows(n):
    X = skewed(n)
    found = StratifiedPairs.of(X)
    assert found.pairs.shares.sum() == pytest.approx(1)
    if n > 1:
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        square = found.pairs.shares @ found.pairs.distances**2
        assert square == pytest.approx((distances**2).mean(), rel=1e-9 if n < 10 else 0.02)


def test_equal_rows():
    pairs = StratifiedPairs.of(np.ones((100, 3))).pairs
    assert np.all(pairs.distances == 0)
    assert pairs.shares.sum() == pytest.approx(1)


def test_joined_samples_count_equally():
    X = skewed(500)
    first, second = Domain.of(X).all_pairs, StratifiedPairs.of(X).pairs
    both = joined(first, second)
    assert both.shares.sum() == pytest.approx(1)
    means = [each.shares @ each.distances for each in (first, second, both)]
    assert means[2] == pytest.approx((means[0] + means[1]) / 2)
