"""What `KRR` and `KRRClassifier` share: features of rows become moments, from which a ridge is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.kernels.namespaces import Array, beside, follow, is_foreign, namespace, some_rows, to_numpy
from rflib.learners.checked_rows import rows_at
from rflib.learners.feature_systems import feature_systems
from rflib.learners.folds import check_folds, check_groups, fold_numbers, n_folds
from rflib.learners.gradient_fits import GradientFits
from rflib.learners.grid_edge import ALPHAS, about_alpha, chosen, unless_rounding
from rflib.learners.kept_blocks import KeptBlocks
from rflib.learners.leave_one_out import check_several_rows, held_out_errors, residuals_of_features
from rflib.learners.mapped_rows import MappedRows
from rflib.learners.moments import Blocks
from rflib.learners.parameter_checks import check_positive_numbers, check_seed
from rflib.learners.passes import PROBED_ROWS, Passes, PassOptions
from rflib.learners.ridge_state import Count, RidgeSolution, RidgeState
from rflib.learners.ridge_system import RIDGES, Ridge
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import Signed, check_signed, find_signs
from rflib.learners.streaming_ridge import HeldOutModels
from rflib.learners.values import check_weights, refuse_zeros
from rflib.learners.weight_posterior import WeightPosterior
from rflib.maps.dask_rows import is_dask
from rflib.maps.row_blocks import row_blocks
from rflib.sklearn_bases import BaseEstimator
from rflib.validation import check_choice, check_flag, check_integer

# Features of so many times D rows are kept for leave-one-out: about what the decomposition takes besides.
_KEPT_ROWS = 4

# rows, targets and weights
CheckedBlock = tuple[Any, NDArray, NDArray[np.float64] | None]


class _Solved:
    """An attribute that is solved for: after `partial_fit` when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, learner: Any, owner: type | None = None) -> Any:
        if learner is None:
            return self
        known, state = vars(learner), vars(learner).get("_state")
        if state is not None and not state.solved:
            learner._solve_stream(state)
        if self._name in known:  # by now, perhaps by another thread
            return known[self._name]
        raise AttributeError(f"{type(learner).__name__!r} object has no attribute {self._name!r}")


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeParameters:
    """The parameters of `KRR`."""

    alphas: ArrayLike = ALPHAS
    ridge: Ridge = "n_lambda"
    cv: Any = None
    criterion: Literal["squared_error", "error_rate", "marginal_likelihood"] = "squared_error"
    feature_map: Any = None
    signature: ArrayLike | None = None
    signed: Signed | Literal["krein"] = "associated"
    solver: Literal["direct", "cg"] = "direct"
    block_size: int = 4096
    gram_dtype: Literal["float32", "float64"] | None = None
    device: Any = None
    verbose: bool = False
    random_state: Any = 0


class FeatureRidge(RidgeParameters, MappedRows, BaseEstimator):
    """Ridge regression of targets on features that are made, used and dropped block by block."""

    _criteria: tuple[str, ...] = ("squared_error", "marginal_likelihood")
    _state: RidgeState | None
    # Attributes that workers do not need, which are large.
    _stays_with_caller = ("_state", "_posterior", "loo_predictions_")

    alpha_ = _Solved()
    best_score_ = _Solved()
    cv_errors_ = _Solved()
    loo_predictions_ = _Solved()
    log_marginal_likelihoods_ = _Solved()
    coef_ = _Solved()
    intercept_ = _Solved()
    noise_variance_ = _Solved()
    log_marginal_likelihood_ = _Solved()

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        return about_alpha(cls, name, value)

    def _check_parameters(self) -> None:
        check_positive_numbers(self, "alphas")
        check_choice(self, "ridge", RIDGES)
        check_folds(self)
        check_choice(self, "criterion", self._criteria)
        self._check_map()
        check_signed(self, krein=True)
        check_choice(self, "solver", ("direct", "cg"))
        check_flag(self, "verbose")
        if self.solver == "cg":
            for what, used in (
                ("criterion='marginal_likelihood'", self.criterion == "marginal_likelihood"),
                ("signed='krein'", self.signed == "krein"),
                ("device", self.device is not None),
            ):
                if used:
                    raise self._needs_gram(what)
        if self.signed == "krein" and self.criterion == "marginal_likelihood":
            raise ValueError(
                f"{type(self).__name__}: an indefinite kernel has no marginal likelihood. Leave "
                "criterion='squared_error' with signed='krein'."
            )
        check_integer(self, "block_size", at_least=1)
        check_choice(self, "gram_dtype", ("float32", "float64", None))
        self._check_device()
        check_seed(self)

    @property
    def _cross_validates(self) -> bool:
        several = len(check_positive_numbers(self, "alphas")) > 1
        return several and self.criterion != "marginal_likelihood"

    def _leaves_one_out(self, X: Any) -> bool:
        """Return whether each row in memory is held out by itself, for which there are moments of one fold."""
        by_rows = self.cv is None and self._cross_validates and self.solver == "direct"
        return by_rows and self.signed != "krein" and self.device is None and not is_foreign(X)

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and y: targets (n_samples,) or (n_samples, n_targets), or labels.

        ``sample_weight`` (n_samples,) counts a row as often as it says, also in n and in the folds' errors; the
        feature_map does not get it. ``groups`` (n_samples,) are for a splitter as cv that keeps the rows of a
        group together, such as ``GroupKFold``; blocks, streams and Dask rows have no groups.

        X may be a Dask array or dataframe, with y and the weights in the same blocks of rows. Moments are then
        summed where the blocks are, and the solution is that of `fit_blocks` on the same rows, to rounding: its
        folds, and its sample of at most 10,000 rows for a feature_map that depends on rows (or more for
        `Nystroem`). If the call fails, the learner is as it was before.

        While scikit-learn's ``array_api_dispatch`` is on, X may be an array of torch, CuPy or another library with
        the array API. Features, Gram matrices and factors then stay on its device, and y and the weights are
        brought there. Only numbers that do not grow with the number of rows come to the host: held-out errors, the
        coefficients, the diagonal of a factor; a splitter as ``cv`` gets y. The Gram matrix stays on the device,
        all fitted attributes are arrays of numpy.

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, a parameter is out of its range, the signature does
            not fit, there are fewer rows than folds, weights are negative, or the system is singular for the alpha
            chosen.
        """
        self._check_parameters()
        if is_dask(X):
            self._fit_dask(X, y, sample_weight, groups)
            return self
        rows, known = self._checked(X, y, reset=True)
        targets, weights = self._begin(known, sample_weight)
        self._fit_map(rows, known)
        self._fit_rows(rows, targets, weights, groups)
        return self

    def _begin(self, y: Array, sample_weight: Any) -> tuple[Array, Any]:
        """Return what `_targets` takes and the weights, and keep what the first rows tell of y."""
        raise NotImplementedError

    def _fit_rows(self, X: Any, y: Array, sample_weight: Any, groups: Any) -> None:
        """Fit on checked rows and the y of `_targets`."""
        self._forget()
        self._state = None
        alphas = check_positive_numbers(self, "alphas")
        n = y.shape[0]
        weights = _beside(check_weights(self, sample_weight, n), y)
        if self.solver == "cg":
            self._fit_by_gradients(X, y, weights, groups)
            return
        leaves_one_out = self._leaves_one_out(X)
        if leaves_one_out:
            check_groups(self, groups)
            check_several_rows(self, n if weights is None else int(np.count_nonzero(weights)))
        by_folds = self._cross_validates and not leaves_one_out
        folds = fold_numbers(self, y, groups=groups) if by_folds else np.zeros(n, dtype=int)
        if weights is None:
            xp, parts = namespace(y), row_blocks(n, self.block_size)
            centre = to_numpy(sum(xp.sum(self._targets(some_rows(y, rows)), axis=0) for rows in parts) / n)
        else:
            centre = to_numpy(weights @ self._targets(y) / namespace(weights).sum(weights))
        state = self._empty_state(centre, int(folds.max()) + 1, has_all=True)
        blocks: Blocks = self._used_blocks(X)
        if leaves_one_out:
            blocks = KeptBlocks(lambda: self._used_blocks(X), lambda Z: n <= _KEPT_ROWS * Z.shape[1])
        state.add(blocks, lambda rows: self._targets(some_rows(y, rows)), folds, weights)
        errors = None
        if leaves_one_out:
            targets = self._targets(y)
            total = state.moments[0]
            left_out = residuals_of_features(blocks, total, targets - centre, weights, alphas, self.ridge)
            errors = held_out_errors(left_out, targets, weights, self.criterion)[:, None]
        self._solve(state, errors, lambda models: models.wrong(self._parts(X, y, folds, weights), centre))
        if leaves_one_out:
            best = np.flatnonzero(alphas == self.alpha_)[0]
            self.loo_predictions_ = self._shaped(targets - left_out[best])
        self._settle(state)

    def _fit_by_gradients(self, X: Any, y: NDArray, weights: NDArray[np.float64] | None, groups: Any) -> None:
        """Fit to checked rows without a Gram matrix."""
        if is_foreign(X):
            raise self._needs_gram("an array of another library than numpy")
        (_, first), *_ = self._used_blocks(rows_at(X, slice(PROBED_ROWS)))
        targets, own = self._targets(y), np.ones(X.shape[0]) if weights is None else weights
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        systems = feature_systems(partial(self._used_blocks, X), first, self.block_size, own, rng)
        name = type(self).__name__
        fits = GradientFits(systems, targets, weights, self.ridge, name=name, verbose=self.verbose)
        folds = fold_numbers(self, y, weights, groups) if self._cross_validates else None
        alphas, means = check_positive_numbers(self, "alphas"), np.average(targets, axis=0, weights=weights)
        error = np.average(((targets - means) ** 2).mean(axis=1), weights=weights)
        choose = partial(self._best, alphas, error_of_mean=float(error), means=means)
        found = fits.fit(alphas, folds, self.criterion, choose)
        self._keep(replace(found, coef=found.coef.astype(first.dtype)))

    def _empty_state(self, centre: NDArray, n_folds: int, seed: int = 0, *, has_all: bool) -> RidgeState:
        alphas = check_positive_numbers(self, "alphas")
        options = self.ridge, self.criterion, self.gram_dtype
        return RidgeState(centre, alphas, *options, n_folds, seed, has_all=has_all)

    def _needs_gram(self, what: str) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: {what} needs a Gram matrix, which solver='cg' does not make. Use "
            "solver='direct'."
        )

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Add some rows of a stream, the first of which begin it."""
        self._check_parameters()
        first = self._begins()
        rows, known = self._checked(X, y, reset=first)
        targets, weights = self._stream_targets(known, sample_weight, classes, first=first)
        if first:
            self._fit_map(rows, known)
            self._check_needs_only_columns(rows, known)
        state = self._begun(targets) if self._state is None else self._state.copy()
        self._add(state, rows, targets, weights)
        state.solved = False
        self._forget()
        self._state = state
        return self

    def _fit_blocks(self, source: Any, options: PassOptions, classes: Any = None) -> Self:
        """Fit to the blocks of a source of rows."""
        self._check_parameters()
        self._check_streams("fit_blocks")
        passes = Passes(self, source, **options)
        if self._cross_validates and self.criterion == "error_rate":
            passes.needs_another("criterion='error_rate'", "use 'squared_error' or 'marginal_likelihood'")
        X, known = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        found = self._survey(passes, X, known, labels=is_classifier(self) and classes is None)
        self._know_targets(known, lambda: classes if found is None else found)
        self._fit_passes(passes, X, passes.first(self._checked_block)[1])
        return self

    def _begun(self, y: NDArray) -> RidgeState:
        """Return a stream without rows, whose targets are about centred for those of the first block."""
        folds = int(n_folds(self.cv)) if self._cross_validates else 1
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        targets = self._targets(y)
        centre = to_numpy(namespace(targets).mean(targets, axis=0))
        return self._empty_state(centre, folds, seed, has_all=folds > 1 and self.criterion == "error_rate")

    def _add(self, state: RidgeState, X: Any, y: NDArray, weights: Any) -> None:
        """Add checked rows, whose numbers decide the folds."""
        blocks, folds = self._used_blocks(X), state.folds(X)
        state.add(blocks, lambda rows: self._targets(some_rows(y, rows)), folds, _beside(weights, y))

    def _begins(self) -> bool:
        """Return whether no rows have been seen yet; ValueError where no stream can begin."""
        if self.__dict__.get("_state") is not None:
            return False
        self._check_streams("partial_fit")
        self._state = None
        return True

    def _check_streams(self, method: str) -> None:
        """Raise ValueError if a method, whose rows are seen once, cannot do with the parameters."""
        if self.solver == "cg":
            raise ValueError(
                f"{type(self).__name__}: {method} sees the rows once, but solver='cg' goes over them many times. "
                "Use solver='direct'."
            )
        if self._cross_validates and not (self.cv is None or isinstance(self.cv, Integral)):
            raise ValueError(
                f"{type(self).__name__}: {method} needs cv to be a number of folds, or a single alpha."
            )

    def _fit_passes(self, passes: Passes, X: Any, y: NDArray) -> None:
        """Fit to the rows of the passes with a map that is fitted; X and y are the first block's, checked."""
        self._forget()
        state = self._begun(y)
        (_, features), *_ = self._used_blocks(rows_at(X, slice(PROBED_ROWS)))
        about = {"folds": state.n_folds, "gram_dtype": self.gram_dtype, "signed": self.signed}
        about |= {"random_state": self.random_state} if state.n_folds > 1 else {}
        if (known := passes.resume(about | self._labels, to_numpy(features))) is not None:
            state.restore(known)
        for _ in passes.over("moments", partial(self._add_block, state), state=state.state):
            pass
        self._solve_all(
            state, lambda models: self._wrong(state, models, passes.over("error rates", self._checked_block))
        )
        passes.finish()

    def _fit_dask(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Fit to Dask rows, whose moments are summed where they are."""
        from rflib.learners.dask_ridge import RowsElsewhere

        self._check_streams("fit on Dask rows")
        check_groups(self, groups)
        self._forget()
        rows = RowsElsewhere(self, X, y, sample_weight)
        with rows.named_head():
            first, known = self._checked(rows.head.X, rows.head.y, reset=True)
        self._know_targets(known, rows.labels)
        if self.feature_map is not None and first.shape[0] > 1 and self._needs_only_columns(first, known)[0]:
            self._fit_map(first, known)
        elif self.feature_map is not None:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            self._fit_map(*self._checked(*rows.sample(self.feature_map, seed), reset=False))
        with rows.named_head():
            _, targets, _ = self._checked_block(rows.head)
        state = self._begun(targets)
        (_, features), *_ = self._used_blocks(first)
        state.moments = rows.moments(self, state, features.shape[1])
        self._solve_all(state, rows.wrong)

    def _add_block(self, state: RidgeState, block: Block) -> None:
        """Add a block of a stream."""
        self._add(state, *self._checked_block(block))

    def _wrong(
        self, state: RidgeState, models: HeldOutModels, checked: Iterable[CheckedBlock]
    ) -> NDArray[np.float64]:
        """Return `HeldOutModels.wrong` of checked blocks of a stream."""
        parts = (part for X, y, w in checked for part in self._parts(X, y, state.folds(X), w))
        return models.wrong(parts, state.centre)

    def _solve_all(self, state: RidgeState, count: Count) -> None:
        """Solve for all rows of a stream; ``count`` makes the pass that `StreamingRidge.error_rates` takes."""
        if not any(fold.n for fold in state.moments):
            refuse_zeros(self)
        self._solve(state, count=count)
        self._settle(state)

    def _solve_stream(self, state: RidgeState) -> None:
        """Solve for the rows that `partial_fit` has counted in."""
        if not any(fold.n for fold in state.moments):
            refuse_zeros(self, "all rows so far")
        self._solve(state)
        state.solved = True

    def _settle(self, state: RidgeState) -> None:
        """Keep the sums of all rows, to which `partial_fit` adds others for the alpha that folds chose."""
        self._state = state.settled(np.array([self.alpha_]) if self._cross_validates else state.alphas)

    def _checked_block(self, block: Block) -> CheckedBlock:
        """Return the rows of a block of a stream, with what `_targets` takes, and weights."""
        X, known = self._checked(block.X, block.y, reset=False)
        return X, *self._stream_targets(known, block.weight)

    def _stream_targets(
        self, y: Array, sample_weight: Any, classes: Any = None, *, first: bool = False
    ) -> tuple[Array, Any]:
        """Return what `_targets` takes and the weights, of rows of a stream that may begin it."""
        raise NotImplementedError

    def _know_targets(self, y: Array, labels: Callable[[], Any]) -> None:
        """Keep what the first rows tell of y, or the labels of all rows."""
        raise NotImplementedError

    @property
    def _labels(self) -> dict[str, Any]:
        """Return the labels, of a classifier, for what a checkpoint belongs to."""
        return {}

    def _parts(
        self, X: Any, y: NDArray, folds: NDArray, weights: NDArray | None
    ) -> Iterator[tuple[Array, NDArray, NDArray, NDArray | None]]:
        """Yield the features that are used of some rows with what belongs to them."""
        for rows, Z in self._used_blocks(X):
            yield Z, y[rows], folds[rows], None if weights is None else weights[rows]

    def _solve(self, state: RidgeState, errors: NDArray | None = None, count: Count | None = None) -> None:
        """Choose an alpha, by held-out errors (n_alphas, n_folds) if given, solve, and keep what was found."""
        state.signs = self.signature_ if self.signed == "krein" else None
        choose = partial(self._best, means=state.centre)
        self._keep(state.solve(choose, errors, count if self.criterion == "error_rate" else None))

    def _best(self, alphas: NDArray, losses: NDArray, error_of_mean: float, means: NDArray) -> int:
        """Return the number of the best alpha, and keep what it scores."""
        known = self.criterion == "squared_error"
        best = chosen(
            self, "alphas", alphas, losses, unless_rounding(error_of_mean, means) if known else None
        )
        self.best_score_ = -float(losses[best])
        return best

    def _keep(self, found: RidgeSolution) -> None:
        self.alpha_ = found.alpha
        if found.errors is not None:
            self.cv_errors_ = found.errors
        if found.likelihoods is not None:
            self.log_marginal_likelihoods_ = found.likelihoods
        coef = np.zeros((len(self.signature_), len(found.intercept)), dtype=found.coef.dtype)
        coef[self._columns] = found.coef
        self._set_solution(coef, found.intercept, found.posterior)

    def _forget(self) -> None:
        solved = [name for name, value in vars(FeatureRidge).items() if isinstance(value, _Solved)]
        for name in (*solved, "_posterior"):
            self.__dict__.pop(name, None)

    def _used_blocks(self, X: Any, height: int | None = None) -> Blocks:
        """Yield consecutive blocks of rows and the features that are used; the first finds their signs."""
        for rows, Z in self._feature_blocks(X, height):
            if rows.start == 0:
                fitted = None if self.feature_map is None else self.feature_map_
                self.signature_ = find_signs(self, Z.shape[1], fitted)
            yield rows, self._used(Z)

    def _known_blocks(self, X: ArrayLike) -> Blocks:
        """Yield blocks of rows of a fitted learner, after checks, and the features that are used."""
        check_is_fitted(self)
        return ((part, self._used(Z)) for part, Z in self._feature_blocks(self._rows(X)))

    def _values(self, X: ArrayLike) -> NDArray:
        """Return the predictions on checked rows, block by block, (n_samples, n_targets)."""
        return self._joined([self._affine(Z) for _, Z in self._known_blocks(X)], X)

    def _joined(self, parts: list[Array], X: Any) -> Array:
        """Return the parts of a result for the rows X, in the library that X is of."""
        joined = namespace(parts[0]).concat(parts, axis=0)
        return joined if is_foreign(X) else to_numpy(joined)

    def _affine(self, Z: Array) -> Array:
        coef = self._used(np.atleast_2d(self.coef_)).T
        intercept = self.intercept_ if namespace(Z) is np else beside(np.atleast_1d(self.intercept_), Z)
        return Z @ beside(coef, Z) + intercept

    def _shaped(self, values: Array) -> Array:
        """Return values (n, n_targets, ...) in the shape that predictions have."""
        raise NotImplementedError

    def _targets(self, y: Array) -> Array:
        """Return the regression targets of some rows, (n, n_targets)."""
        raise NotImplementedError

    def _set_solution(self, coef: NDArray, intercept: NDArray, posterior: WeightPosterior | None) -> None:
        """Keep coefficients (n_components, n_targets), intercepts (n_targets,) and what else is of use."""
        raise NotImplementedError


def _beside(weights: Any, y: Array) -> Array | None:
    """Return the weights of rows, if there are any, where the targets y are."""
    return None if weights is None else follow(weights, np.zeros(1) if namespace(y) is np else y)
