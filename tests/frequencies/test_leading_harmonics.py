"""The leading harmonics are the leading eigenfunctions of the kernel, for rows whose law has no direction."""

import numpy as np
import pytest

from rflib.frequencies.leading_harmonics import LeadingHarmonics, _by_eigenvalue, lead
from rflib.kernels import DeltaGaussian, Gaussian, SphericalPolynomial
from rflib.maps import MVORF
from rflib.maps.exact_harmonics import ExactHarmonics
from rflib.measures.control_variates import polynomial_columns
from rflib.measures.domain import Domain
from rflib.measures.row_pairs import RowPairs


def isotropic(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) / np.sqrt(d)


def unit(n: int, d: int, seed: int = 0) -> np.ndarray:
    X = isotropic(n, d, seed)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def kernels(fitted: MVORF, X: np.ndarray, draws: int) -> np.ndarray:
    """Kernel matrices of the rows from so many samples of the products, shape (draws, n, n)."""
    Y, rng = X - fitted.exact_pole_, np.random.default_rng(1)
    norms, found = np.linalg.norm(Y, axis=1), []
    for _ in range(draws):
        products = fitted.composition_.products(rng)
        exact = ExactHarmonics.of(
            fitted.exact_pole_, fitted.composition_.controls, np.zeros((0, Y.shape[1])), products
        )
        signs = exact.column_signs()
        Z = np.empty((len(X), len(signs)))
        exact.fill(Y / exact.unit, exact.functions(norms / exact.unit), Z)
        found.append(Z * signs @ Z.T)
    return np.array(found)


def led(kernel, X, n_columns, **options):
    domain = Domain.of(X)
    pairs = domain.pairs(150)
    ladder = MVORF(kernel).spectrum(X)
    return lead(ladder.rungs, kernel.at_distance(pairs.distances), pairs, n_columns, **options)


@pytest.mark.parametrize(
    ("kernel", "n_columns"), [(Gaussian(0.8), 30), (Gaussian(2.0), 60), (DeltaGaussian(), 40)]
)
def test_they_have_the_span_of_the_leading_eigenvectors(kernel, n_columns):
    """What the kernel matrix has beside its best approximation of a rank, the harmonics miss by little more."""
    X = isotropic(2000, 5)
    K = kernel(X)
    best = np.sqrt(np.sum(np.sort(np.abs(np.linalg.eigvalsh(K)))[:-n_columns] ** 2))
    Z = MVORF(kernel, n_columns, objective="learner", random_state=0).fit(X).transform(X)
    basis = np.linalg.qr(Z)[0]
    inside = basis.T @ K @ basis
    assert np.linalg.matrix_rank(Z) == n_columns
    assert np.linalg.norm(K - basis @ inside @ basis.T) < 1.4 * best


def test_the_order_is_that_of_the_eigenvalues():
    """Of isotropic rows in three dimensions the multiplicities of the largest eigenvalues tell the degrees."""
    kernel, X = Gaussian(1.0), isotropic(3000, 3)
    domain = Domain.of(X)
    measure = min(MVORF(kernel).spectrum(X).rungs, key=lambda rung: rung.bias_estimate)
    degrees = _by_eigenvalue(measure, domain.pairs(150))
    eigenvalues = np.sort(np.linalg.eigvalsh(kernel(X)))[::-1]
    stop = 0
    means = []
    for degree in degrees[:5]:
        start, stop = stop, stop + polynomial_columns(3, degree)
        block = eigenvalues[start:stop]
        assert block.std() < 0.12 * block.mean()
        means.append(block.mean())
    assert degrees[:2] == [0, 1]
    assert 2 in degrees[:5]
    assert np.all(np.diff(means) < 0)


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.7), DeltaGaussian(sigmas=(0.5, 5)), SphericalPolynomial(4, 10)]
)
@pytest.mark.parametrize("n_columns", [3, 20, 33])
def test_mean_and_variance_of_the_kernel(kernel, n_columns):
    """Over 500 draws: z-tests of the means at 1e-6 each (about 250 of them), and the variance within a tenth."""
    X = unit(300, 6) if kernel.unit_norm else isotropic(300, 6)
    fitted = MVORF(kernel, n_columns, objective="learner", random_state=0).fit(X)
    composition, pole = fitted.composition_, fitted.exact_pole_
    assert isinstance(composition, LeadingHarmonics)
    rows = X[:7] - pole
    norms = np.linalg.norm(rows, axis=1)
    i, j = np.triu_indices(7)
    cosines = np.clip(np.sum(rows[i] * rows[j], axis=1) / norms[i] / norms[j], -1, 1)
    pairs = RowPairs(pole, np.array([norms[i], norms[j]]), cosines, 0 * cosines, np.ones(len(i)))
    exact, last, variance = composition.moments(pairs)
    values = kernels(fitted, X[:7], 500)[:, i, j]
    expected, spread = exact + composition.factor * last, composition.factor * np.sqrt(variance)
    assert np.all(np.abs(values.mean(axis=0) - expected) < 4.9 * spread / np.sqrt(500) + 1e-9)
    assert np.isclose(values.var(axis=0).sum(), (spread**2).sum(), rtol=0.1)
    assert np.allclose(fitted.kernel_matrix(X[:7])[i, j], expected, atol=7 * spread.max())


def test_few_dimensions_have_cosines_too():
    X = isotropic(300, 2)
    composition = led(Gaussian(0.3), X, 200)
    assert not isinstance(composition, LeadingHarmonics)
    assert composition.counts.sum() > 0


@pytest.mark.parametrize("n_columns", [1, 2, 6, 7, 27])
def test_any_number_of_columns(n_columns):
    X = isotropic(200, 6)
    fitted = MVORF(Gaussian(1.0), n_columns, objective="learner", random_state=0).fit(X)
    assert fitted.transform(X).shape == (200, n_columns)
    assert np.all(fitted.signature_ == 1)


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.7), DeltaGaussian(sigmas=(0.5, 5)), SphericalPolynomial(4, 10)]
)
def test_the_mean_is_within_the_bound_of_the_bias(kernel):
    X = unit(300, 6) if kernel.unit_norm else isotropic(300, 6)
    fitted = MVORF(kernel, 40, objective="learner", random_state=0).fit(X)
    bias = np.abs(kernels(fitted, X[:50], 250).mean(axis=0) - kernel(X[:50]))
    assert bias.max() < 1.05 * fitted.bias_estimate_


def test_more_columns_do_not_bring_a_bias():
    """Rows in a small cap of few dimensions, where the harmonics up to degree 3 leave columns over.

    Some measures of the polynomial kernel have leading harmonics of negative sign. To leave these out would be a
    bias of the size of the kernel's variation in the cap.
    """
    kernel, rng = SphericalPolynomial(3, 10), np.random.default_rng(0)
    X = 0.5 + 0.3 * rng.uniform(-1, 1, (300, 14))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K, errors = kernel(X), []
    for n_columns in (50, 200, 800):
        fitted = MVORF(kernel, n_columns, objective="learner", random_state=0).fit(X)
        assert np.all(fitted.signature_ == 1)
        errors.append(np.linalg.norm(fitted.kernel_matrix(X) - K))
    assert np.all(np.diff(errors) < 0)


@pytest.mark.parametrize(("kernel", "d"), [(SphericalPolynomial(3, 3), 6), (SphericalPolynomial(2, 3), 14)])
def test_no_column_is_zero(kernel, d):
    """Of the measures with positive harmonics only, the one with the least bias has a sample with the factor 0."""
    X = 0.5 + 0.2 * np.random.default_rng(2).uniform(-1, 1, (300, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert led(kernel, X, 40, positive=True).factor > 0
    Z = MVORF(kernel, 40, objective="learner", random_state=0).fit(X).transform(X)
    assert np.all(np.any(Z, axis=0))
