"""Harmonics about the axis through the mean: exact projections of the kernel, unbiased samples, their errors."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from rflib.frequencies.axial_harmonics import AxialHarmonics, axial_harmonics
from rflib.frequencies.sampled_harmonics import SampledHarmonics
from rflib.frequencies.stratified_pairs import StratifiedPairs
from rflib.kernels import ArcCosine, Gaussian, SphericalPolynomial
from rflib.maps import MVORF, OptimizedMaclaurin
from rflib.maps.harmonics import harmonics_of
from rflib.measures.control_variates import polynomial_columns
from rflib.measures.row_pairs import RowPairs


def cap(n: int, d: int, spread: float = 0.4, seed: int = 0) -> np.ndarray:
    """Rows on the unit sphere near a point."""
    X = np.eye(1, d) + spread * np.random.default_rng(seed).standard_normal((n, d)) / np.sqrt(d)
    X = X @ np.linalg.qr(np.random.default_rng(99).standard_normal((d, d)))[0]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def digits() -> np.ndarray:
    X = load_digits().data
    X = X[np.random.default_rng(0).permutation(len(X))]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def chosen(kernel, X, n_columns: int) -> AxialHarmonics:
    measure, rows = MVORF(kernel).spectrum(X).candidates[0], StratifiedPairs.of(X)
    found = axial_harmonics(kernel, rows, rows.pairs, n_columns, measure)
    assert found is not None
    return found


def columns(found: AxialHarmonics, n_columns: int, axis: np.ndarray, X: np.ndarray, rng) -> np.ndarray:
    Z = np.empty((len(X), n_columns))
    harmonics_of(found, found.length * axis, n_columns, rng, unit_rows=True).fill(X, Z)
    return Z


@pytest.mark.parametrize(("d", "p"), [(3, 2), (4, 3), (9, 3), (12, 2)])
def test_a_polynomial_of_low_degree_is_exact(d, p):
    """All harmonics of a polynomial of degree p are columns if there are enough of them: those of R^d."""
    kernel, X, Y = SphericalPolynomial(a=4, p=p), cap(200, d), cap(100, d, spread=3, seed=1)
    enough = sum(polynomial_columns(d, degree) for degree in range(p + 1))
    fitted = MVORF(kernel, enough, random_state=0).fit(X)
    assert isinstance(fitted.composition_, AxialHarmonics)
    assert not fitted.composition_.samples
    assert np.abs(fitted.kernel_matrix(Y) - kernel(Y)).max() < 1e-9
    assert fitted.bias_estimate_ < 1e-9
    assert fitted.predicted_error_ < 1e-9


@pytest.mark.parametrize(
    ("kernel", "n_columns"),
    [
        pytest.param(SphericalPolynomial(a=4, p=10), 45, marks=pytest.mark.nightly),
        (SphericalPolynomial(a=2, p=3), 20),
        pytest.param(ArcCosine(), 100, marks=pytest.mark.nightly),
    ],
)
def test_the_mean_is_the_sum_of_the_projections(kernel, n_columns):
    """Law: the mean of 4,000 draws is the predicted one within 5 sd, and their variance within 15 %."""
    X = cap(300, 8)
    found, Y = chosen(kernel, X, n_columns), cap(6, 8, spread=0.8, seed=5)
    mean = X.mean(axis=0)
    axis, rng = mean / np.linalg.norm(mean), np.random.default_rng(0)
    draws = []
    for _ in range(4000 if found.samples else 2):
        Z = columns(found, n_columns, axis, Y, rng)
        draws.append(Z @ Z.T)
    values = np.array(draws)[:, *np.triu_indices(len(Y))]
    noise = values.std(axis=0) / np.sqrt(len(values))
    known = _moments(found, axis, Y)
    assert np.all(np.abs(values.mean(axis=0) - known[0]) < 5 * noise + 1e-10)
    if found.samples:
        assert values.var(axis=0).mean() / known[1] == pytest.approx(1, abs=0.15)


def _moments(found, axis, Y):
    """Mean at pairs of rows of unit norm, in the order of `np.triu_indices`, and the mean of their variances."""
    i, j = np.triu_indices(len(Y))
    norms = np.sqrt(1 + found.length**2 - 2 * found.length * (Y @ axis))
    distances = np.sqrt(np.maximum(2 - 2 * (Y @ Y.T)[i, j], 0))
    shares = np.full(len(i), 1 / len(i))
    pairs = RowPairs(0 * axis, norms[[i, j]], 0 * shares, distances, shares)
    mean = found.terms(pairs).kernels().sum(axis=0)
    return mean, found.error_over(mean, pairs)


@pytest.mark.parametrize("n_columns", [5, 30, 200])
def test_what_is_left_out_is_positive_definite(n_columns):
    """So the bias at any two points of the sphere is at most its largest value on the diagonal."""
    kernel, X = SphericalPolynomial(a=2, p=7), cap(300, 6)
    found, Y = chosen(kernel, X, n_columns), cap(80, 6, spread=5, seed=2)
    mean = X.mean(axis=0)
    i, j = np.triu_indices(len(Y))
    left = np.zeros((len(Y), len(Y)))
    left[i, j] = kernel(Y)[i, j] - _moments(found, mean / np.linalg.norm(mean), Y)[0]
    left = np.triu(left) + np.triu(left, 1).T
    assert np.linalg.eigvalsh(left).min() > -1e-9
    assert np.abs(left).max() <= found.bias_estimate(kernel, 0, 2) + 1e-9


@pytest.mark.parametrize("kernel", [SphericalPolynomial(a=4, p=3), SphericalPolynomial(a=4, p=10)])
@pytest.mark.parametrize("n_columns", [128, 512])
def test_the_error_is_the_predicted_one_and_lower_than_that_of_sketches(kernel, n_columns):
    X = digits()
    train, test = X[:1000], X[1000:]
    K = kernel(test)
    fitted = MVORF(kernel, n_columns, random_state=0).fit(train)
    assert isinstance(fitted.composition_, SampledHarmonics)
    assert np.all(fitted.signature_ == 1)
    error = np.sqrt(((fitted.kernel_matrix(test) - K) ** 2).mean())
    assert error == pytest.approx(fitted.predicted_error_, rel=0.1)
    sketch = OptimizedMaclaurin(kernel, n_columns, random_state=0).fit(train)
    assert error < np.sqrt(((sketch.kernel_matrix(test) - K) ** 2).mean())


@pytest.mark.parametrize("n_columns", [128, 600])
def test_sparse_single_and_restored_rows_have_the_same_features(n_columns):
    X, kernel = digits(), SphericalPolynomial(a=4, p=3)
    fitted = MVORF(kernel, n_columns, random_state=0).fit(X)
    assert isinstance(fitted.composition_, AxialHarmonics)
    Z = fitted.transform(X)
    assert np.abs(fitted.transform(csr_array(X)) - Z).max() < 1e-12
    single = fitted.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - Z).max() < 1e-5
    again = MVORF(kernel, n_columns).restore(fitted.state())
    assert np.array_equal(again.transform(X), Z)
    other = MVORF(kernel, n_columns, random_state=0).fit(csr_array(X))
    assert np.abs(other.transform(X) - Z).max() < 1e-5


def test_other_maps_have_no_axis():
    """Neither rows about the origin, nor kernels of all rows."""
    X = cap(200, 5)
    around = np.concatenate([X, -X])
    kernel = SphericalPolynomial(a=4, p=3)
    others = [
        MVORF(kernel, 40).fit(around),
        MVORF(Gaussian(), 40).fit(X),
    ]
    assert not any(isinstance(other.composition_, AxialHarmonics) for other in others)


def test_rows_on_one_line_through_the_sphere():
    """Equal rows have no part across the axis; their kernel is the constant."""
    X = np.tile(cap(1, 4), (20, 1))
    fitted = MVORF(SphericalPolynomial(a=4, p=3), 12, random_state=0).fit(X)
    assert np.abs(fitted.kernel_matrix(X) - 1).max() < 1e-6


def test_few_rows_far_from_the_others_are_seen():
    """Law: with .3 % of the rows on the other side, the predicted error is that of 20 draws within 15 %."""
    X, kernel = cap(3000, 10, spread=0.2), SphericalPolynomial(a=4, p=10)
    X[::300] *= -1
    maps = [MVORF(kernel, 100, random_state=seed).fit(X) for seed in range(20)]
    assert isinstance(maps[0].composition_, AxialHarmonics)
    T = X[:1500]
    errors = [((fitted.kernel_matrix(T) - kernel(T)) ** 2).mean() for fitted in maps]
    assert np.sqrt(np.mean(errors)) == pytest.approx(maps[0].predicted_error_, rel=0.15)
