"""Metrics against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, stats

from rflib.metrics import (
    accuracy,
    degrees_of_freedom,
    error_at,
    log_eigenvalue_ratio,
    mean_squared_error,
    nearest_pairs,
    paired_t_test,
    regularised_spectral_error,
    regularised_spectral_errors,
    relative_frobenius_error,
    relative_spectral_error,
    rmse,
    spectral_norm,
)

MATRIX_METRICS = [relative_frobenius_error, relative_spectral_error, mean_squared_error]


def kernels(seed=0, n=40):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 60))
    noise = rng.standard_normal((n, n))
    return Z @ Z.T, Z @ Z.T + noise + noise.T


def test_matrix_norms():
    K, K_hat = kernels()
    assert relative_frobenius_error(K, K_hat) == pytest.approx(
        np.sqrt(((K - K_hat) ** 2).sum() / (K**2).sum()), rel=1e-12
    )
    for rows in (slice(None), slice(25)):
        expected = np.linalg.svd((K - K_hat)[rows])[1][0] / np.linalg.svd(K[rows])[1][0]
        assert relative_spectral_error(K[rows], K_hat[rows]) == pytest.approx(expected, rel=1e-12)
    assert mean_squared_error(K, K_hat) == pytest.approx(np.mean(np.square(K - K_hat)))


@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_regularised_spectral_error(ridge):
    """The largest generalised eigenvalue of the difference against |K| + n ridge, of an indefinite K too."""
    K, K_hat = kernels()
    eigenvalues, vectors = np.linalg.eigh(K)
    for signs in (1, np.where(np.arange(len(K)) % 2, 1, -1)):
        exact = (vectors * eigenvalues * signs) @ vectors.T
        expected = np.abs(linalg.eigvalsh(K_hat - exact, K + len(K) * ridge * np.eye(len(K)))).max()
        found = regularised_spectral_error(exact, K_hat, ridge)
        assert found == pytest.approx(expected, rel=1e-9)
        assert found == regularised_spectral_error(exact, K_hat, ridge, linalg.eigh(exact))
    with pytest.raises(ValueError, match="ridge must be above 0"):
        regularised_spectral_error(K, K_hat, 0)


def test_regularised_errors_of_a_large_matrix_are_found_without_all_its_eigenvalues():
    K, K_hat = kernels(n=250)
    ridges = (1e-2, 1e-4)
    found = regularised_spectral_errors(K, K_hat, ridges)
    for ridge, error in zip(ridges, found, strict=True):
        expected = np.abs(linalg.eigvalsh(K_hat - K, K + len(K) * ridge * np.eye(len(K)))).max()
        assert error == pytest.approx(expected, rel=1e-7)
    assert found == regularised_spectral_errors(K, K_hat, ridges)
    assert regularised_spectral_error(K, K, 1e-4) == 0


SYMMETRIC = {
    "log_eigenvalue_ratio": lambda K: log_eigenvalue_ratio(K, K),
    "regularised_spectral_error": lambda K: regularised_spectral_error(K, K, 0.1),
    "degrees_of_freedom": lambda K: degrees_of_freedom(K, np.ones(len(K))),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_matrix_that_is_not_symmetric_is_refused(name):
    K, _ = kernels(n=5)
    with pytest.raises(ValueError, match=rf"{name}: K must be a symmetric matrix, but .*shape \(4, 5\)"):
        SYMMETRIC[name](K[:4])
    with pytest.raises(ValueError, match=f"{name}: K must be a symmetric matrix, but it differs"):
        SYMMETRIC[name](np.triu(K))
    with pytest.raises(ValueError, match="NaN"):
        SYMMETRIC[name](np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="two dimensions"):
        SYMMETRIC[name](K[0])
    with pytest.raises(ValueError, match="empty"):
        SYMMETRIC[name](K[:0, :0])


def test_an_approximation_must_be_like_the_kernel_matrix():
    K, K_hat = kernels()
    with pytest.raises(ValueError, match="differ in shape"):
        regularised_spectral_error(K, K_hat[:10, :10], 0.1)
    with pytest.raises(ValueError, match="K_hat must be a symmetric matrix, but it differs"):
        regularised_spectral_error(K, np.triu(K_hat), 0.1)
    assert np.isfinite(regularised_spectral_error(K.astype(np.float32), K_hat.astype(np.float32), 0.1))


def test_rounding_beside_a_kernel_that_vanishes_is_no_asymmetry():
    """It is small beside the ridge, though not beside the entries, all of which are rounding."""
    K = np.zeros((3, 3))
    rounding = 1e-16 * np.arange(9.0).reshape(3, 3)
    assert regularised_spectral_error(K, rounding, 1e-3) < 1e-12
    assert degrees_of_freedom(rounding, np.ones(3))[0] < 1e-12


@pytest.mark.parametrize("ridge", [0, -1.0, np.nan, np.inf])
def test_a_ridge_out_of_its_range_is_refused(ridge):
    K, K_hat = kernels()
    with pytest.raises(ValueError, match="regularised_spectral_error: ridge must be above 0 and finite"):
        regularised_spectral_errors(K, K_hat, [0.1, ridge])
    with pytest.raises(ValueError, match="degrees_of_freedom: ridge must be above 0 and finite"):
        degrees_of_freedom(K, np.ones(len(K)), ridge)


def test_degrees_of_freedom():
    K, _ = kernels()
    n, y = len(K), np.arange(len(K)) % 2
    for ridge, asked in ((1 / np.sqrt(n), None), (0.3, 0.3)):
        effective, surrogate = degrees_of_freedom(K, y, asked)
        assert effective == pytest.approx(np.trace(K @ np.linalg.inv(K + n * ridge * np.eye(n))), rel=1e-9)
        expected = np.trace((np.outer(y, y) + n * np.eye(n)) @ K) / (n**2 * ridge)
        assert surrogate == pytest.approx(expected, rel=1e-9)
    for targets in (y[:, None], y[:-1], y[0]):
        with pytest.raises(ValueError, match=r"degrees_of_freedom: y must have the shape \(40,\)"):
            degrees_of_freedom(K, targets)


@pytest.mark.parametrize(
    "A", [np.ones(3), np.ones((0, 2)), np.full((2, 2), np.nan)], ids=["1d", "empty", "nan"]
)
def test_the_spectral_norm_is_that_of_a_finite_matrix(A):
    with pytest.raises(ValueError, match="spectral_norm: A must be a matrix of finite numbers"):
        spectral_norm(A)


def test_errors_of_parts_have_one_unit():
    K, K_hat = kernels()
    rows, columns = np.nonzero(np.ones_like(K))
    assert error_at(K, K_hat, (rows, columns)) == pytest.approx(relative_frobenius_error(K, K_hat), rel=1e-12)
    diagonal = np.arange(len(K))
    expected = np.linalg.norm(np.diag(K_hat - K)) / np.linalg.norm(K) * np.sqrt(len(K))
    assert error_at(K, K_hat, (diagonal, diagonal)) == pytest.approx(expected, rel=1e-12)
    np.fill_diagonal(K, 0.0)
    assert np.isfinite(error_at(K, K_hat, (diagonal, diagonal))), "a kernel that vanishes at distance zero"
    with pytest.raises(ValueError, match="is zero"):
        error_at(0 * K, K_hat, (diagonal, diagonal))
    with pytest.raises(ValueError, match="error_at: entries must hold at least one pair"):
        error_at(K, K_hat, (diagonal[:0], diagonal[:0]))


def test_nearest_pairs():
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[7] = X[3]
    first, second = nearest_pairs(X, 0.1)
    assert len(first) == round(0.1 * 30 * 29 / 2)
    assert (first < second).all()
    assert (3, 7) in set(zip(first.tolist(), second.tolist(), strict=True))
    distances = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(30, k=1)]
    found = np.linalg.norm(X[first] - X[second], axis=1)
    np.testing.assert_allclose(np.sort(found), np.sort(distances)[: len(found)], atol=1e-12)
    assert [len(found) for found in nearest_pairs(X[:2])] == [1, 1]
    for rows, share, message in ((X[:1], 0.1, "two or more rows"), (X, 0, "share must be above 0")):
        with pytest.raises(ValueError, match=message):
            nearest_pairs(rows, share)


@given(scale=st.floats(0.1, 10), shift=st.floats(-0.9, 2))
def test_relative_errors_of_a_multiple(scale, shift):
    K, _ = kernels()
    for metric in (relative_frobenius_error, relative_spectral_error):
        assert metric(scale * K, (1 + shift) * scale * K) == pytest.approx(abs(shift), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("metric", [*MATRIX_METRICS, log_eigenvalue_ratio])
def test_bad_matrices(metric):
    K, _ = kernels(n=3)
    with pytest.raises(ValueError, match="differ in shape"):
        metric(K, K[:2])
    with pytest.raises(ValueError, match="NaN"):
        metric(K, np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match="two dimensions"):
        metric(K[0], K[0])
    with pytest.raises(ValueError, match="empty"):
        metric(K[:0], K[:0])


@pytest.mark.parametrize("metric", [relative_frobenius_error, relative_spectral_error])
def test_a_zero_kernel_has_no_relative_error(metric):
    with pytest.raises(ValueError, match="is zero"):
        metric(np.zeros((2, 2)), np.eye(2))


def test_log_eigenvalue_ratio_of_known_spectra():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    other = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    exact = np.array([5.0, 4.0, 3.0, 2.0, 0.0])
    approximate = np.array([10.0, 4.0, 1.0, 0.0, -1.0])
    ratio = log_eigenvalue_ratio(vectors * exact @ vectors.T, other * approximate @ other.T)
    np.testing.assert_allclose(ratio[:3], np.log([2, 1, 1 / 3]), atol=1e-12)
    assert ratio[3] == -np.inf
    assert np.isnan(ratio[4])


def test_log_eigenvalue_ratio_shows_lack_of_rank():
    K, _ = kernels()
    values, vectors = np.linalg.eigh(K)
    low_rank = vectors[:, -7:] * values[-7:] @ vectors[:, -7:].T
    ratio = log_eigenvalue_ratio(K, low_rank)
    np.testing.assert_allclose(ratio[:7], 0, atol=1e-10)
    assert np.all(np.isneginf(ratio[7:]))


def test_log_eigenvalue_ratio_takes_single_precision_but_not_asymmetry():
    K, K_hat = kernels()
    single = log_eigenvalue_ratio(K, K.astype(np.float32))
    np.testing.assert_allclose(single[:20], 0, atol=1e-4)
    K_hat[0, 1] += 1
    with pytest.raises(ValueError, match="symmetric"):
        log_eigenvalue_ratio(K, K_hat)


def test_scores():
    assert accuracy(["a", "b", "c", "a"], ["a", "b", "a", "a"]) == 0.75
    assert rmse([1, 2, 3], [1, 2, 6]) == pytest.approx(np.sqrt(3))
    with pytest.raises(ValueError, match="differ in shape"):
        accuracy([1, 2], [[1], [2]])
    with pytest.raises(ValueError, match="NaN"):
        rmse([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(ValueError, match="empty"):
        rmse([], [])


def test_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 10))
    difference = a - b
    statistic = difference.mean() / (difference.std(ddof=1) / np.sqrt(10))
    result = paired_t_test(a, b)
    assert result.statistic == pytest.approx(statistic, rel=1e-12)
    assert result.pvalue == pytest.approx(2 * stats.t(9).sf(abs(statistic)), rel=1e-12)
    assert paired_t_test(b, a).statistic == pytest.approx(-statistic, rel=1e-12)
    assert paired_t_test([1, 2], [1, 2]) == (0, 1)
    assert paired_t_test([1, 2], [2, 3]) == (-np.inf, 0)
    with pytest.raises(ValueError, match="two or more pairs"):
        paired_t_test([1], [2])
