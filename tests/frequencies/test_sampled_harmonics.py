"""Harmonics alone: the choice of functions, exact and sampled, and the error that is predicted for it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm

from rflib.frequencies.radial_harmonics import RadialHarmonics, radial_harmonics
from rflib.frequencies.sampled_harmonics import Terms, choose
from rflib.kernels import Gaussian, RadialFunction, SphericalPolynomial
from rflib.maps import MVORF
from rflib.maps.harmonics import harmonics_of
from rflib.measures.control_variates import polynomial_columns
from rflib.measures.domain import Domain

LIMIT = norm.isf(1e-6 / 2)


def blob(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) / np.sqrt(2 * d)


def chosen(kernel, X, n_columns: int, *, positive: bool = False) -> RadialHarmonics:
    pairs = Domain.of(X).all_pairs
    candidates = MVORF(kernel).spectrum(X).candidates
    return radial_harmonics(
        candidates, kernel.at_distance(pairs.distances), pairs, n_columns, positive=positive
    )


def by_hand(d: int, degrees: list[int], sizes: list[float], n_pairs: int = 200) -> tuple[np.ndarray, Terms]:
    """Constant functions of these sizes, at pairs of random unit vectors, and the sum of their terms."""
    rng = np.random.default_rng(0)
    X, Y = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in rng.standard_normal((2, n_pairs, d)))
    terms = Terms(d, (X * Y).sum(axis=1), degrees, np.outer(sizes, np.ones(n_pairs)))
    return terms.kernels().sum(axis=0), terms


def test_functions_that_do_not_fit_are_passed_over():
    """The second function has 10 harmonics, and the third one column."""
    exact, terms = by_hand(10, [0, 1, 0], [1.0, 0.05, 0.04])
    found = choose(exact, terms, np.full(len(exact), 1 / len(exact)), 2)
    assert found.functions == [0, 2]
    assert not found.samples


def test_with_enough_columns_everything_is_exact():
    exact, terms = by_hand(5, [0, 1, 2, 3], [1.0, 0.5, 0.25, 0.1])
    enough = sum(polynomial_columns(5, n) for n in range(4))
    found = choose(exact, terms, np.full(len(exact), 1 / len(exact)), enough)
    assert sorted(found.functions) == [0, 1, 2, 3]
    assert not found.samples
    assert found.mean_squared_error < 1e-12


def test_a_factor_is_the_signal_divided_by_signal_and_noise():
    """One function in two columns, with the shrinkage S / (S + V) and the error S V / (S + V)."""
    exact, terms = by_hand(9, [2], [1.0])
    found = choose(exact, terms, np.full(len(exact), 1 / len(exact)), 2)
    assert found.samples == ((1, 2),)
    signal = (exact**2).mean()
    (factor,) = found.factors
    noise = signal * (1 - factor) / factor
    assert found.mean_squared_error == pytest.approx(signal * noise / (signal + noise))
    assert 0 < factor < 1


@pytest.mark.parametrize("n_columns", [3, 12, 40, 100, 300])
@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian(0.4), SphericalPolynomial(a=4, p=10)])
def test_the_error_of_the_choice_is_that_of_the_terms(kernel, n_columns):
    """The choice has it from sums over the pairs; here each pair has its bias and variance."""
    X = blob(400, 9)
    if kernel.unit_norm:
        X = X + 1
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    pairs = Domain.of(X).all_pairs
    found = chosen(kernel, X, n_columns)
    exact = kernel.at_distance(pairs.distances)
    assert found.error_over(exact, pairs) == pytest.approx(found.mean_squared_error, rel=1e-6, abs=1e-20)


def test_more_columns_are_never_predicted_to_be_worse():
    errors = [chosen(Gaussian(), blob(300, 7), n).mean_squared_error for n in (4, 8, 16, 32, 64, 128, 256)]
    assert all(after <= before * 1.01 for before, after in pairwise(errors))


def redrawn(fitted: MVORF, Y, n_draws: int) -> np.ndarray:
    """Kernel matrices of independent draws of the sample of a fitted map."""
    values, rng, found = [], np.random.default_rng(1), fitted.composition_
    pole, unit = pole_of(fitted), fitted.kernel_.unit_norm
    for _ in range(n_draws):
        fitted.blocks_ = (harmonics_of(found, pole, fitted.n_components, rng, unit_rows=unit),)
        values.append(fitted.kernel_matrix(Y))
    return np.array(values)


def pole_of(fitted: MVORF) -> np.ndarray:
    return fitted.blocks_[0].functions.pole


def indefinite(z: np.ndarray) -> np.ndarray:
    """The profile of a difference of Gaussian kernels."""
    return 2 * np.exp(-(z**2) / 2) - np.exp(-(z**2) / 8)


@pytest.mark.parametrize(
    ("kernel", "n_columns"),
    [
        (Gaussian(), 20),
        pytest.param(Gaussian(), 30, marks=pytest.mark.nightly),
        pytest.param(Gaussian(), 60, marks=pytest.mark.nightly),
        (RadialFunction(indefinite), 20),
        pytest.param(SphericalPolynomial(4, 10), 20, marks=pytest.mark.nightly),
    ],
)
def test_mean_and_variance(kernel, n_columns):
    """Law: mean and variance of 1,000 draws at six rows are those of the terms; z-tests at 1e-6."""
    X, Y = blob(300, 8), blob(6, 8, seed=4)
    if kernel.unit_norm:
        X, Y = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (np.concatenate([X, -X]), Y))
    fitted = MVORF(kernel, n_columns, random_state=0).fit(X)
    found = fitted.composition_
    assert isinstance(found, RadialHarmonics)
    assert found.samples
    i, j = np.triu_indices(len(Y))
    values = redrawn(fitted, Y, 1000)[:, i, j]
    distances = np.linalg.norm(Y[i] - Y[j], axis=1)
    seen = Y - pole_of(fitted)
    norms = np.linalg.norm(seen, axis=1)
    cosines = np.clip((seen @ seen.T / np.outer(norms, norms))[i, j], -1, 1)
    pairs = Domain.of(X).all_pairs
    here = type(pairs)(pole_of(fitted), norms[[i, j]], cosines, distances, np.full(len(i), 1 / len(i)))
    mean = found.terms(here).kernels().sum(axis=0)
    noise = values.std(axis=0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - mean) < LIMIT * noise + 1e-9)
    squares = (values - mean) ** 2
    variance = found.error_over(mean, here)
    noise = squares.mean(axis=1).std() / np.sqrt(len(squares))
    assert abs(squares.mean() - variance) < LIMIT * noise


@pytest.mark.parametrize("n_columns", [20, 100, 400])
def test_the_error_is_the_predicted_one(n_columns):
    """On fresh rows of the same law: the root mean square of 30 draws is the prediction within 10 %."""
    kernel, X, T = Gaussian(), blob(2000, 12), blob(1000, 12, seed=1)
    fitted = MVORF(kernel, n_columns, random_state=0).fit(X)
    assert isinstance(fitted.composition_, RadialHarmonics)
    errors = ((redrawn(fitted, T, 30) - kernel(T)) ** 2).mean()
    assert np.sqrt(errors) == pytest.approx(fitted.predicted_error_, rel=0.1)


def test_kernels_that_are_positive_definite_on_the_sphere_have_positive_columns_only():
    X = blob(300, 8)
    X[:, 0] += 1
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for positive in (False, True):
        found = chosen(SphericalPolynomial(a=4, p=3), X, 100, positive=positive)
        signs = [each.signs[0] for each in found.functions]
        assert positive == (min(signs) > 0)


@pytest.mark.parametrize("n_columns", [20, 30, 100])
@pytest.mark.parametrize("kernel", [Gaussian(), RadialFunction(indefinite)])
def test_sparse_single_and_restored_rows_have_the_same_features(kernel, n_columns):
    X = blob(500, 10)
    X[np.abs(X) < 0.1] = 0
    fitted = MVORF(kernel, n_columns, random_state=0).fit(X)
    assert isinstance(fitted.composition_, RadialHarmonics)
    Z = fitted.transform(X)
    assert Z.shape[1] == n_columns == len(fitted.signature_)
    assert np.abs(fitted.transform(csr_array(X)) - Z).max() < 1e-12
    single = fitted.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - Z).max() < 1e-5 * np.abs(Z).max()
    again = MVORF(kernel, n_columns).restore(fitted.state())
    assert np.array_equal(again.transform(X), Z)
    assert np.array_equal(again.signature_, fitted.signature_)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_dimensions(d):
    """All harmonics of a degree are few columns, of which there is no sample."""
    X = blob(300, d)
    for n_columns in (1, 2, 3, 10, 60):
        found = chosen(Gaussian(), X, n_columns)
        assert np.isfinite(found.mean_squared_error)
        assert MVORF(Gaussian(), n_columns, random_state=0).fit_transform(X).shape[1] == n_columns
