"""The hard-margin SVM on features, which is solved exactly as a least-distance problem."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.learners.checked_rows import CheckedRows
from rflib.learners.one_vs_rest import OneVsRestClassifier, codes_to_targets, encode_labels
from rflib.learners.signed_features import Signed, SignedFeatures, check_signed, find_signs
from rflib.learners.values import check_weights
from rflib.sklearn_bases import BaseEstimator

# Margins as a share of the longest row: smaller ones count as not separable; rounding leaves about 1e-15.
SMALLEST_MARGIN = 1e-8
CONSTRAINT_TOLERANCE = 1e-4


class HardMarginSVM(OneVsRestClassifier, CheckedRows, SignedFeatures, BaseEstimator):
    """Fit a linear support vector machine that allows no errors: the shortest w with y_i <z_i, w> >= 1 for all i.

    It is the limit of the soft-margin SVM for a cost that grows without bound, and exists only if a hyperplane
    through the origin separates the classes; for several classes, each from all others. Solved by non-negative
    least squares: with A = [y_i z_i] the residual of min over u >= 0 of ||[A; 1] u - (0, 1)|| is proportional to
    (-w, 1 / (1 + ||w||^2)), and it vanishes exactly if the data are not separable (Lawson and Hanson, Solving
    Least Squares Problems, chapter 23). For up to some thousands of rows.

    Parameters
    ----------
    signed, signature
        As for `LinearSVM`, which says what a linear learner computes on signed features.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w; zero for columns that are not used.
    margin_ : ndarray of shape (1,) or (n_classes,)
        Geometric margins 1 / ||w||.
    signature_ : ndarray of shape (n_features,)
        Signs of the columns.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    LinearSVM : With a cost of errors.

    Examples
    --------
    >>> from rflib.learners import HardMarginSVM
    >>> HardMarginSVM().fit([[1.0, 0.0], [-1.0, 0.0]], [0, 1]).margin_
    array([1.])
    """

    _row_types = np.float64

    def __init__(self, *, signed: Signed = "associated", signature: ArrayLike | None = None):
        self.signed = signed
        self.signature = signature

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to features X (n_samples, n_features) and labels y (n_samples,).

        Rows whose ``sample_weight`` (n_samples,) is zero are left out. All other weights are the same to it: no
        row has a loss that could count more, and a row that is repeated is the same constraint.

        Raises
        ------
        ValueError
            If the features do not separate a class from the others, there are fewer than two classes (with
            weight), X is not a finite matrix, a weight is negative, or a parameter is out of its range.
        """
        check_signed(self)
        Z, labels = self._checked(X, y, reset=True)
        weights = check_weights(self, sample_weight, len(labels))
        if weights is not None:
            Z, labels = Z[weights > 0], labels[weights > 0]
        self.classes_, codes = encode_labels(self, labels)
        targets = codes_to_targets(codes, len(self.classes_))
        names = self.classes_.tolist()[-targets.shape[1] :]
        self.signature_ = find_signs(self, Z.shape[1])
        used = self._used(Z)
        self.coef_ = np.zeros((len(names), Z.shape[1]))
        self.coef_[:, self._columns] = [
            self._separate(used, *pair) for pair in zip(targets.T, names, strict=True)
        ]
        self.margin_ = 1 / np.linalg.norm(self.coef_, axis=1)
        return self

    def _values(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        Z = self._rows(X)
        return self._used(Z) @ self._used(self.coef_).T

    def _separate(self, Z: NDArray, signs: NDArray, label: Any) -> NDArray[np.float64]:
        """Return the shortest w with signs * (Z w) >= 1."""
        scale = max(np.sqrt(np.einsum("ij,ij->i", Z, Z).max()), np.finfo(float).tiny)
        rows = signs[:, None] * Z / scale
        goal = np.zeros(Z.shape[1] + 1)
        goal[-1] = 1
        system = np.vstack([rows.T, np.ones(len(rows))])
        residual = goal - system @ nnls(system, goal, maxiter=30 * len(rows))[0]
        if np.linalg.norm(residual) > SMALLEST_MARGIN:
            w: NDArray[np.float64] = -residual[:-1] / residual[-1]
            if (rows @ w).min() > 1 - CONSTRAINT_TOLERANCE:
                return w / scale
        others = "the other" if len(self.classes_) == 2 else "the others"
        raise ValueError(
            f"HardMarginSVM: the features do not separate class {label!r} from {others} by a hyperplane through "
            "the origin, so there is no hard-margin SVM. Raise n_components of the map, or use LinearSVM, which "
            "allows errors."
        )
