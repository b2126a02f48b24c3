"""Metrics of the error of an approximate kernel matrix, and of the predictions of a learner."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

SINGLE_PRECISION = 1e-5
_SMALL = 200


def relative_frobenius_error(K: ArrayLike, K_hat: ArrayLike, norm: float | None = None) -> float:
    """Return the relative error ||K - K_hat||_F / ||K||_F in the Frobenius norm.

    It is the error in figure 2 and table II of luo2021.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, m)
        Exact and approximate kernel matrix.
    norm : float, optional
        The norm of K, if it is already known. By default it is computed.

    Returns
    -------
    float
        The relative error, at least 0 and without a unit.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is not finite, or K is zero.
    """
    K, K_hat = _matrices(K, K_hat)
    return _ratio(float(np.linalg.norm(K - K_hat)), float(np.linalg.norm(K)) if norm is None else norm)


def relative_spectral_error(K: ArrayLike, K_hat: ArrayLike, norm: float | None = None) -> float:
    """Return the relative error ||K - K_hat||_2 / ||K||_2 in the spectral norm.

    It is the error in figure 1 of liu2020.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, m)
        Exact and approximate kernel matrix.
    norm : float, optional
        The spectral norm of K, if it is already known. By default it is computed.

    Returns
    -------
    float
        The relative error, at least 0 and without a unit.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is not finite, or K is zero.
    """
    K, K_hat = _matrices(K, K_hat)
    return _ratio(spectral_norm(K - K_hat), spectral_norm(K) if norm is None else norm)


def mean_squared_error(K: ArrayLike, K_hat: ArrayLike) -> float:
    """Return the mean of (K - K_hat)^2 over all entries.

    It is the error in figure 2 of pennington2015.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, m)
        Exact and approximate kernel matrix.

    Returns
    -------
    float
        The mean, in squared units of the kernel.

    Raises
    ------
    ValueError
        If the shapes differ or an entry is not finite.
    """
    K, K_hat = _matrices(K, K_hat)
    return float(np.mean((K - K_hat) ** 2))


def regularised_spectral_error(
    K: ArrayLike, K_hat: ArrayLike, ridge: float, decomposition: tuple[NDArray, NDArray] | None = None
) -> float:
    """Return the spectral norm of A (K_hat - K) A with A = (|K| + n ridge I)^(-1/2).

    If it is below one, kernel ridge regression with K_hat predicts as well as with K, up to a factor (Avron et
    al., *Random Fourier features for kernel ridge regression*, ICML 2017, definition 1). |K| has the absolute
    eigenvalues of K, so that the error is defined for an indefinite K too.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, n)
        Exact and approximate kernel matrix, symmetric.
    ridge : float
        The ridge lambda, above 0, in units of the kernel.
    decomposition : tuple of ndarray, optional
        Eigenvalues (n,) and eigenvectors (n, n) of K as ``scipy.linalg.eigh`` returns them, if they are already
        known. By default they are computed.

    Returns
    -------
    float
        The error, at least 0 and without a unit.

    Raises
    ------
    ValueError
        If the shapes differ, a matrix is not symmetric, an entry is not finite, or the ridge is not finite and
        above 0.
    """
    return regularised_spectral_errors(K, K_hat, [ridge], decomposition)[0]


def regularised_spectral_errors(
    K: ArrayLike,
    K_hat: ArrayLike,
    ridges: Sequence[float],
    decomposition: tuple[NDArray, NDArray] | None = None,
) -> list[float]:
    """Return `regularised_spectral_error` for each of several ridges, with one eigendecomposition for all.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, n)
        Exact and approximate kernel matrix, symmetric.
    ridges : sequence of float
        The ridges lambda, above 0, in units of the kernel.
    decomposition : tuple of ndarray, optional
        Eigenvalues and eigenvectors of K, as for `regularised_spectral_error`.

    Returns
    -------
    list of float
        One error for each ridge.

    Raises
    ------
    ValueError
        As `regularised_spectral_error` does.
    """
    K, K_hat = _matrices(K, K_hat)
    for ridge in ridges:
        _check_ridge("regularised_spectral_error", ridge)
    _check_symmetric("regularised_spectral_error", min(ridges, default=0.0), K=K, K_hat=K_hat)
    eigenvalues, vectors = linalg.eigh(K) if decomposition is None else decomposition
    difference = vectors.T @ (K_hat - K) @ vectors
    scales = (1 / np.sqrt(np.abs(eigenvalues) + len(K) * ridge) for ridge in ridges)
    return [_largest_eigenvalue(scale[:, None] * difference * scale) for scale in scales]


def error_at(K: ArrayLike, K_hat: ArrayLike, entries: tuple[NDArray, NDArray]) -> float:
    """Return the root mean square of K_hat - K at some entries, divided by that of K at all entries.

    Errors at different entries, such as the diagonal and `nearest_pairs`, can be compared because the divisor is
    the same. It does not vanish where the kernel does, as DeltaGaussian((1, -1), ...) does at the distance 0.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, m)
        Exact and approximate kernel matrix.
    entries : tuple of two ndarrays of int
        Row indices and column indices of the entries, which index the matrices as ``K[entries]``.

    Returns
    -------
    float
        The error, at least 0 and without a unit.

    Raises
    ------
    ValueError
        If the shapes differ, an entry is not finite, K is zero, or no entries are given.
    """
    K, K_hat = _matrices(K, K_hat)
    squares = (K_hat[entries] - K[entries]) ** 2
    if squares.size == 0:
        raise ValueError("error_at: entries must hold at least one pair of indices, got none.")
    return _ratio(float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(K**2))))


def nearest_pairs(X: ArrayLike, share: float = 0.01) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of different rows that are nearest to each other.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows.
    share : float, default=0.01
        How many of the n (n - 1) / 2 pairs to return, as a share above 0 and up to 1. At least one is returned. Of
        pairs at equal distances, the first ones in lexicographic order of (i, j) are taken.

    Returns
    -------
    i, j : ndarray of shape (n_pairs,)
        Indices of the rows, with i < j.

    Raises
    ------
    ValueError
        If X has fewer than two rows, an entry is not finite, or the share is out of its range.
    """
    from scipy.spatial.distance import pdist  # slow to import, and needed here only

    rows = _finite(X)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"nearest_pairs: X must be a matrix of two or more rows, got shape {rows.shape}.")
    if not 0 < share <= 1:
        raise ValueError(f"nearest_pairs: share must be above 0 and up to 1, got {share!r}.")
    distances = pdist(rows)
    nearest = np.sort(np.argsort(distances, kind="stable")[: max(1, round(share * len(distances)))])
    first, second = np.triu_indices(len(rows), k=1)
    return first[nearest], second[nearest]


def log_eigenvalue_ratio(K: ArrayLike, K_hat: ArrayLike) -> NDArray[np.float64]:
    """Return the natural logarithm of each eigenvalue of K_hat divided by that of K, in descending order.

    It is what figure 3a of pennington2015 shows: zero for an exact approximation, and negative where the
    eigenvalues of K_hat are too small because its rank is.

    Parameters
    ----------
    K, K_hat : array-like of shape (n, n)
        Symmetric kernel matrices.

    Returns
    -------
    ndarray of shape (n,)
        The i-th entry compares the i-th largest eigenvalues. It is -inf if that of K_hat is not positive, and nan
        if that of K is not. An eigenvalue counts as positive if it exceeds n * eps times the largest absolute
        eigenvalue of K.

    Raises
    ------
    ValueError
        If the matrices are not symmetric, differ in shape, or are not finite.
    """
    K, K_hat = _matrices(K, K_hat)
    _check_symmetric("log_eigenvalue_ratio", 0.0, K=K, K_hat=K_hat)
    exact, approximate = linalg.eigvalsh(K)[::-1], linalg.eigvalsh(K_hat)[::-1]
    floor = len(K) * np.finfo(np.float64).eps * max(abs(exact[0]), abs(exact[-1]))
    ratio = np.full(len(K), np.nan)
    known = exact > floor
    ratio[known] = -np.inf
    both = known & (approximate > floor)
    ratio[both] = np.log(approximate[both] / exact[both])
    return ratio


def degrees_of_freedom(K: ArrayLike, y: ArrayLike, ridge: float | None = None) -> tuple[float, float]:
    """Return the effective degrees of freedom d_K of a kernel matrix, and their surrogate D_K (liu2020).

    d_K = Tr K (K + n ridge I)^-1 and D_K = Tr (y y^T + n I) K / (n^2 ridge). Up to constants, d_K log d_K features
    drawn by leverage scores, or D_K log D_K features drawn by surrogate scores, are enough for the accuracy of the
    exact kernel (theorem 1 and table 1 of the paper).

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix.
    y : array-like of shape (n,)
        Targets.
    ridge : float, optional
        The paper's lambda, above 0; by default 1 / sqrt(n), as in its table 1.

    Returns
    -------
    d_K, D_K : float
        Both numbers.

    Raises
    ------
    ValueError
        If K is not a symmetric matrix, y has not one target for each row of K, an entry is not finite, or the
        ridge is not finite and above 0.
    """
    (K, _), targets = _matrices(K, K), _finite(y)
    n = len(K)
    ridge = 1 / np.sqrt(n) if ridge is None else ridge
    _check_ridge("degrees_of_freedom", ridge)
    _check_symmetric("degrees_of_freedom", ridge, K=K)
    if targets.shape != (n,):
        raise ValueError(
            f"degrees_of_freedom: y must have the shape ({n},), one target for each row of K, got {targets.shape}."
        )
    eigenvalues = np.maximum(linalg.eigvalsh(K), 0)
    effective = np.sum(eigenvalues / (eigenvalues + n * ridge))
    surrogate = (targets @ K @ targets + n * np.trace(K)) / (n**2 * ridge)
    return float(effective), float(surrogate)


def accuracy(y_true: ArrayLike, y_predicted: ArrayLike) -> float:
    """Return the share of labels that are predicted correctly.

    Parameters
    ----------
    y_true, y_predicted : array-like of shape (n,)
        True and predicted labels.

    Returns
    -------
    float
        The share, between 0 and 1.

    Raises
    ------
    ValueError
        If the shapes differ or the arrays are empty.
    """
    true, predicted = np.asarray(y_true), np.asarray(y_predicted)
    _check_pair(true, predicted)
    return float(np.mean(true == predicted))


def rmse(y_true: ArrayLike, y_predicted: ArrayLike) -> float:
    """Return the root mean squared error of predicted targets.

    Parameters
    ----------
    y_true, y_predicted : array-like of shape (n,) or (n, n_targets)
        True and predicted targets.

    Returns
    -------
    float
        The error, in units of the targets.

    Raises
    ------
    ValueError
        If the shapes differ, a number is not finite, or the arrays are empty.
    """
    true, predicted = _finite(y_true), _finite(y_predicted)
    _check_pair(true, predicted)
    return float(np.sqrt(np.mean((true - predicted) ** 2)))


class PairedTTest(NamedTuple):
    """The result of `paired_t_test`.

    Parameters
    ----------
    statistic : float
        Student's t statistic of the mean difference a - b.
    pvalue : float
        The two-sided p-value.

    See Also
    --------
    scipy.stats.ttest_rel : The same test.

    Examples
    --------
    >>> from rflib.metrics import PairedTTest, paired_t_test
    >>> found = paired_t_test([0.91, 0.92, 0.93], [0.89, 0.91, 0.90])
    >>> isinstance(found, PairedTTest), round(found.pvalue, 2)
    (True, 0.07)
    """

    statistic: float
    pvalue: float


def paired_t_test(a: ArrayLike, b: ArrayLike) -> PairedTTest:
    """Test by Student's paired t-test whether two series of measurements have the same mean.

    It is the test in table 3 of liu2020.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Measurements of two methods in the same n >= 2 repetitions.

    Returns
    -------
    PairedTTest
        The statistic and the p-value. If all differences are equal, the p-value is 1 if they are zero, and 0
        otherwise.

    Raises
    ------
    ValueError
        If the shapes differ, a number is not finite, or there are fewer than two pairs.
    """
    from scipy import stats  # slow to import, and needed here only

    first, second = _finite(a), _finite(b)
    _check_pair(first, second)
    if first.ndim != 1 or len(first) < 2:
        raise ValueError(f"paired_t_test: a and b must hold two or more pairs, got shape {first.shape}.")
    difference = first - second
    if np.all(difference == difference[0]):
        constant = float(difference[0])
        return (
            PairedTTest(0.0, 1.0) if constant == 0 else PairedTTest(float(np.copysign(np.inf, constant)), 0.0)
        )
    statistic, pvalue = stats.ttest_rel(first, second)
    return PairedTTest(float(statistic), float(pvalue))


def spectral_norm(A: NDArray[np.float64]) -> float:
    """Return the spectral norm of a matrix, which is its largest singular value.

    Parameters
    ----------
    A : ndarray of shape (n, m)
        The matrix.

    Returns
    -------
    float
        The norm.

    Raises
    ------
    ValueError
        If A is not a matrix, has no entries, or an entry is not finite.
    """
    if A.ndim != 2 or A.size == 0 or not np.isfinite(A).all():
        raise ValueError(
            f"spectral_norm: A must be a matrix of finite numbers, not empty, got shape {A.shape}."
        )
    if _is_symmetric(A):
        eigenvalues = linalg.eigvalsh(A)
        return float(max(abs(eigenvalues[0]), abs(eigenvalues[-1])))
    return float(np.linalg.norm(A, 2))


def _largest_eigenvalue(A: NDArray[np.float64]) -> float:
    """Return the largest absolute eigenvalue of a symmetric matrix, by Lanczos' method if the matrix is large."""
    from scipy.sparse.linalg import ArpackError, eigsh  # slow to import, and needed here only

    if len(A) > _SMALL:
        try:
            start = np.random.default_rng(0).standard_normal(len(A))
            return float(abs(eigsh(A, 1, which="LM", v0=start, return_eigenvectors=False)[0]))
        except ArpackError:
            pass
    return float(np.abs(linalg.eigvalsh(A)[[0, -1]]).max())


def _is_symmetric(A: NDArray[np.float64], tolerance: float = 1e-10, scale: float = 0.0) -> bool:
    atol = tolerance * max(np.abs(A).max(), scale)
    return A.shape[0] == A.shape[1] and bool(np.allclose(A, A.T, rtol=0, atol=atol))


def _check_symmetric(function: str, scale: float, **matrices: NDArray[np.float64]) -> None:
    """Raise ValueError unless each is symmetric up to single precision of its largest entry, or of the scale."""
    for name, A in matrices.items():
        if not _is_symmetric(A, SINGLE_PRECISION, scale):
            square = A.shape[0] == A.shape[1]
            why = "it differs from its transpose" if square else f"it has the shape {A.shape}"
            raise ValueError(f"{function}: {name} must be a symmetric matrix, but {why}.")


def _check_ridge(function: str, ridge: float) -> None:
    if not 0 < ridge < np.inf:
        raise ValueError(f"{function}: ridge must be above 0 and finite, got {ridge!r}.")


def _ratio(numerator: float, denominator: float) -> float:
    if denominator == 0:
        raise ValueError("The exact kernel matrix is zero, so its relative error is not defined.")
    return numerator / denominator


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("The input contains NaN or infinity. Remove these entries or repair them first.")
    return array


def _matrices(K: ArrayLike, K_hat: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    exact, approximate = _finite(K), _finite(K_hat)
    _check_pair(exact, approximate)
    if exact.ndim != 2:
        raise ValueError(f"Kernel matrices must have two dimensions, got shape {exact.shape}.")
    return exact, approximate


def _check_pair(a: NDArray, b: NDArray) -> None:
    if a.shape != b.shape:
        raise ValueError(f"The two arrays differ in shape: {a.shape} and {b.shape}.")
    if a.size == 0:
        raise ValueError("The two arrays must not be empty.")
