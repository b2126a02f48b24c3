"""Products of real and complex coordinates: their mean is the polynomial kernel, their variance the predicted one.

Each mean and each variance over independent draws is a z-test at a false-alarm rate of 1e-6.
"""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import norm

from rflib.frequencies.coordinate_products import (
    PARTS,
    _in_rounds,
    _overlaps,
    covariances,
    draw_products,
    overlaps,
    products_in_basis,
    relative_variance,
)
from rflib.measures.harmonics import legendre

LIMIT = norm.isf(1e-6 / 2)
DRAWS = 2000
COSINES = np.array([1.0, 0.6, 0.0, -0.5])


def points(d: int) -> np.ndarray:
    """A unit vector, and others at the angles of `COSINES` with it."""
    found = np.zeros((len(COSINES) + 1, d))
    found[:, 0] = [1, *COSINES]
    if d > 1:
        found[1:, 1] = np.sqrt(1 - COSINES**2)
    return found


def estimates(n: int, d: int, degree: int, parts: int, rng) -> np.ndarray:
    """The kernel estimates from n products, by the definition."""
    products = draw_products(n, d, degree, parts, rng)
    along = points(d) @ products.frame
    if parts == 2:
        half = along.shape[1] // 2
        along = along[:, :half] + 1j * along[:, half:]
    values = along[:, products.factors].prod(axis=-1)
    scale = np.prod(d + 2.0 * np.arange(degree)) / parts**degree
    return (values[1:] @ values[0].conj()).real / n * scale


@pytest.mark.parametrize(
    ("n", "d", "degree", "parts"),
    [
        *[
            (5, 8, 1, 1),
            (8, 8, 1, 1),
            (20, 8, 2, 1),
            (28, 8, 2, 1),
            (40, 8, 2, 1),
            (30, 7, 3, 1),
            (1, 4, 4, 1),
        ],
        *[
            (3, 8, 1, 2),
            (4, 8, 1, 2),
            (5, 8, 2, 2),
            (6, 9, 2, 2),
            (20, 9, 2, 2),
            (4, 10, 3, 2),
            (7, 10, 3, 2),
        ],
    ],
)
def test_mean_and_variance(n, d, degree, parts):
    rng = np.random.default_rng(0)
    values = np.array([estimates(n, d, degree, parts, rng) for _ in range(DRAWS)])
    mean, variance = legendre(d, degree, COSINES), relative_variance(n, d, degree, parts, COSINES)
    assert np.all(np.abs(values.mean(axis=0) - mean) < LIMIT * np.sqrt(variance / DRAWS) + 1e-12)
    squares = (values - mean) ** 2
    noise = squares.std(axis=0) / np.sqrt(DRAWS)
    assert np.all(np.abs(squares.mean(axis=0) - variance) < LIMIT * noise + 1e-12)


@pytest.mark.parametrize(("n", "d", "parts"), [(2, 2, 1), (1, 2, 2), (5, 5, 1), (3, 6, 2)])
def test_all_products_of_degree_1_are_exact(n, d, parts):
    rng = np.random.default_rng(0)
    assert np.allclose(estimates(n, d, 1, parts, rng), COSINES)
    assert np.allclose(relative_variance(n, d, 1, parts, COSINES), 0, atol=1e-12)


@pytest.mark.parametrize("d", [3, 10, 500])
def test_variances_of_degree_1_by_hand(d):
    """E <u, x>^2 <u, y>^2 = (1 + 2 c^2) / (d (d + 2)), and the directions of a basis add up to c."""
    one = d * (1 + 2 * COSINES**2) / (d + 2) - COSINES**2
    assert np.allclose(covariances(d, 1, 1, COSINES), [-one / (d - 1), one])
    two = d * (d * COSINES**2 - 1) / ((d + 2) * (d - 1))  # d^2 E <u, x> <u, y> <v, x> <v, y>
    assert np.allclose(covariances(d, 1, 2, COSINES)[1], (one + COSINES**2 + two) / 2 - COSINES**2)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("d", [8, 784, 5000])
def test_rounding_errors_are_small_in_high_dimensions(d, degree):
    """At equal rows, E |p|^4 / (E |p|^2)^2 is 3^n or 2^n for Gaussian rows, up to their norms."""
    for parts in PARTS:
        if not products_in_basis(d, degree, parts):
            continue
        lengths = np.prod([(d + 2.0 * k) / (d + 2 * degree + 2 * k) for k in range(degree)])
        moment = 3.0 if parts == 1 else 2.0
        known = moment**degree * lengths - 1
        assert covariances(d, degree, parts, np.ones(1))[-1, 0] == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize(("q", "degree"), [(7, 1), (7, 2), (8, 2), (7, 3), (9, 4), (3, 3), (2, 2), (1, 1)])
def test_all_subsets_are_drawn_once(q, degree):
    found = _in_rounds(comb(q, degree), q, degree, np.random.default_rng(0))
    assert sorted(map(tuple, np.sort(found, axis=1).tolist())) == list(combinations(range(q), degree))


@pytest.mark.parametrize(
    ("q", "degree", "n"), [(7, 2, 15), (8, 2, 24), (20_000, 2, 11_000), (15, 3, 15), (30, 4, 14), (9, 1, 7)]
)
def test_no_coordinate_is_a_factor_of_two_products_of_a_round(q, degree, n):
    found = _in_rounds(n, q, degree, np.random.default_rng(0))
    assert len(set(map(frozenset, found.tolist()))) == n
    a_round = q // degree
    for start in range(0, n, a_round):
        some = found[start : start + a_round]
        assert len(np.unique(some)) == some.size


@pytest.mark.parametrize(
    ("n", "q", "degree"),
    [(1, 5, 2), (3, 5, 2), (9, 5, 2), (10, 5, 2), (11, 8, 2), (5, 9, 1), (3, 9, 3), (84, 9, 3), (2, 8, 4)],
)
def test_the_numbers_of_common_factors(n, q, degree):
    """A z-test for each number of common factors, over 400 draws."""
    shares = common_factors(n, q, degree)
    noise = shares.std(axis=0) / np.sqrt(len(shares))
    assert np.all(np.abs(shares.mean(axis=0) - _overlaps(n, q, degree)) < LIMIT * noise + 1e-12)


@pytest.mark.parametrize(("n", "q", "degree"), [(10, 9, 3), (42, 9, 3), (60, 9, 3), (6, 8, 4)])
def test_products_left_out_hardly_change_the_numbers_of_common_factors(n, q, degree):
    """They change the variance by less than 5 %, even where half of all products are drawn."""
    shares, known = common_factors(n, q, degree).mean(axis=0), _overlaps(n, q, degree)
    by_overlap = covariances(q, degree, 1, COSINES)
    assert np.allclose(shares @ by_overlap, known @ by_overlap, rtol=0.05)


def common_factors(n: int, q: int, degree: int) -> np.ndarray:
    """Shares of the pairs of products with each number of common factors, in 400 draws."""
    counts = []
    for seed in range(400):
        found = _in_rounds(n, q, degree, np.random.default_rng(seed))
        members = np.zeros((n, q))
        members[np.arange(n)[:, None], found] = 1
        counts.append(np.bincount((members @ members.T).astype(int).ravel(), minlength=degree + 1))
    return np.array(counts) / n**2


@pytest.mark.parametrize("parts", PARTS)
def test_several_bases_are_independent_and_each_is_orthonormal(parts):
    drawn = draw_products(65, 8, 2, parts, np.random.default_rng(0))
    in_basis, n_coordinates = products_in_basis(8, 2, parts), drawn.frame.shape[1] // parts
    frame = drawn.frame.reshape(8, parts, -1)
    width = 8 // parts
    for start in range(0, n_coordinates, width):
        basis = frame[:, :, start : start + width].reshape(8, -1)
        assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]))
    assert drawn.factors.shape == (65, 2)
    assert len(set(map(frozenset, drawn.factors.tolist()))) == 65
    shares = overlaps(65, 8, 2, parts)
    assert shares[-1] == pytest.approx(1 / 65)
    assert shares.sum() == pytest.approx(
        sum(g**2 for g in [in_basis] * (65 // in_basis) + [65 % in_basis]) / 65**2
    )


def test_complex_products_vary_less_at_equal_rows_of_many_dimensions():
    """Two columns each: 2^n - 1 for half as many products, against 3^n - 1."""
    real, complex_ = (relative_variance(n, 500, 3, parts, np.ones(1)) for n, parts in ((40, 1), (20, 2)))
    assert complex_ < 0.6 * real
