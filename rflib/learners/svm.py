"""Soft-margin linear SVMs on features, classification and regression, solved by liblinear or Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.learners.label_codes import encode_labels
from rflib.learners.liblinear_problem import PRIMAL_SOLVERS, LiblinearProblem
from rflib.learners.newton import NewtonProblem

FLOATS = [np.float64, np.float32]
POWERS_OF_TEN = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)

# from a cost and weights to start from to weights (n_features [+ 1 for the bias], n_vectors) and iterations
Solver = Callable[[float, NDArray | None], tuple[NDArray[np.float64], int]]


class _LinearEstimator(BaseEstimator):
    """What the two SVMs share: parameters, the choice of C, and the solver."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "Cs": ["array-like"],
        "cv": ["cv_object"],
        "solver": [StrOptions({"liblinear", "newton"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }
    # (loss, dual) -> liblinear's option -s; a loss whose primal is absent has a dual solver only
    _solvers: ClassVar[dict[tuple[str, bool], int]]

    C: float | Literal["cv"]
    Cs: ArrayLike
    cv: Any
    loss: str
    solver: str
    dual: bool | Literal["auto"]
    fit_intercept: bool
    tol: float
    random_state: Any

    def _solve(self, X: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Return the weights for the C given, or for the C of least cross-validation error."""
        self.C_ = self._select_C(X, y) if self.C == "cv" else float(self.C)
        weights, self.n_iter_ = self._solver(X, y)(self.C_, None)
        return weights

    def _solver(self, X: NDArray, y: NDArray) -> Solver:
        if self.solver == "newton":
            if not self.loss.startswith("squared") or self.dual is True:
                raise ValueError(
                    "solver='newton' minimises a squared loss in the primal: leave loss and dual."
                )
            problem = NewtonProblem(X, *self._intervals(y), fit_intercept=self.fit_intercept)
            return lambda C, start: problem.solve(C=C, tol=self.tol, start=start)
        dual = (self.loss, False) not in self._solvers if self.dual == "auto" else bool(self.dual)
        if (self.loss, dual) not in self._solvers:
            raise ValueError(f"loss={self.loss!r} is solved in the dual only: set dual=True or 'auto'.")
        return self._liblinear(X, y, self._solvers[self.loss, dual])

    def _liblinear(self, X: NDArray, y: NDArray, number: int) -> Solver:
        problem = LiblinearProblem(X, y, fit_intercept=self.fit_intercept)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        epsilon = getattr(self, "epsilon", 0.0)

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            start = start if number in PRIMAL_SOLVERS else None
            solution = problem.solve(number, C=C, tol=self.tol, epsilon=epsilon, seed=seed, start=start)
            return solution.weights, solution.n_iter

        return solve

    def _select_C(self, X: NDArray, y: NDArray) -> float:
        Cs = np.sort(np.asarray(self.Cs, dtype=np.float64))
        if Cs.ndim != 1 or not Cs.size or not np.all((Cs > 0) & np.isfinite(Cs)):
            raise ValueError(f"Cs must be a non-empty list of positive numbers, got {self.Cs!r}.")
        folds = list(check_cv(self.cv, y, classifier=isinstance(self, ClassifierMixin)).split(X, y))
        self.cv_errors_ = np.empty((len(Cs), len(folds)))
        for fold, (train, test) in enumerate(folds):
            solve, labels = self._solver(X[train], y[train]), self._vector_labels(y[train])
            weights: NDArray | None = None
            for i, C in enumerate(Cs):
                weights, _ = solve(C, weights)
                values = self._values(X[test], *self._split(weights))
                self.cv_errors_[i, fold] = self._error(y[test], values, labels)
        self.Cs_ = Cs
        return float(Cs[np.argmin(self.cv_errors_.mean(axis=1))])

    def _split(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Split liblinear's weights: coefficients (n_vectors, n_features) and intercepts (n_vectors,)."""
        if self.fit_intercept:
            return weights[:-1].T, weights[-1]
        return weights.T, np.zeros(weights.shape[1])

    @staticmethod
    def _values(X: NDArray, coef: NDArray, intercept: NDArray) -> NDArray:
        return X @ coef.T.astype(X.dtype) + intercept.astype(X.dtype)

    def _intervals(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return where values have no loss, lower and upper ends, (n_samples, n_vectors) each."""
        raise NotImplementedError

    def _vector_labels(self, y: NDArray) -> NDArray:
        """Labels of the weight vectors, in liblinear's order."""
        raise NotImplementedError

    @staticmethod
    def _error(y: NDArray, values: NDArray, labels: NDArray) -> float:
        raise NotImplementedError


class LinearSVM(ClassifierMixin, _LinearEstimator):
    """Linear soft-margin SVM by liblinear or Newton's method, one-vs-rest for several classes.

    Minimises ||w||^2 / 2 + C sum_i loss(y_i <w, z_i>) with loss(m) = max(0, 1 - m)^2 or max(0, 1 - m). The
    hinge is the primal soft SVM of the poczos slides; the squared hinge in the primal (liblinear's -s 2) with
    C = 1000, tol = 0.01 and no intercept is the setting of luo2021; C by cross-validation that of pennington2015.
    With signed features choose the columns first, by `rflib.learners.signed.signed_columns`.

    Parameters
    ----------
    C : float or "cv", default=1.0
        Cost; "cv" takes the best of ``Cs`` by cross-validated accuracy (of equals, the smallest).
    Cs : array-like of float
        Grid for ``C="cv"``.
    cv : int, splitter or iterable, default=5
        Folds for ``C="cv"``, as in scikit-learn (stratified, not shuffled, if a number).
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss.
    solver : {"liblinear", "newton"}, default="liblinear"
        "newton" minimises the squared hinge on dense features by matrix products in the precision of X: several
        times faster at thousands of columns, and to a certain accuracy where liblinear's tol tells little (at
        large C its usual stop is far from the minimum, as in the procedures of the papers).
    dual : bool or "auto", default="auto"
        Solve the dual problem; "auto" solves the primal where liblinear can (squared hinge).
    fit_intercept : bool, default=False
        Append a constant column of ones, regularised like any other weight (liblinear's -B 1).
    tol : float, default=1e-4
        liblinear's -e. In the primal: |grad| <= tol * min(n_pos, n_neg) / n * |grad at 0|; in the dual:
        largest violation. For "newton" the largest duality gap, relative to the objective.
    random_state : int, RandomState or None, default=0
        Order of the dual solvers' coordinates. The primal is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, float64.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; zeros without fit_intercept.
    C_ : float
        The cost used.
    Cs_, cv_errors_ : ndarray of shape (n_Cs,), (n_Cs, n_folds)
        The sorted grid and the share of wrong labels for each of its values and each fold; for ``C="cv"`` only.
    n_iter_ : int
        Iterations of the solver (of the longest of the one-vs-rest problems).
    n_features_in_ : int
        Number of columns.

    References
    ----------
    Fan, Chang, Hsieh, Wang, Lin: LIBLINEAR: a library for large linear classification, JMLR 9 (2008).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_LinearEstimator._parameter_constraints,
        "loss": [StrOptions({"squared_hinge", "hinge"})],
    }
    _solvers = {("squared_hinge", False): 2, ("squared_hinge", True): 1, ("hinge", True): 3}  # noqa: RUF012

    def __init__(
        self,
        *,
        C: float | Literal["cv"] = 1.0,
        Cs: ArrayLike = POWERS_OF_TEN,
        cv: Any = 5,
        loss: str = "squared_hinge",
        solver: str = "liblinear",
        dual: bool | Literal["auto"] = "auto",
        fit_intercept: bool = False,
        tol: float = 1e-4,
        random_state: Any = 0,
    ):
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.loss = loss
        self.solver = solver
        self.dual = dual
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to features X (n_samples, n_features) and labels y (n_samples,).

        Raises
        ------
        ValueError
            If X is not a finite matrix, y has fewer than two classes, or a parameter is out of its range.
        """
        self._validate_params()
        Z, y = validate_data(self, X, y, dtype=FLOATS)
        self.classes_, codes = encode_labels(self, y)
        if len(self.classes_) == 2:
            codes = 2 * codes - 1
        weights = self._solve(Z, codes)
        coef, intercept = self._split(weights)
        order = np.argsort(self._vector_labels(codes))
        self.coef_, self.intercept_ = coef[order], intercept[order]
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return <w, z>: (n_samples,) for two classes (> 0: the second), else (n_samples, n_classes)."""
        check_is_fitted(self)
        Z = validate_data(self, X, dtype=FLOATS, reset=False)
        values = self._values(Z, self.coef_, self.intercept_)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the labels of the rows, (n_samples,)."""
        values = self.decision_function(X)
        codes = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    def _intervals(self, y: NDArray) -> tuple[NDArray, NDArray]:
        positive = y[:, None] == self._vector_labels(y)
        return np.where(positive, 1.0, -np.inf), np.where(positive, np.inf, -1.0)

    def _vector_labels(self, y: NDArray) -> NDArray:
        labels, first = np.unique(y, return_index=True)
        # two classes are coded -1, +1 and share one vector, which points to +1
        return labels[-1:] if labels[0] == -1 else labels[np.argsort(first)]

    @staticmethod
    def _error(y: NDArray, values: NDArray, labels: NDArray) -> float:
        if values.shape[1] == 1:
            return float(np.mean(np.where(values[:, 0] > 0, 1, -1) != y))
        return float(np.mean(labels[values.argmax(axis=1)] != y))


class LinearSVR(RegressorMixin, _LinearEstimator):
    """Linear support vector regression by liblinear or Newton's method.

    Minimises ||w||^2 / 2 + C sum_i max(0, |y_i - <w, z_i>| - epsilon)^k with k = 2 or 1. luo2021 uses k = 2 in
    the primal (liblinear's -s 11), C = 1000, epsilon = 0.1 and no intercept.

    Parameters
    ----------
    C, Cs, cv, fit_intercept, random_state
        As for `LinearSVM`; ``C="cv"`` minimises the mean squared error, on folds that are not stratified.
    epsilon : float, default=0.1
        Half the width of the tube without loss, in the units of y.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}, default="squared_epsilon_insensitive"
        Loss: k = 2 or k = 1.
    solver : {"liblinear", "newton"}, default="liblinear"
        As for `LinearSVM`; "newton" takes the squared loss.
    dual : bool or "auto", default="auto"
        Solve the dual problem; "auto" solves the primal where liblinear can (the squared loss).
    tol : float, default=1e-4
        liblinear's -e. In the primal: |grad| <= tol * |grad at 0|. For "newton" the largest duality gap, relative
        to the objective.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, float64.
    intercept_ : float
        Intercept; zero without fit_intercept.
    C_, Cs_, cv_errors_, n_iter_, n_features_in_
        As for `LinearSVM`.

    References
    ----------
    Ho, Lin: Large-scale linear support vector regression, JMLR 13 (2012).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_LinearEstimator._parameter_constraints,
        "loss": [StrOptions({"squared_epsilon_insensitive", "epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }
    _solvers = {  # noqa: RUF012
        ("squared_epsilon_insensitive", False): 11,
        ("squared_epsilon_insensitive", True): 12,
        ("epsilon_insensitive", True): 13,
    }

    def __init__(
        self,
        *,
        C: float | Literal["cv"] = 1.0,
        Cs: ArrayLike = POWERS_OF_TEN,
        cv: Any = 5,
        epsilon: float = 0.1,
        loss: str = "squared_epsilon_insensitive",
        solver: str = "liblinear",
        dual: bool | Literal["auto"] = "auto",
        fit_intercept: bool = False,
        tol: float = 1e-4,
        random_state: Any = 0,
    ):
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.epsilon = epsilon
        self.loss = loss
        self.solver = solver
        self.dual = dual
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to features X (n_samples, n_features) and real targets y (n_samples,).

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, or a parameter is out of its range.
        """
        self._validate_params()
        Z, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=True)
        weights = self._solve(Z, np.asarray(y, dtype=np.float64))
        coef, intercept = self._split(weights)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted targets of the rows, (n_samples,)."""
        check_is_fitted(self)
        Z = validate_data(self, X, dtype=FLOATS, reset=False)
        return self._values(Z, self.coef_[None], np.array([self.intercept_])).ravel()

    def _intervals(self, y: NDArray) -> tuple[NDArray, NDArray]:
        return (y - self.epsilon)[:, None], (y + self.epsilon)[:, None]

    def _vector_labels(self, y: NDArray) -> NDArray:
        return np.zeros(1)

    @staticmethod
    def _error(y: NDArray, values: NDArray, labels: NDArray) -> float:
        return float(np.mean((y - values[:, 0]) ** 2))
