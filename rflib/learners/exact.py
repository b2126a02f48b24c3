"""Exact-kernel learners: the reference that random features approximate, for as many rows as a matrix allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.kernels.base import Kernel
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.radial_function import as_kernel
from rflib.learners import checks
from rflib.learners.label_codes import codes_to_targets, encode_labels, targets_to_labels
from rflib.learners.moments import fold_numbers
from rflib.learners.ridge_system import RIDGES, ridge_sizes, solve_ridges
from rflib.validation import check_choice, check_number


class _ExactKernelEstimator(BaseEstimator):
    """Keeps the training rows, and makes kernel matrices between them and new rows."""

    kernel: Kernel | Callable[[NDArray], NDArray] | None

    def _check_parameters(self) -> None:
        as_kernel(self, default=Gaussian())

    def _kernel_of(self, X: NDArray, Y: NDArray | None = None) -> NDArray[np.float64]:
        return as_kernel(self, default=Gaussian())(X, Y).astype(np.float64, copy=False)

    def _kernel_to_training_rows(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._kernel_of(validate_data(self, X, dtype=np.float64, reset=False), self.X_fit_)


class _ExactSVM(_ExactKernelEstimator):
    """What the two support vector machines share."""

    C: float
    tol: float
    cache_size: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("C", "tol", "cache_size"):
            check_number(self, name, above=0)

    def _fit_machine(self, machine: SVC | SVR, X: NDArray, y: ArrayLike) -> None:
        self.X_fit_ = X
        self.machine_ = machine.fit(self._kernel_of(X), y)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predictions on the rows X, (n_samples,)."""
        kernel_rows = self._kernel_to_training_rows(X)
        return self.machine_.predict(kernel_rows)


class ExactKernelSVC(ClassifierMixin, _ExactSVM):
    """Soft-margin SVM with an exact kernel: libsvm on the precomputed matrix, one-vs-one for several classes.

    Indefinite kernels. libsvm accepts any symmetric matrix. Where two rows have K_ii + K_jj - 2 K_ij <= 0 it takes
    1e-12 in its place, so that its steps still descend; they end at a stationary point of the dual, which is not
    convex then: not always its minimum, and the solution may depend on the order of the rows (Lin and Lin, A study
    on sigmoid kernels for SVM, 2003).

    Parameters
    ----------
    kernel : Kernel, callable or None
        Kernel, or its profile as a function of the distance, as in the maps; None is Gaussian(sigma=1). For a
        function of two matrices of rows, subclass `Kernel`.
    C : float, default=1.0
        Cost.
    tol : float, default=1e-3
        libsvm's tolerance.
    cache_size : float, default=200
        libsvm's cache in MB.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    machine_ : sklearn.svm.SVC
        The fitted machine, on the precomputed kernel. It has an intercept, unlike `LinearSVM` by default.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training rows.
    n_features_in_ : int
        Number of columns of X.
    """

    def __init__(
        self,
        kernel: Kernel | Callable[[NDArray], NDArray] | None = None,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        cache_size: float = 200,
    ):
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.cache_size = cache_size

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,); keeps an (n, n) matrix while it fits.

        Raises
        ------
        ValueError
            If X is not a finite matrix, the kernel does not take its rows, or there are fewer than two classes.
        """
        self._check_parameters()
        rows, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, _ = encode_labels(self, y)
        machine = SVC(C=self.C, kernel="precomputed", tol=self.tol, cache_size=self.cache_size)
        self._fit_machine(machine, rows, y)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return (n_samples,) for two classes (> 0: the second), else one-vs-one votes (n_samples, n_classes)."""
        kernel_rows = self._kernel_to_training_rows(X)
        return self.machine_.decision_function(kernel_rows)


class ExactKernelSVR(RegressorMixin, _ExactSVM):
    """Support vector regression with an exact kernel: libsvm on the precomputed matrix.

    For indefinite kernels see `ExactKernelSVC`.

    Parameters
    ----------
    kernel, C, tol, cache_size
        As for `ExactKernelSVC`.
    epsilon : float, default=0.1
        Half the width of the tube without loss, in the units of y. The loss is |error| - epsilon; `LinearSVR`
        squares it by default.

    Attributes
    ----------
    machine_ : sklearn.svm.SVR
        The fitted machine.
    X_fit_, n_features_in_
        As for `ExactKernelSVC`.
    """

    def __init__(
        self,
        kernel: Kernel | Callable[[NDArray], NDArray] | None = None,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        cache_size: float = 200,
    ):
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.cache_size = cache_size

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,); errors as for `ExactKernelSVC`."""
        self._check_parameters()
        check_number(self, "epsilon", at_least=0)
        rows, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        machine = SVR(
            C=self.C, epsilon=self.epsilon, kernel="precomputed", tol=self.tol, cache_size=self.cache_size
        )
        self._fit_machine(machine, rows, y)
        return self


class _ExactRidge(_ExactKernelEstimator):
    """Kernel ridge regression of targets, shared by the regressor and the classifier."""

    alphas: ArrayLike
    ridge: str
    cv: Any
    random_state: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checks.check_positive_numbers(self, "alphas")
        check_choice(self, "ridge", RIDGES)
        checks.check_cv(self)
        checks.check_seed(self)

    def _fit_ridge(self, X: NDArray, y: NDArray, targets: NDArray[np.float64]) -> None:
        """Fit targets (n_samples, n_targets); y decides the folds."""
        alphas = checks.check_positive_numbers(self, "alphas")
        self.X_fit_ = X
        K = self._kernel_of(X)
        best = 0
        if len(alphas) > 1:
            folds = fold_numbers(self, y)
            self.cv_errors_ = np.full((len(alphas), folds.max() + 1), np.inf)
            for fold in range(folds.max() + 1):
                train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                mean = targets[train].mean(axis=0)
                cross = K[np.ix_(test, train)]
                sizes = ridge_sizes(alphas, self.ridge, len(train))
                solutions = _solve_any(K[np.ix_(train, train)], targets[train] - mean, sizes)
                for i, dual in enumerate(solutions):
                    if dual is not None:
                        self.cv_errors_[i, fold] = self._error(cross @ dual + mean, targets[test])
            best = int(np.argmin(self.cv_errors_.mean(axis=1)))
        self.alpha_ = float(alphas[best])
        self.target_means_ = targets.mean(axis=0)
        size = ridge_sizes(alphas[best : best + 1], self.ridge, len(X))
        (solution,) = _solve_any(K, targets - self.target_means_, size)
        if solution is None:
            raise ValueError(f"K + c I is singular at alpha = {self.alpha_:g}: use another alpha.")
        self.dual_coef_ = solution

    def _values(self, X: ArrayLike) -> NDArray[np.float64]:
        kernel_rows = self._kernel_to_training_rows(X)
        values: NDArray[np.float64] = kernel_rows @ self.dual_coef_ + self.target_means_
        return values

    def _error(self, values: NDArray, targets: NDArray) -> float:
        return float(np.mean((values - targets) ** 2))


def _solve_any(K: NDArray, Y: NDArray, sizes: NDArray) -> list[NDArray | None]:
    """Return the solutions of (K + c I) A = Y: by Cholesky, or else by an indefinite factorisation."""
    solutions = list(solve_ridges(K, Y, sizes))
    for i, solution in enumerate(solutions):
        if solution is None:
            (solutions[i],) = solve_ridges(K, Y, sizes[i : i + 1], np.ones(len(K)))
    return solutions


class ExactKRR(MultiOutputMixin, RegressorMixin, _ExactRidge):
    """Kernel ridge regression with an exact kernel: f(x) = mean(y) + k(x)^T (K + c I)^-1 (y - mean(y)).

    What `KRR` tends to as its features grow in number. An indefinite kernel gives the stationary point that
    ``KRR(signed="krein")`` approximates.

    Parameters
    ----------
    kernel : Kernel, callable or None
        Kernel, or its profile as a function of the distance, as in the maps; None is Gaussian(sigma=1). For a
        function of two matrices of rows, subclass `Kernel`.
    alphas, ridge, cv, random_state
        As for `KRR`; the folds are the same.

    Attributes
    ----------
    alpha_ : float
        The alpha used.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
        Held-out mean squared errors; absent for a single alpha.
    dual_coef_ : ndarray of shape (n_samples, n_targets)
        Coefficients of the training rows.
    target_means_ : ndarray of shape (n_targets,)
        Means of the targets.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training rows.
    n_features_in_ : int
        Number of columns of X.
    """

    def __init__(
        self,
        kernel: Kernel | Callable[[NDArray], NDArray] | None = None,
        *,
        alphas: ArrayLike = (0.05, 0.1, 0.5, 1.0),
        ridge: str = "n_lambda",
        cv: Any = 5,
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.alphas = alphas
        self.ridge = ridge
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,) or (n_samples, n_targets).

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, the kernel does not take the rows, a parameter is out of
            its range, or the system is singular.
        """
        self._check_parameters()
        rows, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        targets = np.asarray(y, dtype=np.float64)
        self._fit_ridge(rows, targets, targets.reshape(len(targets), -1))
        self._one_target = targets.ndim == 1
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the predicted targets of the rows, shaped as y was in fit."""
        values = self._values(X)
        return values[:, 0] if self._one_target else values


class ExactKRRClassifier(ClassifierMixin, _ExactRidge):
    """Classification by exact kernel ridge regression of +1 and -1, one-vs-rest for several classes.

    Parameters
    ----------
    kernel
        As for `ExactKRR`.
    alphas, ridge, cv, criterion, random_state
        As for `KRRClassifier`; the folds are the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    alpha_, cv_errors_, dual_coef_, target_means_, X_fit_, n_features_in_
        As for `ExactKRR`; the errors are those of the criterion.
    """

    def __init__(
        self,
        kernel: Kernel | Callable[[NDArray], NDArray] | None = None,
        *,
        alphas: ArrayLike = (0.05, 0.1, 0.5, 1.0),
        ridge: str = "n_lambda",
        cv: Any = 5,
        criterion: str = "squared_error",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.alphas = alphas
        self.ridge = ridge
        self.cv = cv
        self.criterion = criterion
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,); errors as for `ExactKRR`."""
        self._check_parameters()
        check_choice(self, "criterion", ("squared_error", "error_rate"))
        rows, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode_labels(self, y)
        self._fit_ridge(rows, codes, codes_to_targets(codes, len(self.classes_)))
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the regression: (n_samples,) for two classes (> 0: the second), else (n_samples, n_classes)."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the labels of the rows, (n_samples,)."""
        values = self._values(X)
        return self.classes_[targets_to_labels(values)]

    def _error(self, values: NDArray, targets: NDArray) -> float:
        if self.criterion == "error_rate":
            return float(np.mean(targets_to_labels(values) != targets_to_labels(targets)))
        return super()._error(values, targets)
