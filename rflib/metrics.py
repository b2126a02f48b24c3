"""Metrics: how far an approximate kernel is from the exact one, and how well a learner predicts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

SINGLE_PRECISION = 1e-5
_SMALL = 200


def relative_frobenius_error(K: ArrayLike, K_hat: ArrayLike, norm: float | None = None) -> float:
    """Return ||K - K_hat||_F / ||K||_F (luo2021, figure 2 and table II).

    Parameters
    ----------
    K, K_hat : array-like of shape (n, m)
        Exact and approximate kernel matrix.
    norm : float, optional
        K's norm, where it is known from an earlier approximation of the same matrix.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is not finite, or K is zero.
    """
    K, K_hat = _matrices(K, K_hat)
    return _ratio(float(np.linalg.norm(K - K_hat)), float(np.linalg.norm(K)) if norm is None else norm)


def relative_spectral_error(K: ArrayLike, K_hat: ArrayLike, norm: float | None = None) -> float:
    """Return ||K - K_hat||_2 / ||K||_2, by spectral norms (liu2020, figure 1).

    Parameters and errors are those of `relative_frobenius_error`.
    """
    K, K_hat = _matrices(K, K_hat)
    return _ratio(spectral_norm(K - K_hat), spectral_norm(K) if norm is None else norm)


def mean_squared_error(K: ArrayLike, K_hat: ArrayLike) -> float:
    """Return the mean of (K - K_hat)^2 over all entries (pennington2015, figure 2).

    Parameters and errors are those of `relative_frobenius_error`.
    """
    K, K_hat = _matrices(K, K_hat)
    return float(np.mean((K - K_hat) ** 2))


def regularised_spectral_error(
    K: ArrayLike, K_hat: ArrayLike, ridge: float, decomposition: tuple[NDArray, NDArray] | None = None
) -> float:
    """Return ||A (K_hat - K) A||_2 with A = (|K| + n ridge I)^(-1/2), by spectral norms.

    Where it is below one, kernel ridge regression with K_hat predicts as with K up to a factor (Avron et al. 2017,
    definition 1). Of an indefinite K the absolute values of the eigenvalues count.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, n)
        Exact and approximate kernel matrix, symmetric.
    ridge : float
        The ridge lambda, above zero.
    decomposition : tuple of ndarray, optional
        Eigenvalues and eigenvectors of K, as `scipy.linalg.eigh` gives them, where they are known.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is not finite, or the ridge is not above zero.
    """
    return regularised_spectral_errors(K, K_hat, [ridge], decomposition)[0]


def regularised_spectral_errors(
    K: ArrayLike,
    K_hat: ArrayLike,
    ridges: Sequence[float],
    decomposition: tuple[NDArray, NDArray] | None = None,
) -> list[float]:
    """Return `regularised_spectral_error` for each of several ridges, with most of the work done once."""
    K, K_hat = _matrices(K, K_hat)
    for ridge in ridges:
        if not ridge > 0:
            raise ValueError(f"regularised_spectral_error: ridge must be above 0, got {ridge!r}.")
    eigenvalues, vectors = linalg.eigh(K) if decomposition is None else decomposition
    difference = vectors.T @ (K_hat - K) @ vectors
    scales = (1 / np.sqrt(np.abs(eigenvalues) + len(K) * ridge) for ridge in ridges)
    return [_largest_eigenvalue(scale[:, None] * difference * scale) for scale in scales]


def error_at(K: ArrayLike, K_hat: ArrayLike, entries: tuple[NDArray, NDArray]) -> float:
    """Return the root mean square of K_hat - K at some entries over that of K at all of them.

    So errors at different entries, such as the diagonal and `nearest_pairs`, have one unit, also where the kernel
    vanishes there, as DeltaGaussian((1, -1), ...) does at distance zero.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, m)
        Exact and approximate kernel matrix.
    entries : tuple of ndarray
        Rows and columns of the entries.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is not finite, or K is zero.
    """
    K, K_hat = _matrices(K, K_hat)
    squares = (K_hat[entries] - K[entries]) ** 2
    return _ratio(float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(K**2))))


def nearest_pairs(X: ArrayLike, share: float = 0.01) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices i < j of those rows of X, shape (n, d), that are nearest to each other.

    They are so large a share of all n (n - 1) / 2 pairs, at least one; of pairs at one distance the first come
    first.

    Raises
    ------
    ValueError
        If X has fewer than two rows, an entry is not finite, or the share is not above 0 and up to 1.
    """
    from scipy.spatial.distance import pdist  # slow to import, and needed here only

    rows = _finite(X)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"nearest_pairs needs two or more rows, got shape {rows.shape}.")
    if not 0 < share <= 1:
        raise ValueError(f"nearest_pairs: share must be above 0 and up to 1, got {share!r}.")
    distances = pdist(rows)
    nearest = np.sort(np.argsort(distances, kind="stable")[: max(1, round(share * len(distances)))])
    first, second = np.triu_indices(len(rows), k=1)
    return first[nearest], second[nearest]


def log_eigenvalue_ratio(K: ArrayLike, K_hat: ArrayLike) -> NDArray[np.float64]:
    """Return log(i-th largest eigenvalue of K_hat / that of K), natural logarithm (pennington2015, figure 3a).

    Zero for an exact approximation, falling below zero where K_hat lacks rank.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, n)
        Symmetric kernel matrices.

    Returns
    -------
    ndarray of shape (n,)
        In descending order of the eigenvalues. -inf where K_hat's eigenvalue is not positive, nan from where K's
        is not; both are judged against the rounding error of K's largest eigenvalue, n * eps.

    Raises
    ------
    ValueError
        If the matrices are not symmetric, differ in shape, or are not finite.
    """
    K, K_hat = _matrices(K, K_hat)
    if not (_is_symmetric(K, SINGLE_PRECISION) and _is_symmetric(K_hat, SINGLE_PRECISION)):
        raise ValueError("log_eigenvalue_ratio needs symmetric matrices.")
    exact, approximate = linalg.eigvalsh(K)[::-1], linalg.eigvalsh(K_hat)[::-1]
    floor = len(K) * np.finfo(np.float64).eps * max(abs(exact[0]), abs(exact[-1]))
    ratio = np.full(len(K), np.nan)
    known = exact > floor
    ratio[known] = -np.inf
    both = known & (approximate > floor)
    ratio[both] = np.log(approximate[both] / exact[both])
    return ratio


def degrees_of_freedom(K: ArrayLike, y: ArrayLike, ridge: float | None = None) -> tuple[float, float]:
    """Return liu2020's d_K = Tr K (K + n ridge I)^-1 and D_K = Tr (y y^T + n I) K / (n^2 ridge).

    d_K log d_K features drawn by leverage, and D_K log D_K drawn by the surrogate, cost no accuracy, up to
    constants (theorem 1 and table 1).

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix.
    y : array-like of shape (n,)
        Targets.
    ridge : float, optional
        The paper's lambda; None: 1 / sqrt(n), as in its table 1.
    """
    K, targets = _finite(K), _finite(y)
    n = len(K)
    ridge = 1 / np.sqrt(n) if ridge is None else ridge
    eigenvalues = np.maximum(linalg.eigvalsh(K), 0)
    effective = np.sum(eigenvalues / (eigenvalues + n * ridge))
    surrogate = (targets @ K @ targets + n * np.trace(K)) / (n**2 * ridge)
    return float(effective), float(surrogate)


def accuracy(y_true: ArrayLike, y_predicted: ArrayLike) -> float:
    """Return the share of equal labels, between 0 and 1; both array-likes are of shape (n,)."""
    true, predicted = np.asarray(y_true), np.asarray(y_predicted)
    _check_pair(true, predicted)
    return float(np.mean(true == predicted))


def rmse(y_true: ArrayLike, y_predicted: ArrayLike) -> float:
    """Return the root of the mean squared error, in the units of y; both array-likes are of one shape."""
    true, predicted = _finite(y_true), _finite(y_predicted)
    _check_pair(true, predicted)
    return float(np.sqrt(np.mean((true - predicted) ** 2)))


class PairedTTest(NamedTuple):
    """Student's t statistic of the mean difference a - b, and the two-sided p value."""

    statistic: float
    pvalue: float


def paired_t_test(a: ArrayLike, b: ArrayLike) -> PairedTTest:
    """Test whether paired measurements have the same mean (liu2020, table 3).

    Parameters
    ----------
    a, b : array-like of shape (n,), n >= 2
        Measurements of two methods on the same repetitions.

    Returns
    -------
    PairedTTest
        If all differences are equal, the p value is 1 for zero and 0 for another constant.
    """
    from scipy import stats  # slow to import, and needed here only

    first, second = _finite(a), _finite(b)
    _check_pair(first, second)
    if first.ndim != 1 or len(first) < 2:
        raise ValueError(f"paired_t_test needs two or more pairs, got shape {first.shape}.")
    difference = first - second
    if np.all(difference == difference[0]):
        constant = float(difference[0])
        return (
            PairedTTest(0.0, 1.0) if constant == 0 else PairedTTest(float(np.copysign(np.inf, constant)), 0.0)
        )
    statistic, pvalue = stats.ttest_rel(first, second)
    return PairedTTest(float(statistic), float(pvalue))


def spectral_norm(A: NDArray[np.float64]) -> float:
    """Return the largest singular value of A, shape (n, m)."""
    if _is_symmetric(A):
        eigenvalues = linalg.eigvalsh(A)
        return float(max(abs(eigenvalues[0]), abs(eigenvalues[-1])))
    return float(np.linalg.norm(A, 2))


def _largest_eigenvalue(A: NDArray[np.float64]) -> float:
    """Return the largest absolute eigenvalue of a symmetric matrix; for a large one by Lanczos' method."""
    from scipy.sparse.linalg import ArpackError, eigsh  # slow to import, and needed here only

    if len(A) > _SMALL:
        try:
            start = np.random.default_rng(0).standard_normal(len(A))
            return float(abs(eigsh(A, 1, which="LM", v0=start, return_eigenvectors=False)[0]))
        except ArpackError:
            pass
    return float(np.abs(linalg.eigvalsh(A)[[0, -1]]).max())


def _is_symmetric(A: NDArray[np.float64], tolerance: float = 1e-10) -> bool:
    return A.shape[0] == A.shape[1] and bool(np.allclose(A, A.T, rtol=0, atol=tolerance * np.abs(A).max()))


def _ratio(numerator: float, denominator: float) -> float:
    if denominator == 0:
        raise ValueError("The exact kernel matrix is zero: a relative error is not defined.")
    return numerator / denominator


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("Input contains NaN or infinity.")
    return array


def _matrices(K: ArrayLike, K_hat: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    exact, approximate = _finite(K), _finite(K_hat)
    _check_pair(exact, approximate)
    if exact.ndim != 2:
        raise ValueError(f"Kernel matrices have two dimensions, got shape {exact.shape}.")
    return exact, approximate


def _check_pair(a: NDArray, b: NDArray) -> None:
    if a.shape != b.shape:
        raise ValueError(f"The two arrays differ in shape: {a.shape} and {b.shape}.")
    if a.size == 0:
        raise ValueError("The arrays are empty.")
