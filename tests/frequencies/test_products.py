"""Products of coordinates: their mean is the polynomial kernel, their variance the one that is predicted.

Each mean is a z-test at 1e-6; variances must agree within 20 %, as products of coordinates have long tails.
"""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import norm

from rflib.frequencies.products import _combinations, draw_products, relative_variance
from rflib.measures.harmonics import legendre

LIMIT = norm.isf(1e-6 / 2)
DRAWS = 2000
COSINES = np.array([1.0, 0.6, 0.0, -0.5])


@pytest.mark.parametrize(
    ("n", "d", "degree"),
    [(5, 8, 1), (8, 8, 1), (20, 8, 2), (28, 8, 2), (40, 8, 2), (30, 7, 3), (3, 3, 2), (1, 1, 1)],
)
def test_mean_and_variance(n, d, degree):
    rng = np.random.default_rng(0)
    points = np.zeros((len(COSINES) + 1, d))
    points[:, 0] = [1, *COSINES]
    if d > 1:
        points[1:, 1] = np.sqrt(1 - COSINES**2)
    values = np.empty((DRAWS, len(COSINES)))
    for draw in values:
        products = draw_products(n, d, degree, rng)
        features = np.prod((points @ products.frame)[:, products.factors], axis=-1)
        draw[:] = features[1:] @ features[0] / n * np.prod(d + 2.0 * np.arange(degree))
    if d == 1:
        assert np.allclose(values, COSINES)
        return
    variance = relative_variance(n, d, degree, COSINES)
    assert np.all(
        np.abs(values.mean(axis=0) - legendre(d, degree, COSINES)) < LIMIT * np.sqrt(variance / DRAWS) + 1e-12
    )
    assert np.allclose(values.var(axis=0), variance, rtol=0.2, atol=1e-12)


def test_the_number_of_products_may_be_an_integer_of_numpy():
    """As n_components from an array is."""
    assert np.array_equal(relative_variance(np.int64(7), 5, 2, COSINES), relative_variance(7, 5, 2, COSINES))


@pytest.mark.parametrize(("d", "degree"), [(7, 1), (7, 2), (7, 3), (3, 3)])
def test_combinations_are_all_there_are(d, degree):
    found = _combinations(np.arange(comb(d, degree)), degree)
    assert sorted(map(tuple, np.sort(found, axis=1))) == list(combinations(range(d), degree))


def test_a_basis_is_orthonormal_and_no_product_stands_twice_in_it():
    products = draw_products(40, 8, 2, np.random.default_rng(0))
    first, second = products.frame[:, :8], products.frame[:, 8:]
    assert np.allclose(first.T @ first, np.eye(8))
    assert np.allclose(second.T @ second, np.eye(second.shape[1]))
    assert len({tuple(sorted(pair)) for pair in products.factors.tolist()}) == 40
