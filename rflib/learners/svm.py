"""Soft-margin linear SVMs on features for classification and regression, by liblinear or Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.drafts import all_or_nothing
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.linear_svm import Margins, Tube, beyond
from rflib.learners.one_vs_rest import OneVsRestClassifier, codes_to_targets, encode_labels, stream_codes
from rflib.learners.passes import PassOptions
from rflib.learners.row_sources import Block
from rflib.learners.svm_estimator import SVMEstimator, SVMParameters
from rflib.learners.values import check_weights
from rflib.sklearn_bases import RegressorMixin
from rflib.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class _ClassifierParameters(SVMParameters):
    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    class_weight: ClassWeight = None


@dataclass(kw_only=True, eq=False, repr=False)
class _RegressorParameters(SVMParameters):
    epsilon: float = 0.1
    loss: Literal["squared_epsilon_insensitive", "epsilon_insensitive"] = "squared_epsilon_insensitive"


class LinearSVM(OneVsRestClassifier, _ClassifierParameters, SVMEstimator):
    """Fit a linear soft-margin support vector machine on features, by liblinear or Newton's method.

    Several classes are fitted one against the rest.

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
        "liblinear" needs the extra ``svm`` (in the checkout: ``pip install ".[svm]"``).
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
    feature_map : transformer, optional
        Map from X to features; cloned and fitted on (X, y), then applied to all rows at once in `fit` and to
        blocks of 4,096 in `predict`. X may be sparse if the map takes sparse rows, and more as for `KRR`. None: X
        holds the features already.
    signed : {"associated", "positive"}, default="associated"
        What to do with columns of sign -1: use them as they are, or drop them.
    signature : array-like of shape (n_components,), optional
        Signs +1 and -1 of the columns, ``map.signature_``; needed for ``signed="positive"`` where there is no
        feature_map, whose own are used.
    class_weight : dict or "balanced", optional
        Factors of the weights of the rows, by their labels, as for `KRRClassifier`.
    random_state : int, RandomState or None, default=0
        Order of the dual solvers' coordinates. The primal is deterministic.
    n_jobs : int, optional
        Threads for the folds of ``C="cv"``, -1 for one a core. Dual solvers of liblinear take turns.
    verbose : bool, default=False
        Print what the solver says.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
        Weights, float64; zero for columns that are not used.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; zeros without fit_intercept.
    C_ : float
        The cost used.
    Cs_, cv_errors_ : ndarray of shape (n_Cs,), (n_Cs, n_folds)
        The sorted grid and the share of wrong labels for each of its values and each fold; for ``C="cv"`` only.
    n_iter_ : int
        Iterations of the solver (of the longest of the one-vs-rest problems).
    signature_ : ndarray of shape (n_components,)
        Signs of the columns.
    feature_map_ : transformer
        The fitted map, if there is one.
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    LinearSVR : The same for numbers.
    ExactKernelSVC : The exact kernel.
    KRRClassifier : The squared loss, which streams.
    sklearn.svm.SVC : The exact kernel in scikit-learn.
    sklearn.svm.LinearSVC : On features, without signs.

    Notes
    -----
    For probabilities, calibrate: ``CalibratedClassifierCV(LinearSVM(...))``.

    liblinear sees the rows in an order that hashes of their numbers tell (of X, also with a feature_map), because
    where it stops depends on the order. So the result of `fit` is the same, to the bit, in whatever order X comes,
    and the same for a weight as for a row that is repeated as often. (Features of a map may differ in the last
    digit, and with ``max_iter``, or weights that are not small whole numbers, all of this holds within tol only.)

    References
    ----------
    Fan, Chang, Hsieh, Wang, Lin: LIBLINEAR: a library for large linear classification, JMLR 9 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import Gaussian
    >>> from rflib.learners import LinearSVM
    >>> from rflib.maps import MercerFeatures
    >>> X, y = load_digits(return_X_y=True)
    >>> features = MercerFeatures(Gaussian("scale"), 200, random_state=0)
    >>> model = LinearSVM(C=10, solver="newton", feature_map=features).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.96
    """

    _task = Margins()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self)

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, NDArray | None]:
        weights = class_weights(self, y, sample_weight)
        self.classes_, codes = encode_labels(self, y, weights)
        return codes, weights

    def _keep(self, coef: NDArray, intercept: NDArray) -> None:
        self.coef_, self.intercept_ = coef, intercept

    @all_or_nothing
    def fit_blocks(self, rows: Any, classes: ArrayLike | None = None, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, for ``solver="newton"`` and a number as C.

        The solution is that of `fit` with this solver, within ``tol``. Each step of the method is a pass over the
        rows, which makes the features again: 3 to 20 of them, or more where C is large; four of several classes
        share a pass. Memory: two matrices of D^2 numbers, or five for several classes, and two blocks. If the call
        fails, the learner is as it was before.

        Parameters
        ----------
        rows : ParquetRows, ArrayRows or iterable
            Blocks (X, y) or (X, y, sample_weight) that can be iterated more than once.
        classes : array-like of shape (n_classes,), optional
            All labels; None: a first pass finds them.
        **options
            ``sample_size``, ``checkpoint``, ``checkpoint_seconds`` and ``verbose``, as in `KRR.fit_blocks`.

        Raises
        ------
        TypeError
            If rows cannot be iterated.
        ValueError
            As in `KRR.fit_blocks`, for another solver, and for ``C="cv"``.
        """
        self._check_parameters()
        check_class_weight(self, "fit_blocks")
        passes = self._passes(rows, options)
        X, y = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        found = self._survey(passes, X, y, labels=classes is None)
        self.classes_, _ = encode_labels(self, classes if found is None else found, name="classes")
        n_classes = len(self.classes_)
        about = self.classes_.tolist(), self.class_weight
        self._fit_passes(passes, X, 1 if n_classes == 2 else n_classes, about)
        return self

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray, NDArray | None]:
        rows, y = self._checked(block.X, block.y, reset=False)
        weights = class_weights(self, y, block.weight, only_zeros=True)
        codes = stream_codes(self, y, None, first=False, weights=weights)
        return rows, *beyond(codes_to_targets(codes, len(self.classes_)) > 0), weights


class LinearSVR(RegressorMixin, _RegressorParameters, SVMEstimator):
    """Fit linear support vector regression on features, by liblinear or Newton's method.

    Minimises ||w||^2 / 2 + C sum_i max(0, |y_i - <w, z_i>| - epsilon)^k with k = 2 or 1. luo2021 uses k = 2 in
    the primal (liblinear's -s 11), C = 1000, epsilon = 0.1 and no intercept.

    Parameters
    ----------
    C, Cs, cv, fit_intercept, random_state, n_jobs, verbose
        As for `LinearSVM`; ``C="cv"`` minimises the mean squared error, on folds that are not stratified.
    feature_map, signed, signature
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
    coef_ : ndarray of shape (n_components,)
        Weights, float64; zero for columns that are not used.
    intercept_ : float
        Intercept; zero without fit_intercept.
    C_, Cs_, cv_errors_, n_iter_, signature_, feature_map_, n_features_in_
        As for `LinearSVM`.

    See Also
    --------
    LinearSVM : The same for labels.
    ExactKernelSVR : The exact kernel.
    sklearn.svm.SVR : The exact kernel in scikit-learn.

    References
    ----------
    Ho, Lin: Large-scale linear support vector regression, JMLR 13 (2012).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.learners import LinearSVR
    >>> from rflib.maps import MercerFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> features = MercerFeatures(n_components=50, random_state=0)
    >>> model = LinearSVR(solver="newton", fit_intercept=True, feature_map=features)
    >>> model.fit(X, y).predict(X[:3]).shape
    (3,)
    """

    @property
    def _task(self) -> Tube:
        return Tube(self.epsilon)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "epsilon", at_least=0)

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, NDArray | None]:
        return np.asarray(y, dtype=np.float64), check_weights(self, sample_weight, len(y))

    def _keep(self, coef: NDArray, intercept: NDArray) -> None:
        self.coef_, self.intercept_ = coef[0], float(intercept[0])

    @all_or_nothing
    def fit_blocks(self, rows: Any, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, as `LinearSVM.fit_blocks`; errors are those of it."""
        self._check_parameters()
        passes = self._passes(rows, options)
        X, y = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        self._survey(passes, X, y)
        self._fit_passes(passes, X, 1, "y")
        return self

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray, NDArray | None]:
        rows, y = self._checked(block.X, block.y, reset=False)
        weights = check_weights(self, block.weight, len(y), only_zeros=True)
        return rows, *self._task.intervals(np.asarray(y, dtype=np.float64)), weights

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted targets of the rows X (n_samples, n_features), shape (n_samples,)."""
        return self._values(X)[:, 0]
