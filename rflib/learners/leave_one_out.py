"""Leave-one-out residuals of ridge regression: exact, for all ridges, from one eigendecomposition.

Without row i the mean of the targets is m_i = (sum_j w_j y_j - w_i y_i) / (n - w_i), where n is the sum of the
weights. With A = Z^T W Z + c I, for the ridge c of the other rows, the residual of the left-out row is

    (y_i - m_i - p_i(y) + m_i p_i(1)) / (1 - h_i),   p_i(t) = z_i^T A^-1 Z^T W t,   h_i = w_i z_i^T A^-1 z_i

by the formula of Sherman and Morrison (Allen, The relationship between variable selection and data augmentation
and a method for prediction, Technometrics 1974). In the dual form, with R = W^(1/2) and K the kernel matrix,
elements of (R K R + c I)^-1 R (y - m_i) are divided by the diagonal of that inverse.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rflib.learners.moments import Blocks, Moments, rows_of_block
from rflib.learners.one_vs_rest import values_to_codes
from rflib.learners.ridge_system import ridge_sizes

# Rows of the matrix of eigenvectors that are worked on at a time.
_HEIGHT = 1024


def residuals_of_features(
    blocks: Blocks, moments: Moments, y: NDArray, weights: NDArray | None, alphas: NDArray, ridge: str
) -> NDArray[np.float64]:
    """Return the residuals of left-out rows for each alpha, (n_alphas, n, t).

    They are infinite where a system is singular, and NaN for rows of weight zero.

    Parameters
    ----------
    blocks : iterable of (slice, ndarray)
        The rows' places and their features.
    moments : Moments
        Those of all rows.
    y : ndarray of shape (n, t)
        The targets that the moments know.
    weights : ndarray of shape (n,), optional
        Weights of the rows.
    alphas, ridge
        As in `ridge_sizes`.
    """
    counted = slice(None) if weights is None else np.flatnonzero(weights)
    found = np.full((len(alphas), *y.shape), np.nan)
    if len(y[counted]) < len(moments.gram):
        Z = np.concatenate([rows_of_block(Z, np.ones(len(Z), bool), moments.gram) for _, Z in blocks])[
            counted
        ]
        found[:, counted] = residuals_of_kernel(
            Z @ Z.T, y[counted], None if weights is None else weights[counted], alphas, ridge
        )
        return found
    values, vectors = linalg.eigh(moments.gram, driver="evd", check_finite=False)
    rhs = vectors.T @ np.column_stack([moments.zy, moments.z_sum]).astype(vectors.dtype)
    for rows, Z in blocks:
        w = None if weights is None else weights[rows]
        part = np.full(len(Z), True) if w is None else w > 0
        targets, own = y[rows][part], np.ones(1) if w is None else w[part]
        means, rest = _of_others(targets, own, moments.y_sum, moments.n)
        basis = rows_of_block(Z, part, moments.gram) @ vectors
        for i, c in enumerate(ridge_sizes(alphas[:, None], ridge, rest)):
            if (sums := _sums(basis, values, rhs, c, definite=True)) is None:
                found[i, rows][part] = np.inf
                continue
            fits, leverages = sums
            left = np.maximum(1 - own * leverages, np.finfo(basis.dtype).eps)[:, None]
            found[i, rows][part] = (targets - means - fits[:, :-1] + means * fits[:, -1:]) / left
    return found


def residuals_of_kernel(
    K: NDArray, y: NDArray, weights: NDArray | None, alphas: NDArray, ridge: str
) -> NDArray[np.float64]:
    """Return the same from a kernel matrix (n, n), definite or not, of rows whose weights are above 0."""
    own = np.ones(1) if weights is None else weights
    total = len(y) if weights is None else weights.sum()
    means, rest = _of_others(y, own, (own[:, None] * y).sum(axis=0), total)
    roots = np.sqrt(own)[:, None]
    scaled = K if weights is None else K * np.outer(roots, roots)
    values, vectors = linalg.eigh(scaled, driver="evd", check_finite=False)
    sides = np.column_stack([roots * y, np.broadcast_to(roots, (len(y), 1))])
    rhs = vectors.T @ sides.astype(vectors.dtype)
    sizes = ridge_sizes(alphas[:, None], ridge, rest)
    found = np.full((len(alphas), *y.shape), np.inf)
    for i, c in enumerate(sizes):
        if (sums := _sums(vectors, values, rhs, c)) is not None:
            fits, diagonal = sums
            found[i] = (fits[:, :-1] - means * fits[:, -1:]) / (diagonal[:, None] * roots)
    return found


def held_out_errors(
    residuals: NDArray, targets: NDArray, weights: NDArray | None, criterion: str
) -> NDArray[np.float64]:
    """Return the mean loss of held-out rows, (n_alphas,), for residuals (n_alphas, n, t).

    It is the squared error or, of targets +1 and -1, the share of wrong labels; infinite where residuals are.
    """
    counted = slice(None) if weights is None else np.flatnonzero(weights)
    own = None if weights is None else weights[counted]
    errors = np.full(len(residuals), np.inf)
    for i, left in enumerate(residuals[:, counted]):
        if np.isfinite(left).all():
            y = targets[counted]
            wrong = criterion == "error_rate"
            losses = values_to_codes(y - left) != values_to_codes(y) if wrong else (left**2).mean(axis=1)
            errors[i] = np.average(losses, weights=own)
    return errors


def check_several_rows(owner: object, n: int) -> None:
    """Raise ValueError unless there are two rows with weight, of which one can be left out."""
    if n < 2:
        raise ValueError(
            f"{type(owner).__name__}: leaving out one row needs another one with a weight above 0, got "
            f"n_samples={n}. Give more rows, or give a single alpha."
        )


def _of_others(
    y: NDArray, weights: NDArray, y_sum: NDArray, total: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the targets without each row, (n, t), and the weights of the other rows together."""
    rest = total - weights
    means: NDArray[np.float64] = (y_sum - weights[:, None] * y) / rest[:, None]
    return means, rest


def _sums(
    basis: NDArray, values: NDArray, rhs: NDArray, c: NDArray, *, definite: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return B (L + c I)^-1 rhs and the diagonal of B (L + c I)^-1 B^T for rows B (n, m), or None if singular."""
    shifted = values + c[:, None]
    smallest = (shifted if definite else np.abs(shifted)).min()
    if not smallest > np.finfo(basis.dtype).eps * np.abs(values).max():
        return None
    inverse = (1 / shifted).astype(basis.dtype)
    fits, diagonal = np.empty((len(basis), rhs.shape[1])), np.empty(len(basis))
    for first in range(0, len(basis), _HEIGHT):
        rows = slice(first, first + _HEIGHT)
        shrunk = basis[rows] * (inverse if len(inverse) == 1 else inverse[rows])
        fits[rows], diagonal[rows] = shrunk @ rhs, np.einsum("nd,nd->n", basis[rows], shrunk)
    return fits, diagonal
