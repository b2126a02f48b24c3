"""Soft-margin linear SVMs on features, classification and regression, solved by liblinear or Newton's method."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import svm
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.learners.folds import check_enough_rows, check_folds
from rflib.learners.liblinear_problem import PRIMAL_SOLVERS, RAND_LOCK, LiblinearProblem
from rflib.learners.newton import MAX_ITER, NewtonProblem
from rflib.learners.one_vs_rest import OneVsRestClassifier, encode_labels, values_to_codes
from rflib.learners.parameter_checks import check_positive_numbers, check_seed
from rflib.learners.signed_features import FLOATS, SignedFeatures, check_signed, find_signs
from rflib.validation import check_choice, check_flag, check_integer, check_number, refuse

POWERS_OF_TEN = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)

# from a cost and weights to start from to weights (n_features [+ 1 for the bias], n_vectors) and iterations
Solver = Callable[[float, NDArray | None], tuple[NDArray[np.float64], int]]


class _LinearEstimator(SignedFeatures, BaseEstimator):
    """What the two SVMs share: parameters, the choice of C, and the solver."""

    # (loss, dual) -> liblinear's option -s; a loss whose primal is absent has a dual solver only
    _solvers: ClassVar[dict[tuple[str, bool], int]]
    # scikit-learn's build of liblinear, which has a parameter max_iter
    _limited: ClassVar[type[BaseEstimator]]

    coef_: NDArray[np.float64]
    intercept_: Any

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
        max_iter: int | None = None,
        signed: str = "associated",
        signature: ArrayLike | None = None,
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
        self.max_iter = max_iter
        self.signed = signed
        self.signature = signature
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.C, str):
            check_number(self, "C", above=0)
        elif self.C != "cv":
            refuse(self, "C", "a number above 0 or 'cv'")
        check_positive_numbers(self, "Cs")
        check_folds(self)
        check_choice(self, "loss", sorted({loss for loss, _ in self._solvers}))
        check_choice(self, "solver", ("liblinear", "newton"))
        check_choice(self, "dual", (True, False, "auto"))
        check_flag(self, "fit_intercept")
        check_number(self, "tol", above=0)
        check_integer(self, "max_iter", at_least=1, or_none=True)
        check_signed(self)
        check_seed(self)

    def _solve(self, Z: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return weights (n_vectors, n_features) and intercepts for the C given, or for that of least error."""
        self.signature_ = find_signs(self, Z.shape[1])
        X = self._used(Z)
        self.C_ = self._select_C(X, y) if self.C == "cv" else float(self.C)
        targets, _ = self._targets(y)
        weights, self.n_iter_ = self._solver(X, targets)(self.C_, None)
        coef, intercept = self._split(weights)
        all_coef = np.zeros((len(coef), Z.shape[1]))
        all_coef[:, self._columns] = coef
        return all_coef, intercept

    def _solver(self, X: NDArray, y: NDArray) -> Solver:
        """Return the solver for targets as liblinear takes them."""
        if self.solver == "newton":
            if not self.loss.startswith("squared") or self.dual is True:
                raise ValueError(
                    f"{type(self).__name__}: solver='newton' minimises a squared loss in the primal: leave loss "
                    "and dual at their defaults."
                )
            problem = NewtonProblem(X, *self._intervals(y), fit_intercept=self.fit_intercept)
            max_iter = self.max_iter or MAX_ITER
            return lambda C, start: problem.solve(C=C, tol=self.tol, max_iter=max_iter, start=start)
        dual = (self.loss, False) not in self._solvers if self.dual == "auto" else bool(self.dual)
        if (self.loss, dual) not in self._solvers:
            raise ValueError(
                f"{type(self).__name__}: loss={self.loss!r} is solved in the dual only: set dual=True or 'auto'."
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if self.max_iter is not None:
            return self._limited_liblinear(X, y, dual, seed)
        return self._liblinear(X, y, self._solvers[self.loss, dual], seed)

    def _limited_liblinear(self, X: NDArray, y: NDArray, dual: bool, seed: int) -> Solver:
        same = {name: getattr(self, name) for name in ("loss", "tol", "max_iter", "fit_intercept")}
        machine = self._limited(**same, **self._tube(), dual=dual, random_state=seed)

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            with RAND_LOCK:
                machine.set_params(C=C).fit(X, y)
            weights = np.atleast_2d(machine.coef_).T
            if self.fit_intercept:
                weights = np.vstack([weights, machine.intercept_])
            return weights, machine.n_iter_

        return solve

    def _liblinear(self, X: NDArray, y: NDArray, number: int, seed: int) -> Solver:
        problem = LiblinearProblem(X, y, fit_intercept=self.fit_intercept)
        epsilon = self._tube().get("epsilon", 0.0)

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            start = start if number in PRIMAL_SOLVERS else None
            return problem.solve(number, C=C, tol=self.tol, epsilon=epsilon, seed=seed, start=start)

        return solve

    def _select_C(self, X: NDArray, y: NDArray) -> float:
        Cs = np.sort(check_positive_numbers(self, "Cs"))
        check_enough_rows(self, y, instead="set C to a number")
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
        self.cv_errors_ = np.empty((len(Cs), len(folds)))
        for fold, (train, test) in enumerate(folds):
            targets, labels = self._targets(y[train])
            solve = self._solver(X[train], targets)
            weights: NDArray | None = None
            for i, C in enumerate(Cs):
                weights, _ = solve(C, weights)
                values = _affine(X[test], *self._split(weights))
                self.cv_errors_[i, fold] = self._error(y[test], values, labels)
        self.Cs_ = Cs
        return float(Cs[np.argmin(self.cv_errors_.mean(axis=1))])

    def _split(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Split liblinear's weights: coefficients (n_vectors, n_features) and intercepts (n_vectors,)."""
        if self.fit_intercept:
            return weights[:-1].T, weights[-1]
        return weights.T, np.zeros(weights.shape[1])

    def _values(self, X: ArrayLike) -> NDArray:
        """Return <w, z> + intercept of rows, (n_samples, n_vectors)."""
        check_is_fitted(self)
        Z = validate_data(self, X, dtype=FLOATS, reset=False)
        coef = self._used(np.atleast_2d(self.coef_))
        return _affine(self._used(Z), coef, np.atleast_1d(self.intercept_))

    def _targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return the targets as liblinear takes them, and the labels that its weight vectors stand for."""
        raise NotImplementedError

    def _intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return where values have no loss, lower and upper ends, (n_samples, n_vectors) each."""
        raise NotImplementedError

    def _tube(self) -> dict[str, float]:
        """Return the parameters of the loss."""
        return {}

    @staticmethod
    def _error(y: NDArray, values: NDArray, labels: NDArray) -> float:
        raise NotImplementedError


def _affine(X: NDArray, coef: NDArray, intercept: NDArray) -> NDArray:
    return X @ coef.T.astype(X.dtype) + intercept.astype(X.dtype)


class LinearSVM(OneVsRestClassifier, _LinearEstimator):
    """Linear soft-margin SVM by liblinear or Newton's method, one-vs-rest for several classes.

    Minimises ||w||^2 / 2 + C sum_i loss(y_i <w, z_i>) with loss(m) = max(0, 1 - m)^2 or max(0, 1 - m). The
    hinge is the primal soft SVM of the poczos slides; the squared hinge in the primal (liblinear's -s 2) with
    C = 1000, tol = 0.01 and no intercept is the setting of luo2021; C by cross-validation that of pennington2015.

    Signed features. A linear learner sees the columns of Z but not their signs, so its kernel is Z Z^T. Where some
    signs are -1 that is not the kernel asked for, k = k_+ - k_-, but the associated kernel k_+ + k_-, which is
    positive definite and may be much larger. That is right where only the score counts, since every column is used
    and the problem is convex; it says nothing about how well k itself would do. ``signed="positive"`` drops the -1
    columns and so uses k_+. For k itself use ``KRR(signed="krein")`` or, on few rows, an exact learner.

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
    max_iter : int, optional
        Limit of the solver's iterations; a ConvergenceWarning tells where it was reached. None: liblinear's own,
        which cannot be changed (300 passes over the rows in the dual: too few for the hinge at large C), and 100
        for "newton". With a number scikit-learn's build of liblinear solves, which has such a limit; its results
        are the same up to tol.
    signed : {"associated", "positive"}, default="associated"
        What to do with columns of sign -1: use them as they are, or drop them.
    signature : array-like of shape (n_features,), optional
        Signs +1 and -1 of the columns, ``map.signature_``; needed for ``signed="positive"``.
    random_state : int, RandomState or None, default=0
        Order of the dual solvers' coordinates. The primal is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, float64; zero for columns that are not used.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; zeros without fit_intercept.
    C_ : float
        The cost used.
    Cs_, cv_errors_ : ndarray of shape (n_Cs,), (n_Cs, n_folds)
        The sorted grid and the share of wrong labels for each of its values and each fold; for ``C="cv"`` only.
    n_iter_ : int
        Iterations of the solver (of the longest of the one-vs-rest problems).
    signature_ : ndarray of shape (n_features,)
        Signs of the columns.
    n_features_in_ : int
        Number of columns.

    References
    ----------
    Fan, Chang, Hsieh, Wang, Lin: LIBLINEAR: a library for large linear classification, JMLR 9 (2008).
    """

    _solvers = {("squared_hinge", False): 2, ("squared_hinge", True): 1, ("hinge", True): 3}  # noqa: RUF012
    _limited = svm.LinearSVC

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to features X (n_samples, n_features) and labels y (n_samples,).

        Raises
        ------
        ValueError
            If X is not a finite matrix, y has fewer than two classes, or a parameter is out of its range.
        """
        self._check_parameters()
        Z, y = validate_data(self, X, y, dtype=FLOATS)
        self.classes_, codes = encode_labels(self, y)
        coef, intercept = self._solve(Z, codes)
        order = np.argsort(self._targets(codes)[1])[: len(coef)]
        self.coef_, self.intercept_ = coef[order], intercept[order]
        return self

    def _targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Code the classes that these rows have: by -1 and +1 if they are two, else as liblinear orders them."""
        labels, first, codes = np.unique(y, return_index=True, return_inverse=True)
        if len(labels) == 2:
            return 2 * codes - 1, labels
        order = np.argsort(first)
        return np.argsort(order)[codes], labels[order]

    def _solver(self, X: NDArray, y: NDArray) -> Solver:
        if not y.any():  # one class, in a fold of cross-validation: it is predicted, whatever the weights are
            return lambda C, start: (np.zeros((X.shape[1] + self.fit_intercept, 1)), 0)
        return super()._solver(X, y)

    def _intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        vectors = 1 if targets.min() == -1 else np.arange(targets.max() + 1)
        positive = targets[:, None] == vectors
        return np.where(positive, 1.0, -np.inf), np.where(positive, np.inf, -1.0)

    @staticmethod
    def _error(y: NDArray, values: NDArray, labels: NDArray) -> float:
        return float(np.mean(labels[values_to_codes(values)] != y))


class LinearSVR(RegressorMixin, _LinearEstimator):
    """Linear support vector regression by liblinear or Newton's method.

    Minimises ||w||^2 / 2 + C sum_i max(0, |y_i - <w, z_i>| - epsilon)^k with k = 2 or 1. luo2021 uses k = 2 in
    the primal (liblinear's -s 11), C = 1000, epsilon = 0.1 and no intercept.

    Parameters
    ----------
    C, Cs, cv, fit_intercept, random_state
        As for `LinearSVM`; ``C="cv"`` minimises the mean squared error, on folds that are not stratified.
    signed, signature
        As for `LinearSVM`, which says what a linear learner computes on signed features.
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
    max_iter : int, optional
        As for `LinearSVM`; the dual's own limit is 1,000.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, float64; zero for columns that are not used.
    intercept_ : float
        Intercept; zero without fit_intercept.
    C_, Cs_, cv_errors_, n_iter_, signature_, n_features_in_
        As for `LinearSVM`.

    References
    ----------
    Ho, Lin: Large-scale linear support vector regression, JMLR 13 (2012).
    """

    _solvers = {  # noqa: RUF012
        ("squared_epsilon_insensitive", False): 11,
        ("squared_epsilon_insensitive", True): 12,
        ("epsilon_insensitive", True): 13,
    }
    _limited = svm.LinearSVR

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
        max_iter: int | None = None,
        signed: str = "associated",
        signature: ArrayLike | None = None,
        random_state: Any = 0,
    ):
        super().__init__(
            C=C,
            Cs=Cs,
            cv=cv,
            loss=loss,
            solver=solver,
            dual=dual,
            fit_intercept=fit_intercept,
            tol=tol,
            max_iter=max_iter,
            signed=signed,
            signature=signature,
            random_state=random_state,
        )
        self.epsilon = epsilon

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to features X (n_samples, n_features) and real targets y (n_samples,).

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, or a parameter is out of its range.
        """
        self._check_parameters()
        check_number(self, "epsilon", at_least=0)
        Z, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=True)
        coef, intercept = self._solve(Z, np.asarray(y, dtype=np.float64))
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted targets of the rows, (n_samples,)."""
        values = self._values(X)
        return values[:, 0]

    def _targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        return y, np.zeros(1)

    def _intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        return (targets - self.epsilon)[:, None], (targets + self.epsilon)[:, None]

    def _tube(self) -> dict[str, float]:
        return {"epsilon": self.epsilon}

    @staticmethod
    def _error(y: NDArray, values: NDArray, labels: NDArray) -> float:
        return float(np.mean((y - values[:, 0]) ** 2))
