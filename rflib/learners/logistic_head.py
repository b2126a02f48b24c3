"""Logistic regression on features, for which ridge regression's Gram matrix makes the steps of L-BFGS few."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.moments import Moments
from rflib.learners.one_vs_rest import encode_labels
from rflib.learners.values import as_labels
from rflib.maps.row_blocks import row_blocks
from rflib.sklearn_bases import BaseEstimator, ClassifierMixin
from rflib.validation import check_number

# The loss of a class has at most this curvature in its score.
_CURVATURE = 0.25
_MAX_ITER = 100
_TOLERANCE = 3e-4
# Features in a block: of moments, and of one that stays in a cache between its two products.
_BLOCK_ELEMENTS, _CACHED = 1 << 22, 1 << 19


class SoftmaxHead(ClassifierMixin, BaseEstimator):
    """Mixin of a classifier whose probabilities are the softmax of its ``_scores`` (n, n_classes)."""

    classes_: NDArray
    _scores: Callable[[ArrayLike], NDArray[np.float64]]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores of the classes, (n_samples, n_classes), or of the second one of two, (n_samples,)."""
        check_is_fitted(self)
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities of the classes, (n_samples, n_classes)."""
        check_is_fitted(self)
        found: NDArray[np.float64] = softmax(self._scores(X), axis=1)
        return found

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the most probable labels, (n_samples,)."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]


class LogisticHead(SoftmaxHead):
    """Minimise the mean log loss of softmax(Z B + b) and alpha / 2 times the squares of B.

    The Hessian is about that of ridge regression, (Z^T Z / 4 n + alpha I). L-BFGS in coordinates in which this is
    the identity takes some tens of steps, where scikit-learn's ``LogisticRegression``, which minimises the same
    for C = 1 / (n alpha), or twice that for two classes, takes thousands on features whose
    variances differ by many orders.

    Parameters
    ----------
    alpha : float, default=1e-4
        Ridge.
    class_weight : dict or "balanced", optional
        As for `KRRClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    """

    def __init__(self, alpha: float = 1e-4, *, class_weight: ClassWeight = None):
        self.alpha = alpha
        self.class_weight = class_weight

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        moments: Moments | None = None,
    ) -> Self:
        """Fit to features X (n_samples, n_features) and labels y (n_samples,).

        ``moments`` are those of the weighted features, if they are known.
        """
        check_number(self, "alpha", above=0)
        check_class_weight(self)
        Z = validate_data(self, X, dtype=(np.float32, np.float64))
        labels = as_labels(self, y)
        weights = class_weights(self, labels, sample_weight)
        self.classes_, codes = encode_labels(self, labels, weights)
        shares = np.full(len(Z), 1 / len(Z)) if weights is None else weights / weights.sum()
        moments = moments or _moments(Z, weights)
        self.coef_, self.intercept_ = _minimum(Z, codes, len(self.classes_), shares, self.alpha, moments)
        return self

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        Z = validate_data(self, X, dtype=(np.float32, np.float64), reset=False)
        return (Z @ self.coef_.T.astype(Z.dtype)).astype(np.float64) + self.intercept_


def _moments(Z: NDArray, weights: NDArray | None) -> Moments:
    found = Moments(Z.shape[1], 0, np.float64)
    for part in row_blocks(len(Z), max(1, _BLOCK_ELEMENTS // Z.shape[1])):
        rows = np.ascontiguousarray(Z[part])
        found.add(rows, np.empty((len(rows), 0)), None if weights is None else weights[part])
    return found


def _minimum(
    Z: NDArray,
    codes: NDArray,
    n_classes: int,
    shares: NDArray[np.float64],
    alpha: float,
    moments: Moments,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients (n_classes, D) and intercepts (n_classes,) for weights of the rows that sum to one."""
    D = Z.shape[1]
    mean = moments.z_sum / moments.n
    gram = _CURVATURE * (moments.gram / moments.n - np.outer(mean, mean))
    noise = np.finfo(Z.dtype).eps * np.trace(gram)
    factor = linalg.cholesky(gram + (alpha + noise) * np.eye(D), lower=True)
    hits = np.eye(n_classes)[codes]
    prior = np.log(np.maximum(shares @ hits, 1e-12))
    blocks = row_blocks(len(Z), max(1, _CACHED // D))

    def solve(values: NDArray, transposed: bool) -> NDArray[np.float64]:
        found: NDArray[np.float64] = linalg.solve_triangular(
            factor, values, lower=True, trans=int(not transposed), check_finite=False
        )
        return found

    def objective(point: NDArray) -> tuple[float, NDArray[np.float64]]:
        steps = point.reshape(D + 1, n_classes)
        B, b = solve(steps[:D], False), steps[D] + prior
        single, offset = B.astype(Z.dtype), b - mean @ B
        loss, slope, gradient = alpha / 2 * np.vdot(B, B), np.zeros(n_classes), alpha * B
        for rows in blocks:  # each is read once
            scores = np.float64(Z[rows] @ single) + offset
            scores -= scores.max(axis=1, keepdims=True)
            chances = np.exp(scores)
            total = chances.sum(axis=1, keepdims=True)
            loss += shares[rows] @ (np.log(total[:, 0]) - np.einsum("nk,nk->n", scores, hits[rows]))
            rest = shares[rows, None] * (chances / total - hits[rows])
            slope += rest.sum(axis=0)
            gradient += Z[rows].T @ rest.astype(Z.dtype)
        return float(loss), np.append(solve(gradient - np.outer(mean, slope), True), slope)

    start: Any = np.zeros((D + 1) * n_classes)
    options = {"maxiter": _MAX_ITER, "gtol": _TOLERANCE}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x.reshape(D + 1, -1)
    B = solve(found[:D], False)
    return B.T, found[D] + prior - mean @ B
