"""What linear SVMs for labels and for targets share: features, the choice of the cost, and passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.learners.checked_rows import rows_at
from rflib.learners.folds import check_enough_rows, check_folds, check_groups, held_out_mean, known_groups
from rflib.learners.grid_edge import chosen
from rflib.learners.linear_svm import LinearMachine, Margins, affine
from rflib.learners.mapped_rows import MappedRows
from rflib.learners.newton import MAX_ITER
from rflib.learners.newton_passes import NewtonPasses
from rflib.learners.parameter_checks import check_n_jobs, check_positive_numbers, check_seed
from rflib.learners.passes import PROBED_ROWS, Passes, PassOptions
from rflib.learners.row_hashes import row_hashes
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import FLOATS, Signed, check_signed, find_signs
from rflib.learners.values import refuse_zeros
from rflib.sklearn_bases import BaseEstimator
from rflib.validation import check_choice, check_flag, check_integer, check_number, refuse

POWERS_OF_TEN = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)


@dataclass(kw_only=True, eq=False, repr=False)
class SVMParameters:
    """The parameters that both machines have."""

    C: float | Literal["cv"] = 1.0
    Cs: ArrayLike = POWERS_OF_TEN
    cv: Any = 5
    solver: Literal["liblinear", "newton"] = "liblinear"
    dual: bool | Literal["auto"] = "auto"
    fit_intercept: bool = False
    tol: float = 1e-4
    max_iter: int | None = None
    feature_map: Any = None
    signed: Signed = "associated"
    signature: ArrayLike | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False


class SVMEstimator(SVMParameters, MappedRows, BaseEstimator):
    """What the two SVMs share: rows become features, a cost is chosen, and a `LinearMachine` finds the weights."""

    _row_types = FLOATS
    block_size = 4096

    loss: Any
    coef_: NDArray[np.float64]
    intercept_: Any

    def _check_parameters(self) -> None:
        if not isinstance(self.C, str):
            check_number(self, "C", above=0)
        elif self.C != "cv":
            refuse(self, "C", "a number above 0 or 'cv'")
        check_positive_numbers(self, "Cs")
        check_folds(self)
        check_choice(self, "loss", sorted({loss for loss, _ in self._task.numbers}))
        check_choice(self, "solver", ("liblinear", "newton"))
        check_choice(self, "dual", (True, False, "auto"))
        check_flag(self, "fit_intercept")
        check_number(self, "tol", above=0)
        check_integer(self, "max_iter", at_least=1, or_none=True)
        self._check_map()
        check_signed(self)
        check_seed(self)
        check_n_jobs(self)
        check_flag(self, "verbose")

    @property
    def _task(self) -> Margins:
        """Return the losses."""
        raise NotImplementedError

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, NDArray | None]:
        """Return the codes of labels or the real targets, and the weights; keep what y tells."""
        raise NotImplementedError

    def _keep(self, coef: NDArray, intercept: NDArray) -> None:
        """Keep weights (n_vectors, n_components) and intercepts."""
        raise NotImplementedError

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray, NDArray | None]:
        """Return the rows of a block, the ends of their intervals, (n, n_vectors) each, and their weights."""
        raise NotImplementedError

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and y (n_samples,): labels, or targets.

        ``sample_weight`` (n_samples,) multiplies the losses of the rows, also in cross-validation. liblinear
        repeats the rows for small whole numbers; for others scikit-learn's build of it solves. ``groups`` are for
        cross-validation, as in `KRR.fit`.

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, there are fewer than two classes (with weight), a weight
            is negative, or a parameter is out of its range.
        """
        self._check_parameters()
        rows, known = self._checked(X, y, reset=True)
        targets, weights = self._begin(known, sample_weight)
        self._fit_map(rows, known)
        fitted = None if self.feature_map is None else self.feature_map_
        Z = rows if fitted is None else self._mapped(rows)
        self.signature_ = find_signs(self, Z.shape[1], fitted)
        data = self._used(Z), targets, weights, row_hashes(rows, 0)
        self.C_ = float(self.C) if self.C != "cv" else self._select_C(*data, groups)
        solve, _ = self._machine.on(*data, self._seed())
        found, self.n_iter_ = solve(self.C_, None)
        self._keep_used(found)
        return self

    def _fit_passes(self, passes: Passes, X: Any, n_vectors: int, about: Any) -> None:
        """Fit to the rows of the passes with a map that is fitted; X are the first, ``about`` what vectors are."""
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
        settings = {name: getattr(self, name) for name in ("C", "fit_intercept", "signed")}
        settings |= self._task.options | {"targets": about}
        if (state := passes.resume(settings, Z)) is not None:
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
        found, self.n_iter_ = problem.solution()
        self._keep_used(found)
        passes.finish()

    def _passes(self, rows: Any, options: PassOptions) -> Passes:
        """Return the passes of Newton's method; ValueError if the parameters do not allow any."""
        if self.solver != "newton" or self.C == "cv":
            raise ValueError(
                f"{type(self).__name__}: fit_blocks needs solver='newton', which takes passes over the rows where "
                "liblinear holds all of them, and a number as C: choose it on a part of the rows."
            )
        self._machine.check_squared_loss()
        passes = Passes(self, rows, **options)
        passes.needs_another("Newton's method", "collect the blocks in a list")
        return passes

    @property
    def _machine(self) -> LinearMachine:
        names = ("loss", "solver", "dual", "tol", "max_iter", "fit_intercept", "verbose")
        return LinearMachine(type(self).__name__, self._task, **{name: getattr(self, name) for name in names})

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _keep_used(self, weights: NDArray) -> None:
        """Keep the weights of the columns that are used; those of others are zero."""
        coef, intercept = self._machine.split(weights)
        all_coef = np.zeros((len(coef), len(self.signature_)))
        all_coef[:, self._columns] = coef
        self._keep(all_coef, intercept)

    def _select_C(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, hashes: NDArray, groups: Any
    ) -> float:
        check_groups(self, groups)
        groups = known_groups(self, groups, len(y))
        Cs = np.sort(check_positive_numbers(self, "Cs"))
        check_enough_rows(self, y, instead="set C to a number")
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, groups))
        machine = self._machine

        def errors(seed: int, train: NDArray, test: NDArray) -> list[float]:
            ours, held_out = (
                None if sample_weight is None else sample_weight[part] for part in (train, test)
            )
            solve, labels = machine.on(X[train], y[train], ours, hashes[train], seed)
            losses = machine.held_out_losses(solve, labels, Cs, X[test], y[test])
            return [held_out_mean(self, each, held_out) for each in losses]

        seeds = [self._seed() for _ in folds]
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads")
        found = parallel(delayed(errors)(seed, *fold) for seed, fold in zip(seeds, folds, strict=True))
        self.cv_errors_ = np.column_stack(list(found))
        self.Cs_ = Cs
        return float(Cs[chosen(self, "Cs", Cs, self.cv_errors_.mean(axis=1))])

    def _values(self, X: ArrayLike) -> NDArray:
        """Return <w, z> + intercept of rows, (n_samples, n_vectors)."""
        check_is_fitted(self)
        rows = self._rows(X)
        coef, intercept = self._used(np.atleast_2d(self.coef_)), np.atleast_1d(self.intercept_)
        if self.feature_map is None:
            return affine(self._used(rows), coef, intercept)
        return np.concatenate([affine(self._used(Z), coef, intercept) for _, Z in self._feature_blocks(rows)])
