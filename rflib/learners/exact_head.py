"""Ridge classification with an exact kernel, where each row is also predicted by the rows before it."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.utils.validation import check_consistent_length, validate_data

from rflib.kernels.base import Kernel
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.kernel_products import SingleKernel
from rflib.learners.logistic_head import SoftmaxHead
from rflib.learners.one_vs_rest import encode_labels
from rflib.learners.values import as_labels
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_number

# The share of the rows that are predicted by those before them, and the range of the factor of their scores.
_LATER, _FACTORS = 4, (1e-2, 1e3)
_HEIGHT = 512


class ExactHead(SoftmaxHead):
    """Classify by kernel ridge regression of +1 and -1, in single precision, with probabilities.

    With K + c I = L L^T for rows in random order, the solution of L z = y has L_ii z_i = y_i minus the prediction
    of row i by the fit to the rows before it (Dawid, Present position and potential developments, 1984). So one
    factorisation gives errors of the last quarter of the rows as if they were held out. The probabilities are
    softmax(s f), with the factor s that has the least log loss in these rows. Memory: n^2 numbers of 4 bytes.

    Parameters
    ----------
    kernel : Kernel
        Radial and positive definite.
    alpha : float, default=1e-6
        Ridge as a share of the weights of the rows.
    class_weight : dict or "balanced", optional
        As for `KRRClassifier`.
    seed : int, default=0
        Seed of the order of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Rows.
    dual_coef_, intercept_ : ndarray of shape (n_samples, n_classes) and (n_classes,)
        The function of each class.
    error_ : float
        Mean squared error of the rows that are predicted by those before them, summed over the classes.
    factor_ : float
        That of the scores.
    """

    def __init__(
        self, kernel: Kernel, alpha: float = 1e-6, *, class_weight: ClassWeight = None, seed: int = 0
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.class_weight = class_weight
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,).

        If the matrix is singular in single precision, the ridge is made ten times larger, and again.
        """
        check_number(self, "alpha", above=0)
        check_class_weight(self)
        rows, labels = validate_data(self, X, dtype=np.float32), as_labels(self, y)
        check_consistent_length(rows, labels)
        weights = class_weights(self, labels, sample_weight)
        order = np.random.default_rng(self.seed).permutation(len(rows))
        order = order if weights is None else order[weights[order] > 0]
        self.classes_, codes = encode_labels(self, labels, weights)
        self.X_fit_, codes = rows[order], codes[order]
        own = np.ones(len(order)) if weights is None else weights[order]
        targets = 2 * np.eye(len(self.classes_))[codes] - 1
        self.intercept_ = own @ targets / own.sum()
        alpha = self.alpha
        while (factor := self._factor(alpha * own.sum() / own)) is None:
            alpha *= 10
        solve = linalg.get_lapack_funcs("trtrs", (factor,))
        later = slice(len(order) - len(order) // _LATER, None)
        z = solve(factor, targets - self.intercept_, lower=1)[0]
        residuals = factor.diagonal()[later, None] * z[later].astype(np.float64)
        self.dual_coef_ = solve(factor, z, lower=1, trans=1)[0]
        self.error_ = float(np.average((residuals**2).sum(axis=1), weights=own[later]))
        self.factor_ = best_factor(targets[later] - residuals, codes[later], own[later])[0]
        return self

    def values(self, X: NDArray) -> NDArray[np.float64]:
        """Return the function of each class at rows X, (n_samples, n_classes)."""
        kernel = SingleKernel(self.kernel, self.X_fit_)
        parts = [kernel(*kernel.placed(X[part])) @ self.dual_coef_ for part in row_blocks(len(X), _HEIGHT)]
        return np.float64(np.concatenate(parts)) + self.intercept_

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.factor_ * self.values(validate_data(self, X, dtype=np.float32, reset=False))

    def _factor(self, ridge: NDArray) -> NDArray | None:
        """Return the Cholesky factor of the kernel matrix and a ridge for each row, in its lower triangle."""
        kernel, n = SingleKernel(self.kernel, self.X_fit_), len(ridge)
        (rows, norms), matrix = kernel.fixed, np.zeros((n, n), dtype=np.float32)
        for part in row_blocks(n, _HEIGHT):
            values = kernel(rows[part], norms[part], slice(part.start, n))
            np.fill_diagonal(values, 1 + ridge[part])
            matrix[part, part.start :] = values
        factor, info = linalg.get_lapack_funcs("potrf", (matrix,))(matrix.T, lower=1, clean=0, overwrite_a=1)
        return factor if info == 0 else None


def best_factor(
    scores: NDArray[np.float64], codes: NDArray, weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the factor of scores (n, n_classes) with the least mean log loss of their softmax, and this loss."""
    own, shares = scores[np.arange(len(scores)), codes], weights / weights.sum()

    def loss(logarithm: float) -> Any:
        factor = np.exp(logarithm)
        return shares @ (logsumexp(factor * scores, axis=1) - factor * own)

    found = minimize_scalar(loss, bounds=np.log(_FACTORS), method="bounded")
    return float(np.exp(found.x)), float(found.fun)
