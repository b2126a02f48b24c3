"""Taylor, Hilbert-space, quadrature and Gegenbauer features: their laws, by brute force and by other libraries.

That GegenbauerFeatures is unbiased is in test_law.py. The one z-test here is at 1e-6.
"""

from dataclasses import replace
from itertools import product
from math import comb, factorial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import lsq_linear
from scipy.special import eval_gegenbauer, eval_legendre
from scipy.stats import norm

from rflib.frequencies.directions import iid
from rflib.kernels import ArcCosine, Gaussian, Matern, Polynomial, RadialFunction, SphericalPolynomial
from rflib.maps import GegenbauerFeatures, HilbertSpaceFeatures, QuadratureFeatures, TaylorFeatures
from rflib.maps.gegenbauer import polynomials, radial_functions, zonal_coefficients
from rflib.maps.hilbert_space import log_spectral_density
from rflib.maps.inner_product_series import InnerProductSeries
from rflib.maps.quadrature_grid import least_squares_weights, pairs
from rflib.measures import RangeWarning
from rflib.metrics import relative_frobenius_error

from .conftest import sphere

LIMIT = norm.isf(1e-6 / 2)


def error(feature_map, X):
    return relative_frobenius_error(feature_map.kernel_(X), feature_map.kernel_matrix(X))


def normal(n, scales, seed=0):
    return np.random.default_rng(seed).standard_normal((n, len(scales))) * scales


def exponents(feature_map, d):
    """The powers of the input columns in each column, shape (n_products, d)."""
    found = np.zeros((len(feature_map.tree_), d), dtype=int)
    for number in range(len(found)):
        for axis, power in feature_map.tree_.indices(number):
            found[number, axis] = power
    return found


# TaylorFeatures


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_taylor_columns_are_the_monomials_of_the_gaussian(dtype):
    X = normal(40, (1.0, 0.5, 2.0)).astype(dtype)
    X[0, 1] = 0
    found = TaylorFeatures(Gaussian(1.7), 60).fit(X)
    scaled = X.astype(float) / 1.7
    expected = [
        np.exp(-np.sum(scaled**2, axis=1) / 2)
        * np.prod([scaled[:, i] ** p / factorial(p) ** 0.5 for i, p in enumerate(a)], axis=0)
        for a in exponents(found, 3)
    ]
    np.testing.assert_allclose(found.transform(X), np.transpose(expected), atol=100 * np.finfo(dtype).eps)


def test_taylor_columns_have_the_largest_mean_squares_of_normal_columns():
    scales, sigma, D = np.array([1.0, 0.4, 1.5]), 1.2, 50
    X = normal(500, scales)
    found = TaylorFeatures(Gaussian(sigma), D).fit(X)
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    t = np.sqrt((X**2).mean(axis=0))[:, None] * nodes / sigma
    squares = np.array([np.exp(-(t**2)) * t ** (2 * p) / factorial(p) @ weights for p in range(25)]).T
    sizes = {a: np.prod(squares[range(3), a]) for a in product(range(25), repeat=3)}
    chosen = [tuple(a) for a in exponents(found, 3).tolist()]
    assert set(chosen) == set(sorted(sizes, key=sizes.get)[-D:])
    assert np.all(np.diff([sizes[a] for a in chosen]) <= 0)


def test_taylor_error_is_within_the_bound_of_the_degrees_that_are_whole():
    X, sigma = normal(80, (1.0, 1.0)), 1.5
    norms = np.linalg.norm(X, axis=1) / sigma
    for D in (6, 15, 28, 45):
        found = TaylorFeatures(Gaussian(sigma), D).fit(X)
        counts = np.bincount(exponents(found, 2).sum(axis=1))
        whole = next(n for n in range(99) if n == len(counts) or counts[n] < n + 1)
        assert whole >= 2
        bound = np.multiply.outer(norms, norms) ** whole / factorial(whole)
        error = np.abs(found.kernel_matrix(X) - found.kernel_(X))
        assert np.all(error <= bound + 1e-14)
    np.testing.assert_allclose(
        TaylorFeatures(Gaussian(sigma), 900).fit(X).kernel_matrix(X), found.kernel_(X), atol=1e-9
    )


def test_taylor_features_of_rows_far_away_are_zero():
    X = normal(50, np.ones(3)).astype(np.float32)
    found = TaylorFeatures(Gaussian(1.0), 200).fit(X)
    with pytest.warns(RangeWarning, match="TaylorFeatures"):
        assert not found.transform(1e4 * X).any()


# HilbertSpaceFeatures


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(0.7, 1.0), Matern(1.5, 1.0), Matern(40.0, 1.0)])
def test_spectral_densities_have_the_kernel_as_their_transform(kernel):
    """On the line and in three dimensions, where the transform is an integral of sines."""
    for z in (0.4, 1.3):
        line = quad(lambda w: np.exp(log_spectral_density(kernel, w**2, 1)), 0, np.inf, weight="cos", wvar=z)[
            0
        ]
        space = quad(
            lambda w: w * np.exp(log_spectral_density(kernel, w**2, 3)), 0, np.inf, weight="sin", wvar=z
        )[0]
        expected = kernel.at_distance(np.array(z))
        np.testing.assert_allclose([line / np.pi, space / (2 * np.pi**2 * z)], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "least"), [(Gaussian(0.8), 3.2), (Matern(1.5, 0.5), 4.5), (Matern(2.5, 0.5), 4.1)]
)
def test_hilbert_space_columns_are_the_largest_ones_of_the_box(kernel, least):
    X, D = np.random.default_rng(0).uniform(-1, 1, (40, 2)) * (0.5, 3) + 1, 30
    found = HilbertSpaceFeatures(kernel, D).fit(X)
    low, high = X.min(axis=0), X.max(axis=0)
    half = np.maximum(1.2 * (high - low) / 2, least * kernel.single_width)
    np.testing.assert_allclose(found.half_widths_, half)
    frequencies = np.array(list(product(range(1, 40), repeat=2))) * np.pi / (2 * half)
    density = np.exp(log_spectral_density(kernel, (kernel.single_width * frequencies) ** 2 @ [1, 1], 2))
    density *= kernel.single_width**2
    waves = (
        np.sin((X - (low + high) / 2 + half)[:, None, :] * frequencies).prod(axis=2) / np.prod(half) ** 0.5
    )
    order = np.argsort(-density, kind="stable")[:D]
    features = waves[:, order] * density[order] ** 0.5
    np.testing.assert_allclose(found.kernel_matrix(X), features @ features.T, atol=1e-12)
    single = found.transform(X.astype(np.float32))
    np.testing.assert_allclose(single, found.transform(X), atol=1e-5)


def test_hilbert_space_error_falls_exponentially_for_a_smooth_kernel():
    """It is at most the density of the frequencies that are left out, and what the walls of the box reflect."""
    rows, sigma, errors = np.linspace(-1, 1, 40)[:, None], 1.0, []
    for D in (4, 6, 8):
        found = HilbertSpaceFeatures(Gaussian(sigma), D).fit(rows)
        half = found.half_widths_[0]
        errors.append(np.abs(found.kernel_matrix(rows) - found.kernel_(rows)).max())
        omitted = np.arange(D + 1, 60) * np.pi / (2 * half)
        tail = np.exp(log_spectral_density(Gaussian(1.0), (sigma * omitted) ** 2, 1)).sum() * sigma / half
        walls = 2.1 * Gaussian(sigma).at_distance(np.array(2 * half - 2))
        assert errors[-1] <= tail + walls
    assert errors[2] < errors[1] / 2 < errors[0] / 4


def test_hilbert_space_features_are_zero_outside_the_box():
    X = normal(60, np.ones(2))
    found = HilbertSpaceFeatures(Gaussian(1.0), 50).fit(X)
    with pytest.warns(RangeWarning, match="HilbertSpaceFeatures"):
        assert np.abs(found.transform(X + 2 * found.half_widths_.max() + 10)).max() < 1e-12


# QuadratureFeatures


@pytest.mark.parametrize(("d", "m"), [(1, 7), (2, 4), (2, 5), (3, 3)])
@pytest.mark.parametrize("spare", [0, 1, 2])
def test_dense_grid_is_the_product_of_rules(d, m, spare):
    X, D = normal(20, np.ones(d)), m**d + spare
    m += spare if d == 1 else 0
    found = QuadratureFeatures(Gaussian(1.3), D, grid="dense", random_state=0).fit(X)
    nodes, weights = np.polynomial.hermite_e.hermegauss(m)
    differences = (X[:, None, :] - X) / 1.3
    waves = np.cos(np.multiply.outer(differences, nodes)) @ (weights / weights.sum())
    np.testing.assert_allclose(found.kernel_matrix(X), waves.prod(axis=2), atol=1e-12)
    # The remainder of the Gauss rule for a cosine, once for each input column.
    remainder = factorial(m) / factorial(2 * m) * (differences ** (2 * m)).sum(axis=2)
    assert np.all(np.abs(found.kernel_matrix(X) - found.kernel_(X)) <= remainder + 1e-12)


@pytest.mark.parametrize("d", [12, 400])
def test_dense_grid_of_many_columns_says_what_it_costs(d):
    message = rf"grid must be 'auto' or 'reweighted', because n_components=100 is below the 2\^{d} columns"
    with pytest.raises(ValueError, match=message):
        QuadratureFeatures(n_components=100, grid="dense").fit(np.eye(d))


def test_weights_of_drawn_nodes_are_the_non_negative_least_squares():
    X, rng = normal(200, np.ones(4)), np.random.default_rng(1)
    ((rows, values),) = pairs(Gaussian(1.5), X, 300, rng)
    vectors = rng.standard_normal((20, 4))
    found = least_squares_weights([(rows[:90], values[:90]), (rows[90:], values[90:])], vectors)
    design = np.cos(rows @ vectors.T)
    ridge = np.sqrt(0.1 * (design**2).sum() / 20)
    stacked = np.vstack([design, ridge * np.eye(20)]), np.append(values, np.full(20, ridge / 20))
    np.testing.assert_allclose(found, lsq_linear(*stacked, bounds=(0, np.inf), tol=1e-14).x, atol=1e-7)
    assert (found == 0).any() and (found > 0).any()


def test_fitted_weights_are_better_than_equal_ones_on_new_rows():
    train, test = normal(500, np.ones(6)), normal(300, np.ones(6), seed=1)
    fitted, equal = [], []
    for seed in range(5):
        found = QuadratureFeatures(Gaussian(2.0), 60, random_state=seed).fit(train)
        assert (found.weights_ >= 0).all()
        fitted.append(error(found, test))
        found.waves_ = replace(found.waves_, weights=np.full(30, 1 / 30))
        equal.append(error(found, test))
    assert np.mean(fitted) < 0.8 * np.mean(equal)


def test_the_grid_with_the_lower_error_is_taken():
    few, many = normal(200, np.ones(1)), normal(200, np.ones(6))
    found = QuadratureFeatures(Gaussian(1.0), 16, random_state=0).fit(few)
    assert error(found, few) < 1e-4
    found = QuadratureFeatures(Gaussian(1.0), 64, random_state=0).fit(many)
    dense = QuadratureFeatures(Gaussian(1.0), 64, grid="dense").fit(many)
    assert error(found, many) < error(dense, many)


# GegenbauerFeatures


@pytest.mark.parametrize("d", [1, 2, 3, 4, 20])
def test_gegenbauer_polynomials(d):
    t, degree = np.linspace(-1, 1, 11), 1 if d == 1 else 9
    found = list(polynomials(d, degree, t))
    assert len(found) == degree + 1
    for k, values in enumerate(found):
        if d == 2:
            expected = np.cos(k * np.arccos(t))
        elif d == 3:
            expected = eval_legendre(k, t)
        else:
            expected = (
                t**k if d == 1 else eval_gegenbauer(k, d / 2 - 1, t) / eval_gegenbauer(k, d / 2 - 1, 1.0)
            )
        np.testing.assert_allclose(values, expected, atol=1e-12)


def n_harmonics(d, k):
    return comb(d + k - 1, k) - (comb(d + k - 3, k - 2) if k > 1 else 0)


def represented(kernel, X, centre, degree, n):
    """What the features estimate: the sum of the radial functions times the polynomials."""
    d = X.shape[1]
    factors = InnerProductSeries(kernel, centre).factors(X)
    radial = radial_functions(factors.log_amplitudes, d, degree, n)
    harmonics = [n_harmonics(d, k) for k in range(degree + 1)]
    angles = polynomials(d, degree, np.clip(factors.units @ factors.units.T, -1, 1))
    return sum(r.T @ r / N * P for r, N, P in zip(radial, harmonics, angles, strict=True))


def test_gegenbauer_series_is_the_kernel():
    X, origin = normal(30, np.ones(5)), np.zeros(5)
    cubic = Polynomial(3, 0.5, 1.0)
    np.testing.assert_allclose(represented(cubic, X, origin, 3, 2), cubic(X), atol=1e-10)
    np.testing.assert_allclose(represented(Gaussian(1.5), X, origin, 30, 20), Gaussian(1.5)(X), atol=1e-10)
    one_norm = 2 * sphere(30, 5)
    np.testing.assert_allclose(
        represented(Gaussian(1.5), one_norm, origin, 30, 1), Gaussian(1.5)(one_norm), atol=1e-10
    )
    cut = represented(Gaussian(1.5), X, origin, 30, 1)
    np.testing.assert_allclose(cut.diagonal(), 1, atol=1e-10)
    assert np.abs(cut - Gaussian(1.5)(X)).max() > 0.01


@pytest.mark.parametrize("d", [1, 2, 3, 9, 500])
def test_coefficients_on_the_sphere_by_quadrature_and_by_the_series(d):
    kernel, X = SphericalPolynomial(2, 5), sphere(3, d)
    degree = min(5, d) if d == 1 else 5
    log_amplitudes = InnerProductSeries(kernel, np.zeros(d)).factors(X).log_amplitudes
    series = radial_functions(log_amplitudes, d, degree, 1)[:, 0, 0] ** 2
    np.testing.assert_allclose(zonal_coefficients(kernel, d, degree), series, rtol=1e-7)


def test_gegenbauer_chooses_by_its_mean_error():
    """The predicted error is the mean over draws, on the rows that it is predicted for; |z| < 4.9."""
    X, kernel = normal(60, np.ones(6)), Gaussian(2.5)
    K = kernel(X)

    def errors(seeds, **options):
        fitted = (
            GegenbauerFeatures(kernel, 40, random_state=seed, **options).fit(X) for seed in range(seeds)
        )
        return [((feature_map.kernel_matrix(X) - K) ** 2).sum() for feature_map in fitted]

    found = GegenbauerFeatures(kernel, 40, random_state=0).fit(X)
    predicted = found._predicted_errors(kernel, X, iid(20_000, 6, np.random.default_rng(0)), 2, [2])[2, 2]
    drawn = errors(150, degree=2, n_radial=2)
    assert abs(np.mean(drawn) - predicted) < LIMIT * np.std(drawn, ddof=1) / 150**0.5 + 0.01 * predicted
    assert found.degree_ == np.argmin([np.mean(errors(20, degree=degree)) for degree in range(5)])


def test_gegenbauer_of_other_kernels_of_unit_vectors():
    X = sphere(80, 4)
    few, many = (error(GegenbauerFeatures(ArcCosine(1), D, random_state=0).fit(X), X) for D in (20, 2000))
    assert many < 0.05 < few
    indefinite = RadialFunction(lambda z: 1 - z**2, unit_norm=True)
    with pytest.raises(ValueError, match="kernel must be positive definite on the sphere"):
        GegenbauerFeatures(indefinite, 20).fit(X)
    with pytest.raises(ValueError, match="Use RFF, ORF or MVORF, or Nystroem, instead"):
        GegenbauerFeatures(Matern(), 20).fit(X)


@pytest.mark.parametrize("d", [2, 3, 16, 120, 784, 3000])
def test_zonal_coefficients_of_many_columns_are_not_those_of_rounding_errors(d):
    sizes = np.array([float(n_harmonics(d, degree)) for degree in range(16)])
    for p in (1, 3, 10):  # ((1 - 2 / a^2) + 2 / a^2 <x, y>)^p
        shares = zonal_coefficients(SphericalPolynomial(4, p), d, 15) / sizes
        assert (shares[p + 1 :] == 0).all() and (shares >= 0).all()
        assert (shares > 0)[: 1 + min(p, 3)].all()
        np.testing.assert_allclose(shares.sum(), 1, rtol=1e-4)  # k(x, x); parts below rounding are left out
    for order in (0, 1):  # a series of powers of <x, y> that are not negative
        assert zonal_coefficients(ArcCosine(order), d, 15).min() >= 0
    X = sphere(50, d)
    assert np.isfinite(GegenbauerFeatures(SphericalPolynomial(4, 10), 20).fit_transform(X)).all()


@pytest.mark.parametrize("name", ["degree", "n_radial"])
def test_gegenbauer_parameters_are_checked(name):
    with pytest.raises(
        ValueError, match=f"GegenbauerFeatures: {name} must be an integer of at least . or None"
    ):
        GegenbauerFeatures(Gaussian(1.0), **{name: -1}).fit(np.eye(4))
