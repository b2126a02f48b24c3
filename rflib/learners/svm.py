"""Soft-margin linear SVMs on features for classification and regression, by liblinear or Newton's method."""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import svm
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.learners.checked_rows import rows_at
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.folds import check_enough_rows, check_folds, held_out_mean, known_groups
from rflib.learners.grid_edge import chosen
from rflib.learners.liblinear_problem import PRIMAL_SOLVERS, RAND_LOCK, LiblinearProblem
from rflib.learners.mapped_rows import MappedRows
from rflib.learners.newton import MAX_ITER, NewtonProblem
from rflib.learners.newton_passes import NewtonPasses
from rflib.learners.one_vs_rest import (
    OneVsRestClassifier,
    codes_to_targets,
    encode_labels,
    stream_codes,
    values_to_codes,
)
from rflib.learners.parameter_checks import check_n_jobs, check_positive_numbers, check_seed
from rflib.learners.passes import PROBED_ROWS, Passes, PassOptions
from rflib.learners.row_hashes import row_hashes
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import FLOATS, check_signed, find_signs
from rflib.learners.values import check_weights, refuse_zeros
from rflib.validation import check_choice, check_flag, check_integer, check_number, refuse
from rflib.warn import warn

# liblinear repeats the rows of weights that are whole numbers, as long as they are no more than this on average
MOST_REPEATS = 4
# iterations of scikit-learn's build of liblinear, where max_iter is not given
LIMIT = 1000
POWERS_OF_TEN = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)

# from a cost and weights to start from to weights (n_features [+ 1 for the bias], n_vectors) and iterations
Solver = Callable[[float, NDArray | None], tuple[NDArray[np.float64], int]]


class _LinearEstimator(MappedRows, BaseEstimator):
    """What the two SVMs share: parameters, the choice of C, and the solver."""

    # (loss, dual) -> liblinear's option -s; a loss whose primal is absent has a dual solver only
    _solvers: ClassVar[dict[tuple[str, bool], int]]
    # scikit-learn's build of liblinear, which has a parameter max_iter
    _limited: ClassVar[type[BaseEstimator]]

    _row_types: ClassVar[Any] = FLOATS
    block_size = 4096

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
        feature_map: Any = None,
        signed: str = "associated",
        signature: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
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
        self.feature_map = feature_map
        self.signed = signed
        self.signature = signature
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        self._check_map()
        check_signed(self)
        check_class_weight(self)
        check_seed(self)
        check_n_jobs(self)
        check_flag(self, "verbose")

    def _solve(
        self, rows: Any, y: NDArray, targets: NDArray, sample_weight: NDArray | None, groups: Any
    ) -> tuple[NDArray, NDArray]:
        """Return weights (n_vectors, n_components) and intercepts for the C given, or for that of least error.

        ``y`` is what the feature_map gets, ``targets`` the codes of labels or the real targets.
        """
        self._fit_map(rows, y)
        fitted = None if self.feature_map is None else self.feature_map_
        Z = rows if fitted is None else self._mapped(rows)
        self.signature_ = find_signs(self, Z.shape[1], fitted)
        X = self._used(Z)
        hashes = row_hashes(rows, 0)
        self.C_ = (
            float(self.C) if self.C != "cv" else self._select_C(X, targets, sample_weight, groups, hashes)
        )
        solve, _ = self._trainer(X, targets, sample_weight, hashes, self._seed())
        weights, self.n_iter_ = solve(self.C_, None)
        coef, intercept = self._split(weights)
        all_coef = np.zeros((len(coef), Z.shape[1]))
        all_coef[:, self._columns] = coef
        return all_coef, intercept

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _trainer(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, hashes: NDArray, seed: int
    ) -> tuple[Solver, NDArray]:
        """Return the solver for rows, without those of weight zero, and the labels of its weight vectors."""
        if sample_weight is not None and not sample_weight.all():
            kept = sample_weight > 0
            X, y, sample_weight, hashes = X[kept], y[kept], sample_weight[kept], hashes[kept]
        targets, labels = self._targets(y)
        return self._solver(X, targets, sample_weight, hashes, seed), labels

    def _solver(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, hashes: NDArray, seed: int
    ) -> Solver:
        """Return the solver for targets as liblinear takes them."""
        if self.solver == "newton":
            self._check_squared_loss()
            bounds = self._intervals(y)
            problem = NewtonProblem(X, *bounds, fit_intercept=self.fit_intercept, weights=sample_weight)
            limits: dict[str, Any] = {
                "tol": self.tol,
                "max_iter": self.max_iter or MAX_ITER,
                "verbose": self.verbose,
            }
            return lambda C, start: problem.solve(C=C, start=start, **limits)
        dual = (self.loss, False) not in self._solvers if self.dual == "auto" else bool(self.dual)
        if (self.loss, dual) not in self._solvers:
            raise ValueError(
                f"{type(self).__name__}: loss={self.loss!r} is solved in the dual only. Set dual=True or 'auto'."
            )
        whole = sample_weight is None or (
            np.all(sample_weight == np.round(sample_weight)) and sample_weight.mean() <= MOST_REPEATS
        )
        if self.max_iter is not None or not whole:
            return self._limited_liblinear(X, y, sample_weight, dual, seed)
        # Where liblinear stops depends on the order of the rows, so this must depend on the rows alone.
        order = np.lexsort((y, hashes))
        if sample_weight is not None:
            order = np.repeat(order, sample_weight[order].astype(np.intp))
        return self._liblinear(X, y, order, self._solvers[self.loss, dual], seed)

    def _check_squared_loss(self) -> None:
        if not self.loss.startswith("squared") or self.dual is True:
            raise ValueError(
                f"{type(self).__name__}: solver='newton' minimises a squared loss in the primal. Leave loss "
                "and dual at their defaults."
            )

    def _check_passes(self) -> None:
        """Raise ValueError unless the parameters are such that `fit_blocks` can solve for them."""
        if self.solver != "newton" or self.C == "cv":
            raise ValueError(
                f"{type(self).__name__}: fit_blocks needs solver='newton', which takes passes over the rows where "
                "liblinear holds all of them, and a number as C: choose it on a part of the rows."
            )
        self._check_squared_loss()

    def _solve_passes(self, passes: Passes, X: Any, n_vectors: int) -> tuple[NDArray, NDArray]:
        """Return weights (n_vectors, n_components) and intercepts; X are the first rows, the map is fitted."""
        (_, Z), *_ = self._feature_blocks(rows_at(X, slice(PROBED_ROWS)))
        self.signature_ = find_signs(
            self, Z.shape[1], None if self.feature_map is None else self.feature_map_
        )
        Z = self._used(Z)
        self.C_ = float(self.C)
        problem = NewtonPasses(
            Z.shape[1],
            n_vectors,
            C=self.C_,
            tol=self.tol,
            max_iter=self.max_iter or MAX_ITER,
            fit_intercept=self.fit_intercept,
        )
        about = {name: getattr(self, name) for name in ("C", "fit_intercept", "signed")}
        about |= self._tube() | {"targets": self._vector_names}
        if (state := passes.resume(about, Z)) is not None:
            problem.restore(state)
        has_weight = state is not None

        def count_in(block: Block) -> bool:
            rows, lower, upper, weights = self._checked_block(block)
            for part, features in self._feature_blocks(rows):
                factors = None if weights is None else weights[part]
                problem.add(self._used(features), lower[part], upper[part], factors)
            return weights is None or bool(weights.any())

        for what in problem:
            for counts in passes.over(what, count_in, state=problem.state):
                has_weight |= counts
            if not has_weight:
                refuse_zeros(self)
        weights, self.n_iter_ = problem.solution()
        coef, intercept = self._split(weights)
        all_coef = np.zeros((n_vectors, len(self.signature_)))
        all_coef[:, self._columns] = coef
        passes.finish()
        return all_coef, intercept

    @property
    def _vector_names(self) -> Any:
        """Return what the weight vectors stand for."""
        raise NotImplementedError

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray, NDArray | None]:
        """Return the rows of a block, the ends of their intervals, (n, n_vectors) each, and their weights."""
        raise NotImplementedError

    def _limited_liblinear(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, dual: bool, seed: int
    ) -> Solver:
        same = {name: getattr(self, name) for name in ("loss", "tol", "fit_intercept", "verbose")}
        limit = self.max_iter or LIMIT
        machine = self._limited(**same, **self._tube(), dual=dual, random_state=seed, max_iter=limit)

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            with RAND_LOCK, warnings.catch_warnings():
                # scikit-learn's own warning, beside the one below
                warnings.filterwarnings("ignore", category=ConvergenceWarning, module=r"sklearn\.svm")
                machine.set_params(C=C).fit(X, y, sample_weight=sample_weight)
            if machine.n_iter_ >= limit:
                warn(
                    f"{type(self).__name__}: {limit} iterations did not reach tol={self.tol:g}. Raise max_iter or "
                    "tol, or lower C.",
                    ConvergenceWarning,
                    cause=type(self).__name__,
                )
            weights = np.atleast_2d(machine.coef_).T
            if self.fit_intercept:
                weights = np.vstack([weights, machine.intercept_])
            return weights, machine.n_iter_

        return solve

    def _liblinear(self, X: NDArray, y: NDArray, rows: NDArray, number: int, seed: int) -> Solver:
        problem = LiblinearProblem(X, y, fit_intercept=self.fit_intercept, rows=rows)
        epsilon = self._tube().get("epsilon", 0.0)

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            start = start if number in PRIMAL_SOLVERS else None
            settings: dict[str, Any] = {
                "tol": self.tol,
                "epsilon": epsilon,
                "seed": seed,
                "verbose": self.verbose,
            }
            return problem.solve(number, C=C, start=start, **settings)

        return solve

    def _select_C(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, groups: Any, hashes: NDArray
    ) -> float:
        groups = known_groups(self, groups, len(y))
        Cs = np.sort(check_positive_numbers(self, "Cs"))
        check_enough_rows(self, y, instead="set C to a number")
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, groups))
        seeds = [self._seed() for _ in folds]
        errors = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._fold_errors)(X, y, sample_weight, hashes, Cs, seed, *fold)
            for seed, fold in zip(seeds, folds, strict=True)
        )
        self.cv_errors_ = np.column_stack(list(errors))
        self.Cs_ = Cs
        return float(Cs[chosen(self, "Cs", Cs, self.cv_errors_.mean(axis=1))])

    def _fold_errors(
        self,
        X: NDArray,
        y: NDArray,
        sample_weight: NDArray | None,
        hashes: NDArray,
        Cs: NDArray,
        seed: int,
        train: NDArray,
        test: NDArray,
    ) -> list[float]:
        """Return the error of each C on the rows held out, from one solution to the next."""
        given, held_out = (None if sample_weight is None else sample_weight[part] for part in (train, test))
        solve, labels = self._trainer(X[train], y[train], given, hashes[train], seed)
        weights: NDArray | None = None
        errors = []
        for C in Cs:
            weights, _ = solve(C, weights)
            values = _affine(X[test], *self._split(weights))
            errors.append(held_out_mean(self, self._losses(y[test], values, labels), held_out))
        return errors

    def _split(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Split liblinear's weights: coefficients (n_vectors, n_features) and intercepts (n_vectors,)."""
        if self.fit_intercept:
            return weights[:-1].T, weights[-1]
        return weights.T, np.zeros(weights.shape[1])

    def _values(self, X: ArrayLike) -> NDArray:
        """Return <w, z> + intercept of rows, (n_samples, n_vectors)."""
        check_is_fitted(self)
        rows = self._rows(X)
        coef, intercept = self._used(np.atleast_2d(self.coef_)), np.atleast_1d(self.intercept_)
        if self.feature_map is None:
            return _affine(self._used(rows), coef, intercept)
        return np.concatenate(
            [_affine(self._used(Z), coef, intercept) for _, Z in self._feature_blocks(rows)]
        )

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
    def _losses(y: NDArray, values: NDArray, labels: NDArray) -> NDArray:
        """Return what cross-validation minimises the mean of, for each row."""
        raise NotImplementedError


def _affine(X: NDArray, coef: NDArray, intercept: NDArray) -> NDArray:
    return X @ coef.T.astype(X.dtype) + intercept.astype(X.dtype)


def _beyond(positive: NDArray[np.bool_]) -> tuple[NDArray, NDArray]:
    """Return the intervals of the squared hinge: from 1 for rows of the class, up to -1 for others."""
    return np.where(positive, 1.0, -np.inf), np.where(positive, np.inf, -1.0)


class LinearSVM(OneVsRestClassifier, _LinearEstimator):
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
    """

    _solvers = {("squared_hinge", False): 2, ("squared_hinge", True): 1, ("hinge", True): 3}  # noqa: RUF012
    _limited = svm.LinearSVC

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,).

        ``sample_weight`` (n_samples,) multiplies the losses of the rows, also in cross-validation. liblinear
        repeats the rows for small whole numbers; for others scikit-learn's build of it solves. ``groups`` are for
        cross-validation, as in `KRR.fit`.

        Raises
        ------
        ValueError
            If X is not a finite matrix, y has fewer than two classes (with weight), a weight is negative, or a
            parameter is out of its range.
        """
        self._check_parameters()
        rows, labels = self._checked(X, y, reset=True)
        weights = class_weights(self, labels, sample_weight)
        self.classes_, codes = encode_labels(self, labels, weights)
        self.coef_, self.intercept_ = self._solve(rows, labels, codes, weights, groups)
        return self

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
        self._check_passes()
        passes = Passes(self, rows, **options)
        passes.needs_another("Newton's method", "collect the blocks in a list")
        X, y = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        found = self._survey(passes, X, y, labels=classes is None)
        self.classes_, _ = encode_labels(self, classes if found is None else found, name="classes")
        n_classes = len(self.classes_)
        self.coef_, self.intercept_ = self._solve_passes(passes, X, 1 if n_classes == 2 else n_classes)
        return self

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray, NDArray | None]:
        rows, y = self._checked(block.X, block.y, reset=False)
        weights = class_weights(self, y, block.weight, only_zeros=True)
        codes = stream_codes(self, y, None, first=False, weights=weights)
        return rows, *_beyond(codes_to_targets(codes, len(self.classes_)) > 0), weights

    @property
    def _vector_names(self) -> Any:
        return self.classes_.tolist(), self.class_weight

    def _targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Code the classes that these rows have: by -1 and +1 if they are two, else by their numbers."""
        labels, codes = np.unique(y, return_inverse=True)
        return 2 * codes - 1 if len(labels) == 2 else codes, labels

    def _solver(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, hashes: NDArray, seed: int
    ) -> Solver:
        if not y.any():  # one class, in a fold of cross-validation: it is predicted, whatever the weights are
            return lambda C, start: (np.zeros((X.shape[1] + self.fit_intercept, 1)), 0)
        return super()._solver(X, y, sample_weight, hashes, seed)

    def _intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        vectors = 1 if targets.min() == -1 else np.arange(targets.max() + 1)
        return _beyond(targets[:, None] == vectors)

    @staticmethod
    def _losses(y: NDArray, values: NDArray, labels: NDArray) -> NDArray:
        wrong: NDArray = labels[values_to_codes(values)] != y
        return wrong


class LinearSVR(RegressorMixin, _LinearEstimator):
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
        feature_map: Any = None,
        signed: str = "associated",
        signature: ArrayLike | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
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
            feature_map=feature_map,
            signed=signed,
            signature=signature,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.epsilon = epsilon

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,), with weights as in `LinearSVM.fit`.

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, a weight is negative, or a parameter is out of its
            range.
        """
        self._check_parameters()
        check_number(self, "epsilon", at_least=0)
        rows, given = self._checked(X, y, reset=True)
        weights = check_weights(self, sample_weight, len(given))
        targets = np.asarray(given, dtype=np.float64)
        coef, intercept = self._solve(rows, given, targets, weights, groups)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        return self

    @all_or_nothing
    def fit_blocks(self, rows: Any, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, as `LinearSVM.fit_blocks`; errors are those of it."""
        self._check_parameters()
        self._check_passes()
        check_number(self, "epsilon", at_least=0)
        passes = Passes(self, rows, **options)
        passes.needs_another("Newton's method", "collect the blocks in a list")
        X, y = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        self._survey(passes, X, y)
        coef, intercept = self._solve_passes(passes, X, 1)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        return self

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray, NDArray | None]:
        rows, y = self._checked(block.X, block.y, reset=False)
        weights = check_weights(self, block.weight, len(y), only_zeros=True)
        return rows, *self._intervals(np.asarray(y, dtype=np.float64)), weights

    @property
    def _vector_names(self) -> Any:
        return "y"

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted targets of the rows X (n_samples, n_features), shape (n_samples,)."""
        values = self._values(X)
        return values[:, 0]

    def _targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        return y, np.zeros(1)

    def _intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        return (targets - self.epsilon)[:, None], (targets + self.epsilon)[:, None]

    def _tube(self) -> dict[str, float]:
        return {"epsilon": self.epsilon}

    @staticmethod
    def _losses(y: NDArray, values: NDArray, labels: NDArray) -> NDArray:
        squares: NDArray = (y - values[:, 0]) ** 2
        return squares
