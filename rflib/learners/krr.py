"""Kernel ridge regression on random features, streamed: all folds and all ridges from one pass over the rows."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.learners.folds import check_folds, fold_numbers
from rflib.learners.moments import fold_moments
from rflib.learners.one_vs_rest import OneVsRestClassifier, codes_to_targets, encode_labels
from rflib.learners.parameter_checks import check_positive_numbers, check_seed
from rflib.learners.ridge_system import RIDGES
from rflib.learners.signed_features import (
    FLOATS,
    SignedFeatures,
    check_feature_map,
    check_signed,
    features_of,
    find_signs,
)
from rflib.learners.streaming_ridge import StreamingRidge
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_choice, check_integer


class _FeatureRidge(SignedFeatures, BaseEstimator):
    """Ridge regression of targets on features that are made, used and dropped block by block."""

    coef_: NDArray
    intercept_: Any

    def __init__(
        self,
        *,
        alphas: ArrayLike = (0.05, 0.1, 0.5, 1.0),
        ridge: str = "n_lambda",
        cv: Any = 5,
        feature_map: Any = None,
        signature: ArrayLike | None = None,
        signed: str = "associated",
        block_size: int = 4096,
        gram_dtype: str | None = None,
        random_state: Any = 0,
    ):
        self.alphas = alphas
        self.ridge = ridge
        self.cv = cv
        self.feature_map = feature_map
        self.signature = signature
        self.signed = signed
        self.block_size = block_size
        self.gram_dtype = gram_dtype
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive_numbers(self, "alphas")
        check_choice(self, "ridge", RIDGES)
        check_folds(self)
        check_feature_map(self)
        if self.feature_map is not None and self.signature is not None:
            name = type(self).__name__
            raise ValueError(f"{name}: signature is for features; with a feature_map its signature_ is used.")
        check_signed(self, krein=True)
        check_integer(self, "block_size", at_least=1)
        check_choice(self, "gram_dtype", ("float32", "float64", None))
        check_seed(self)

    def _fit_map(self, X: NDArray, y: ArrayLike) -> None:
        if self.feature_map is not None:
            self.feature_map_ = clone(self.feature_map).fit(X, y)

    def _fit_stream(self, X: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """Fit on checked rows; return coefficients (n_components, n_targets) and intercepts (n_targets,)."""
        alphas = check_positive_numbers(self, "alphas")
        folds = fold_numbers(self, y) if len(alphas) > 1 else np.zeros(len(X), dtype=int)
        blocks = row_blocks(len(X), self.block_size)
        centre = sum(self._targets(y[rows]).sum(axis=0) for rows in blocks) / len(X)

        moments = fold_moments(
            self._used_blocks(X), lambda rows: self._targets(y[rows]) - centre, folds, self.gram_dtype
        )
        signs = self.signature_ if self.signed == "krein" else None
        solver = StreamingRidge(moments, folds, self.ridge, signs)
        best = 0
        if len(alphas) > 1:
            self.cv_errors_ = self._cv_errors(solver, alphas, X, y, centre)
            best = int(np.argmin(self.cv_errors_.mean(axis=1)))
        self.alpha_ = float(alphas[best])
        solution, offset = solver.solve(self.alpha_)
        coef = np.zeros((len(self.signature_), len(offset)), dtype=solution.dtype)
        coef[self._columns] = solution
        return coef, centre + offset

    def _cv_errors(
        self, solver: StreamingRidge, alphas: NDArray, X: NDArray, y: NDArray, centre: NDArray
    ) -> NDArray[np.float64]:
        return solver.squared_errors(alphas)

    def _used_blocks(self, X: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """Yield consecutive blocks of rows and the features that are used; the first finds their signs."""
        for rows, Z in self._feature_blocks(X):
            if rows.start == 0:
                fitted = None if self.feature_map is None else self.feature_map_
                self.signature_ = find_signs(self, Z.shape[1], fitted)
            yield rows, self._used(Z)

    def _feature_blocks(self, X: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """Yield consecutive blocks of rows and their features."""
        for rows in row_blocks(len(X), self.block_size):
            block = X[rows] if X.dtype in FLOATS else X[rows].astype(np.float64)
            yield rows, block if self.feature_map is None else features_of(self.feature_map_, block)

    def _values(self, X: ArrayLike) -> NDArray:
        """Return the predictions on checked rows, block by block, (n_samples, n_targets)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype="numeric", reset=False)
        coef = self._used(np.atleast_2d(self.coef_)).T
        return np.concatenate(
            [
                self._used(Z) @ coef.astype(Z.dtype, copy=False) + self.intercept_
                for _, Z in self._feature_blocks(rows)
            ]
        )

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        """Return the regression targets of some rows, (n, n_targets)."""
        raise NotImplementedError


class KRR(MultiOutputMixin, RegressorMixin, _FeatureRidge):
    """Kernel ridge regression on random features, with the ridge chosen by cross-validation.

    beta = (Z^T Z + c I)^-1 Z^T (y - mean(y)) and f(x) = mean(y) + <z(x), beta> (liu2020, section 2.1). The rows
    are seen once: Gram matrices and moments are accumulated for each fold, and both the training systems of all
    folds and their held-out errors follow from these. Memory: (K + 2) D^2 numbers for K folds and D columns
    (3 D^2 for a single alpha) and one block of block_size * D, whatever n is. Work: n D^2, and a factorisation
    for each fold and alpha (one eigendecomposition for each fold, if there are 16 alphas or more).

    Parameters
    ----------
    alphas : array-like of float or float, default=(0.05, 0.1, 0.5, 1)
        Ridges to choose from, positive (lambda in liu2020). A single one is used without cross-validation.
    ridge : {"n_lambda", "lambda"}, default="n_lambda"
        ``"n_lambda"``: c = n * alpha, as printed in liu2020; n counts the rows trained on, also within
        cross-validation. ``"lambda"``: c = alpha, as in the code released with it.
    cv : int, splitter or iterable, default=5
        Folds; a number means shuffled folds, drawn from random_state. Every row must be held out once.
    feature_map : transformer, optional
        Map from X to features; cloned and fitted on (X, y), then applied to blocks of rows. None: X holds the
        features already. X may be a numpy.memmap: only blocks of it are read.
    signature : array-like of shape (n_components,), optional
        Signs +1 and -1 of the features where X holds these, ``map.signature_``. With a feature_map its own are
        used, those of the last step if it is a Pipeline. ``"positive"`` and ``"krein"`` need one or the other: as
        the last step of a Pipeline a learner gets features without their signs.
    signed : {"associated", "positive", "krein"}, default="associated"
        What to do with -1 columns. ``"associated"``: use all columns without their signs, which is the positive
        definite kernel k_+ + k_-: right where only the score counts. ``"positive"``: only the +1 columns, k_+.
        ``"krein"``: the indefinite kernel k = k_+ - k_- itself, f = K_hat (K_hat + c I)^-1 y, whose
        features solve (Z^T Z + c E) beta = Z^T y with E = diag(signature). That is a stationary point, not a
        minimum, and it does not exist where -c is an eigenvalue of K_hat; near such c the solution is large and
        depends on the noise. Singular systems count as infinite error in cross-validation.
    block_size : int, default=4096
        Rows in a block. It changes results by rounding only.
    gram_dtype : {"float32", "float64"}, optional
        Precision of Gram matrices and solutions; None: that of the features. A float32 Gram matrix does not
        resolve alphas below about 1e-6 (for features whose rows have unit norm).
    random_state : int, RandomState or None, default=0
        Shuffles the folds.

    Attributes
    ----------
    alpha_ : float
        The alpha used.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
        Mean squared error of each alpha on each held-out fold; absent for a single alpha. alpha_ has the least
        mean over folds.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        beta; zero for columns that are not used.
    intercept_ : float or ndarray of shape (n_targets,)
        Mean of the targets.
    signature_ : ndarray of shape (n_components,)
        Signs of the features; all +1 where nothing tells them.
    feature_map_ : transformer
        The fitted map, if there is one.
    n_features_in_ : int
        Number of columns of X.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,) or (n_samples, n_targets).

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, a parameter is out of its range, the signature does
            not fit, there are fewer rows than folds, or the system is singular for the alpha chosen.
        """
        self._check_parameters()
        rows, y = validate_data(self, X, y, dtype="numeric", y_numeric=True, multi_output=True)
        targets = np.asarray(y, dtype=np.float64)
        self._fit_map(rows, y)
        coef, intercept = self._fit_stream(rows, targets)
        self.coef_, self.intercept_ = (
            (coef[:, 0], float(intercept[0])) if targets.ndim == 1 else (coef.T, intercept)
        )
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted targets of the rows, shaped as y was in fit."""
        values = self._values(X)
        return values[:, 0] if self.coef_.ndim == 1 else values

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        return y.reshape(len(y), -1)


class KRRClassifier(OneVsRestClassifier, _FeatureRidge):
    """Classification by kernel ridge regression of +1 and -1, one-vs-rest for several classes (liu2020).

    Parameters
    ----------
    alphas, ridge, feature_map, signature, signed, block_size, gram_dtype, random_state
        As for `KRR`.
    cv : int, splitter or iterable, default=5
        Folds; a number means shuffled, stratified folds.
    criterion : {"squared_error", "error_rate"}, default="squared_error"
        What cross-validation minimises. The error rate cannot be had from moments: it costs a second pass,
        which makes the features again.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Means of the +1 / -1 targets.
    alpha_, cv_errors_, signature_, feature_map_, n_features_in_
        As for `KRR`; the errors are those of the criterion.
    """

    def __init__(
        self,
        *,
        alphas: ArrayLike = (0.05, 0.1, 0.5, 1.0),
        ridge: str = "n_lambda",
        cv: Any = 5,
        criterion: str = "squared_error",
        feature_map: Any = None,
        signature: ArrayLike | None = None,
        signed: str = "associated",
        block_size: int = 4096,
        gram_dtype: str | None = None,
        random_state: Any = 0,
    ):
        super().__init__(
            alphas=alphas,
            ridge=ridge,
            cv=cv,
            feature_map=feature_map,
            signature=signature,
            signed=signed,
            block_size=block_size,
            gram_dtype=gram_dtype,
            random_state=random_state,
        )
        self.criterion = criterion

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,); errors as for `KRR`."""
        self._check_parameters()
        check_choice(self, "criterion", ("squared_error", "error_rate"))
        rows, y = validate_data(self, X, y, dtype="numeric")
        self.classes_, codes = encode_labels(self, y)
        self._fit_map(rows, y)
        coef, self.intercept_ = self._fit_stream(rows, codes)
        self.coef_ = coef.T
        return self

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        return codes_to_targets(y, len(self.classes_))

    def _cv_errors(
        self, solver: StreamingRidge, alphas: NDArray, X: NDArray, y: NDArray, centre: NDArray
    ) -> NDArray[np.float64]:
        if self.criterion == "squared_error":
            return super()._cv_errors(solver, alphas, X, y, centre)
        return solver.error_rates(alphas, self._used_blocks(X), y, centre)
