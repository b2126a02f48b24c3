"""Kernel ridge regression on random features: one pass over the rows serves all folds and all ridges."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, Self, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.kernels.namespaces import (
    Array,
    beside,
    follow,
    in_type_of,
    is_foreign,
    namespace,
    some_rows,
    to_numpy,
    widest,
)
from rflib.learners.checked_rows import rows_at
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.folds import check_folds, fold_numbers, folds_by_content
from rflib.learners.grid_edge import ALPHAS, about_alpha, chosen, has_default_alphas, unless_rounding
from rflib.learners.mapped_rows import MappedRows
from rflib.learners.moments import Blocks, Moments, add_to_folds
from rflib.learners.one_vs_rest import (
    OneVsRestClassifier,
    codes_to_targets,
    encode_labels,
    stream_codes,
)
from rflib.learners.parameter_checks import check_positive_numbers, check_seed
from rflib.learners.passes import PROBED_ROWS, Passes, PassOptions
from rflib.learners.ridge_system import RIDGES
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import check_signed, find_signs
from rflib.learners.streaming_ridge import HeldOutModels, StreamingRidge
from rflib.learners.values import check_weights, refuse_zeros
from rflib.learners.weight_posterior import WeightPosterior
from rflib.maps.dask_rows import is_dask, takes_dask_rows
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_choice, check_integer

# What is solved for from the moments; after partial_fit, when it is first asked for.
SOLVED = (
    *("alpha_", "cv_errors_", "log_marginal_likelihoods_", "coef_", "intercept_"),
    *("noise_variance_", "log_marginal_likelihood_", "_posterior"),
)


@dataclass
class _Stream:
    """The rows seen so far: the moments of each fold, of targets less ``centre``; fit leaves those of all rows.

    ``alphas`` are those to choose from: after fit with cross-validation the one that it chose.
    """

    moments: list[Moments]
    centre: NDArray[np.float64]
    alphas: NDArray[np.float64]
    n_folds: int = 1
    seed: int = 0
    solved: bool = False

    def folds(self, X: Any) -> NDArray[np.intp]:
        """Return the fold of each row."""
        if self.n_folds == 1:
            return np.zeros(X.shape[0], dtype=int)
        return folds_by_content(X, self.n_folds, self.seed)

    def state(self) -> dict[str, NDArray]:
        """Return what the rows have changed, for `restore`."""
        found = {"centre": self.centre}
        for i, fold in enumerate(self.moments):
            found |= {f"{name} {i}": array for name, array in fold.state().items()}
        return found

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Go on from the rows that `state` knew."""
        self.centre = state["centre"]
        by_fold: list[dict[str, NDArray]] = [{} for _ in range(self.n_folds)]
        for key in state.keys() - {"centre"}:
            name, fold = key.split()
            by_fold[int(fold)][name] = state[key]
        self.moments[:] = map(Moments.restored, by_fold)


class _FeatureRidge(MappedRows, BaseEstimator):
    """Ridge regression of targets on features that are made, used and dropped block by block."""

    _criteria: tuple[str, ...] = ("squared_error", "marginal_likelihood")
    _stream: _Stream | None
    # Attributes that workers do not need, of which Gram matrices are large.
    _stays_with_caller = ("_stream", "_posterior")

    coef_: NDArray
    intercept_: Any

    def __init__(
        self,
        *,
        alphas: ArrayLike = ALPHAS,
        ridge: str = "n_lambda",
        cv: Any = 5,
        criterion: str = "squared_error",
        feature_map: Any = None,
        signature: ArrayLike | None = None,
        signed: str = "associated",
        block_size: int = 4096,
        gram_dtype: str | None = None,
        device: Any = None,
        random_state: Any = 0,
    ):
        self.alphas = alphas
        self.ridge = ridge
        self.cv = cv
        self.criterion = criterion
        self.feature_map = feature_map
        self.signature = signature
        self.signed = signed
        self.block_size = block_size
        self.gram_dtype = gram_dtype
        self.device = device
        self.random_state = random_state

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

    def _fit_rows(self, X: Any, y: Array, sample_weight: Any, groups: Any) -> None:
        """Fit on checked rows and the y of `_targets`."""
        self._forget()
        self._stream = None
        alphas = check_positive_numbers(self, "alphas")
        n = y.shape[0]
        weights = self._weights(sample_weight, y)
        folds = fold_numbers(self, y, groups=groups) if self._cross_validates else np.zeros(n, dtype=int)
        if weights is None:
            xp, blocks = namespace(y), row_blocks(n, self.block_size)
            centre = to_numpy(sum(xp.sum(self._targets(some_rows(y, rows)), axis=0) for rows in blocks) / n)
        else:
            centre = to_numpy(weights @ self._targets(y) / namespace(weights).sum(weights))
        moments: list[Moments] = []
        self._add(moments, X, y, centre, folds, int(folds.max()) + 1, weights)
        solver = StreamingRidge(moments, self.ridge, self._ridge_signs)
        errors = None
        if self._cross_validates and self.criterion == "error_rate":
            parts = self._parts(X, y, folds, weights)
            errors = solver.error_rates(alphas, lambda models: models.wrong(parts, centre))
        self._solve(solver, alphas, centre, errors)
        if self._cross_validates:
            alphas = np.array([self.alpha_])
        self._stream = _Stream([solver.total], centre, alphas, solved=True)

    def _count_in(self, X: Any, y: NDArray, sample_weight: ArrayLike | None) -> None:
        """Add some checked rows of a stream, the first of which begin it."""
        weights = self._weights(sample_weight, y, only_zeros=True)
        if self._stream is None:
            self._stream = self._begun(y)
        stream = self._stream
        stream.solved = False
        self._forget()
        self._add(stream.moments, X, y, stream.centre, stream.folds(X), stream.n_folds, weights)

    def _begun(self, y: NDArray) -> _Stream:
        """Return a stream without rows, whose targets are about centred for those of the first block."""
        n_folds = (5 if self.cv is None else self.cv) if self._cross_validates else 1
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        alphas = check_positive_numbers(self, "alphas")
        targets = self._targets(y)
        return _Stream([], to_numpy(namespace(targets).mean(targets, axis=0)), alphas, n_folds, seed)

    def _weights(self, sample_weight: Any, y: Array, *, only_zeros: bool = False) -> Array | None:
        """Return the weights of the rows, where the targets y are, or None where there are none."""
        weights = check_weights(self, sample_weight, y.shape[0], only_zeros=only_zeros)
        return None if weights is None else follow(weights, np.zeros(1) if namespace(y) is np else y)

    def _begins(self) -> bool:
        """Return whether no rows have been seen yet; ValueError where no stream can begin."""
        if (stream := self.__dict__.get("_stream")) is not None:
            self._stream = replace(stream, moments=[fold.copy() for fold in stream.moments])
            return False
        self._check_number_of_folds("partial_fit")
        self._stream = None
        return True

    def _check_number_of_folds(self, method: str) -> None:
        if self._cross_validates and not (self.cv is None or isinstance(self.cv, Integral)):
            raise ValueError(
                f"{type(self).__name__}: {method} needs cv to be a number of folds, or a single alpha."
            )

    def _fit_passes(self, passes: Passes, X: Any, y: NDArray) -> None:
        """Fit to the rows of the passes with a map that is fitted; X and y are the first block's, checked."""
        self._forget()
        self._stream = stream = self._begun(y)
        (_, features), *_ = self._used_blocks(rows_at(X, slice(PROBED_ROWS)))
        about = {"folds": stream.n_folds, "gram_dtype": self.gram_dtype, "signed": self.signed}
        about |= {"random_state": self.random_state} if stream.n_folds > 1 else {}
        if (state := passes.resume(about | self._labels, to_numpy(features))) is not None:
            stream.restore(state)

        def counted(block: Block) -> None:
            self._count_in(*self._checked_block(block))

        for _ in passes.over("moments", counted, state=stream.state):
            pass

        def count(models: HeldOutModels) -> NDArray[np.float64]:
            blocks = passes.over("error rates", self._checked_block)
            parts = (
                part for rows, codes, w in blocks for part in self._parts(rows, codes, stream.folds(rows), w)
            )
            return models.wrong(parts, stream.centre)

        self._solve_counted(stream, count)
        passes.finish()

    def _solve_counted(self, stream: _Stream, count: Callable[[HeldOutModels], NDArray[np.float64]]) -> None:
        """Solve for all rows of a stream; ``count`` makes the pass that `StreamingRidge.error_rates` takes."""
        if not any(fold.n for fold in stream.moments):
            refuse_zeros(self)
        errors = None
        if self._cross_validates and self.criterion == "error_rate":
            solver = StreamingRidge(stream.moments, self.ridge, self._ridge_signs)
            errors = solver.error_rates(stream.alphas, count)
        else:
            seen = [fold for fold in stream.moments if fold.n]
            solver = StreamingRidge(seen, self.ridge, self._ridge_signs)
        self._solve(solver, stream.alphas, stream.centre, errors)
        alphas = np.array([self.alpha_]) if self._cross_validates else stream.alphas
        self._stream = _Stream([solver.total], stream.centre, alphas, solved=True)

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
        """Return the rows of a block as `partial_fit` counts them in: rows, targets and weights."""
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

    def _add(
        self,
        moments: list[Moments],
        X: Any,
        y: NDArray,
        centre: NDArray,
        folds: NDArray,
        n_folds: int,
        weights: NDArray | None,
    ) -> None:
        def targets(rows: slice) -> Array:
            found = self._targets(some_rows(y, rows))
            return found - beside(centre, found)

        add_to_folds(moments, self._used_blocks(X), targets, folds, n_folds, self.gram_dtype, weights)

    def _solve(
        self, solver: StreamingRidge, alphas: NDArray, centre: NDArray, errors: NDArray | None = None
    ) -> None:
        """Choose an alpha, by held-out errors (n_alphas, n_folds) if given, and solve for the coefficients."""
        best = 0
        if len(alphas) > 1:
            baseline = None
            if self.criterion == "marginal_likelihood":
                self.log_marginal_likelihoods_ = solver.log_marginal_likelihoods(alphas)
                losses = -self.log_marginal_likelihoods_
            else:
                self.cv_errors_ = solver.squared_errors(alphas) if errors is None else errors
                losses = self.cv_errors_.mean(axis=1)
                if self.criterion == "squared_error":
                    baseline = unless_rounding(solver.error_of_mean(), centre)
            if has_default_alphas(self):
                losses = np.where(solver.resolved(alphas), losses, np.inf)
            best = chosen(self, "alphas", alphas, losses, baseline)
        self.alpha_ = float(alphas[best])
        solution, offset, posterior = solver.solve(self.alpha_)
        solution, offset = to_numpy(solution), to_numpy(offset)
        coef = np.zeros((len(self.signature_), len(offset)), dtype=solution.dtype)
        coef[self._columns] = solution
        self._set_solution(coef, centre + offset, posterior)

    def _solve_stream(self, stream: _Stream) -> None:
        seen = [fold for fold in stream.moments if fold.n]
        if not seen:
            refuse_zeros(self, "all rows so far")
        self._solve(StreamingRidge(seen, self.ridge, self._ridge_signs), stream.alphas, stream.centre)
        stream.solved = True

    def _forget(self) -> None:
        for name in SOLVED:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        """Solve for the rows that partial_fit has counted in, when their solution is first asked for."""
        stream = self.__dict__.get("_stream")
        if name in SOLVED and stream is not None and not stream.solved:
            self._solve_stream(stream)
        if name in self.__dict__:  # by now, perhaps by another thread
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _ridge_signs(self) -> NDArray[np.float64] | None:
        return self.signature_ if self.signed == "krein" else None

    def _used_blocks(self, X: Any) -> Blocks:
        """Yield consecutive blocks of rows and the features that are used; the first finds their signs."""
        for rows, Z in self._feature_blocks(X):
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

    def _targets(self, y: Array) -> Array:
        """Return the regression targets of some rows, (n, n_targets)."""
        raise NotImplementedError

    def _set_solution(self, coef: NDArray, intercept: NDArray, posterior: WeightPosterior | None) -> None:
        """Keep coefficients (n_components, n_targets), intercepts (n_targets,) and what else is of use."""
        raise NotImplementedError


class KRR(MultiOutputMixin, RegressorMixin, _FeatureRidge):
    """Fit kernel ridge regression on random features, with the ridge chosen by cross-validation.

    beta = (Z^T Z + c I)^-1 Z^T (y - mean(y)) and f(x) = mean(y) + <z(x), beta> (liu2020, section 2.1). The rows
    are seen once: Gram matrices and moments are accumulated for each fold, and both the training systems of all
    folds and their held-out errors follow from these. Memory: (K + 2) D^2 numbers for K folds and D columns
    (3 D^2 for a single alpha) and one block of block_size * D, whatever n is; D^2 stay after `fit`. Work: n D^2,
    and a factorisation for each fold and alpha (one reduction to tridiagonal form for each fold, if there are more
    than 8 alphas).

    The same solution is the posterior mean of Bayesian linear regression, f(x) = intercept + <z(x), w> with
    w ~ N(0, (noise_variance / c) I): a Gaussian process with the kernel noise_variance / c * <z(x), z(y)>.
    `predict` and `sample_y` give its standard deviations and draws, which hold as far as this model does: choose
    the ridge for them by marginal likelihood, from a fine grid of alphas.

    Parameters
    ----------
    alphas : array-like of float or float, default=(1e-8, 3e-8, 1e-7, ..., 3, 10)
        Ridges to choose from, positive. A single one is used as it is. The default ones suit features z(x) of
        about unit norm, as all maps make them; those that a Gram matrix of single precision does not resolve are
        left out. If the best of other alphas is at an edge, a `GridEdgeWarning` says so. scikit-learn's
        ``Ridge(alpha)`` is ``alphas=alpha, ridge="lambda"``.
    ridge : {"n_lambda", "lambda"}, default="n_lambda"
        Unit of the alphas. ``"n_lambda"``: c = n * alpha, as printed in liu2020; n counts the rows trained on,
        also within cross-validation. ``"lambda"``: c = alpha, as in the code released with it.
    cv : int, splitter or iterable, default=5
        Folds; a number means shuffled folds, drawn from random_state. Every row must be held out once.
    criterion : {"squared_error", "marginal_likelihood"}, default="squared_error"
        What chooses among several alphas: the least squared error of cross-validation, or the largest marginal
        likelihood, which needs no folds (hence 3 D^2 numbers) and one factorisation an alpha.
    feature_map : transformer, optional
        Map from X to features; cloned and fitted on (X, y), then applied to blocks of rows. None: X holds the
        features already. X may be a numpy.memmap: only blocks of it are read. A map that does not begin with one
        of rflib's, such as a Pipeline of a ColumnTransformer and a map, gets DataFrames and missing values as they
        are.
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
    device : str or torch.device, optional
        Where to compute with rows that are in memory or in files: a device of torch, such as "cuda". Blocks of
        rows are copied there, and results come back as arrays of numpy. Needs torch, the extra ``array``, and the
        environment variable SCIPY_ARRAY_API=1, for which scikit-learn asks. None: where the rows are.
    random_state : int, RandomState or None, default=0
        Shuffles the folds.

    Attributes
    ----------
    alpha_ : float
        The alpha used.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
        Mean squared error of each alpha on each held-out fold; absent where nothing is cross-validated. alpha_ has
        the least mean over folds.
    log_marginal_likelihoods_ : ndarray of shape (n_alphas,)
        That of each alpha, where it is the criterion.
    log_marginal_likelihood_ : float
        Logarithm of the density of the targets less their mean, at alpha_ and noise_variance_, summed over
        targets; absent for ``signed="krein"``, as the noise variance is.
    noise_variance_ : float or ndarray of shape (n_targets,)
        Variance of the noise: the one of largest marginal likelihood, given c.
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

    _several_targets = True

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,) or (n_samples, n_targets).

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
            from rflib.learners.dask_ridge import fit_dask

            fit_dask(self, X, y, sample_weight, groups)
            return self
        rows, targets = self._checked(X, y, reset=True)
        self._row_shape = tuple(targets.shape[1:])
        self._fit_map(rows, targets)
        self._fit_rows(rows, targets, sample_weight, groups)
        return self

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to those seen before; the solution is that of `fit` on all rows, in whatever blocks and order.

        A call adds to a copy of the moments, so that one that fails changes nothing. The ridge is chosen and the
        system solved when a prediction or a fitted attribute is first asked for, which raises what `fit` would
        then. Between the calls the moments stay in memory: one Gram matrix (D^2 numbers) for a single alpha or
        ``criterion="marginal_likelihood"``, else one a fold. After `fit` its rows count too; an alpha that it
        chose by cross-validation stays.

        The feature_map is fitted on the first block, so it must need no more than the number of columns; a map
        that needs rows is given fitted, as ``sklearn.frozen.FrozenEstimator(map)``. With several alphas and
        ``criterion="squared_error"`` rows are dealt to ``cv`` folds by a hash of their numbers. As these are other
        folds than those of `fit`, alpha_ may be another where errors are close; for an equal alpha_ the
        coefficients are equal to rounding. For these folds rows on a device are copied to the host.

        Raises
        ------
        ValueError
            As in `fit`; also for a map that depends on the rows, and for several alphas with a cv that is no
            number.
        """
        self._check_parameters()
        first = self._begins()
        rows, targets = self._checked(X, y, reset=first)
        if first:
            self._fit_map(rows, targets)
            self._check_needs_only_columns(rows, targets)
            self._row_shape = tuple(targets.shape[1:])
        else:
            self._check_row_shape(targets)
        self._count_in(rows, targets, sample_weight)
        return self

    @all_or_nothing
    def fit_blocks(
        self,
        rows: Any,
        **options: Unpack[PassOptions],
    ) -> Self:
        """Fit to rows that need not fit into memory, in one pass; the solution is that of `fit` on all of them.

        A feature_map that depends on no more than the number of columns is fitted on the first block. Any other is
        fitted on a uniform sample of ``sample_size`` rows without replacement, which a pass before draws by
        ``random_state``: on all rows, if they are no more. Folds are those of `partial_fit`, which rows' numbers
        decide. Memory: what the class says, and two blocks. If the call fails, the learner is as it was before.

        Parameters
        ----------
        rows : ParquetRows, ArrayRows or iterable
            Blocks (X, y) or (X, y, sample_weight), dense, CSR or DataFrames, whose columns must have the names of
            those of the first one. Blocks that can be iterated once only, such as those of a generator, are enough
            unless the feature_map needs a sample.
        sample_size : int, default=10000
            Largest number of rows that a feature_map is fitted on.
        checkpoint : str or path, optional
            File for the moments and the number of rows counted in; it is written at times and removed at the end.
            When the call is made again, in any process, it goes on from there and ends with the same result. It
            needs integers as ``random_state``, also of the feature_map.
        checkpoint_seconds : float, default=60
            Time between two writes of it; 0 writes after each block.
        verbose : bool, default=False
            Print rows, rows a second and the time left every ten seconds, and at the end of a pass.

        Raises
        ------
        TypeError
            If rows cannot be iterated.
        ValueError
            As in `fit`, with the place of the row or rows; also if there are no rows, they can be iterated once
            only but need two passes, a file is damaged, cv is no number where there are several alphas, or the
            checkpoint belongs to another call.
        """
        self._check_parameters()
        self._check_number_of_folds("fit_blocks")
        passes = Passes(self, rows, **options)
        X, y = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        self._row_shape = tuple(y.shape[1:])
        self._survey(passes, X, y)
        self._fit_passes(passes, X, y)
        return self

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
        X, y = self._checked(block.X, block.y, reset=False)
        self._check_row_shape(y)
        return X, y, check_weights(self, block.weight, y.shape[0], only_zeros=True)

    def _check_row_shape(self, y: NDArray) -> None:
        if tuple(y.shape[1:]) != self._row_shape:
            raise ValueError(
                f"{type(self).__name__}: y must have as many columns as in the first block, got shape {y.shape}."
            )

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[False] = ..., return_cov: Literal[False] = ...
    ) -> NDArray: ...

    @overload
    def predict(
        self, X: ArrayLike, return_std: bool = ..., return_cov: bool = ...
    ) -> NDArray | tuple[NDArray, NDArray]: ...

    @takes_dask_rows
    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> NDArray | tuple[NDArray, NDArray]:
        """Return the predicted targets of the rows X, in the shape that y had in `fit`.

        Those of a Dask array or dataframe are a Dask array, which is computed when it is needed. Those of rows on
        a device are an array on this device.

        With ``return_std`` these are of new targets given the ridge, of the same shape: the variance of the noise
        and that of f together (their square less noise_variance_ is the variance of f). That of the intercept is
        left out. What is known to be missing of the kernel is added: where a map represents it near its training
        rows only, such as MercerFeatures, Nystroem, OptimizedMaclaurin or MVORF, the variance of f has the part
        noise_variance / c * (k(x, x) - <z(x), z(x)>), so that far from all rows it is that of the prior (the
        projected process of Quinonero-Candela and Rasmussen, *A unifying view of sparse approximate Gaussian
        process regression*, JMLR 2005). Work: n D^2, and D^3 / 3 at the first time. With ``return_cov`` they are
        the covariances of the rows' targets instead, (n, n) or (n, n, n_targets), whose diagonal is the square of
        these; what is missing counts as independent from row to row.
        """
        if return_std and return_cov:
            raise ValueError(f"{type(self).__name__}: give return_std or return_cov, not both.")
        if not (return_std or return_cov):
            return self._shaped(self._values(X))
        means, deviations, spreads, lacks = [], [], [], []
        for Z, lack in self._known_parts(X):
            posterior = self._known_posterior().beside(Z)
            means.append(self._affine(Z))
            if return_cov:
                spreads.append(posterior.spread(Z))
                lacks.append(lack)
                continue
            variances = posterior.variances(Z, lack)
            variances = variances + beside(posterior.noise_variance, variances)
            deviations.append(
                in_type_of(variances, Z) ** 0.5 if namespace(Z) is not np else np.sqrt(variances)
            )
        if return_cov:
            spread = widest(namespace(spreads[0]).concat(spreads, axis=1))
            own = 1 + in_type_of(namespace(lacks[0]).concat(lacks, axis=0), spread) / posterior.ridge
            covariance = spread.T @ spread + beside(np.eye(spread.shape[1]), spread) * own
            values = covariance[:, :, None] * beside(posterior.noise_variance, covariance)
            values = values if is_foreign(X) else to_numpy(values)
            return self._shaped(self._joined(means, X)), values[:, :, 0] if self.coef_.ndim == 1 else values
        return self._shaped(self._joined(means, X)), self._shaped(self._joined(deviations, X))

    def sample_y(
        self, X: ArrayLike, n_samples: int = 1, random_state: Any = 0, *, noise: bool = True
    ) -> NDArray[np.float64]:
        """Return draws of the targets at the rows X from their posterior distribution.

        The shape is (n_rows, n_samples), or (n_rows, n_targets, n_samples) if y had several columns in `fit`.


        A draw is one of the weights from their posterior, which makes a function: its values are joint over the
        rows, and the draw costs D^2 however many there are. With ``noise`` each value gets noise of its own, and
        always a part of its own where features lack some of k(x, x), as in `predict`.
        """
        check_is_fitted(self)
        posterior, rng = self._known_posterior(), check_random_state(random_state)
        weights = posterior.draw(n_samples, rng)
        parts = [(_functions(Z, weights), to_numpy(lack)) for Z, lack in self._known_parts(X)]
        values = self._joined([part for part, _ in parts], X)
        values += beside(np.reshape(self.intercept_, (-1, 1)), values)
        shares = noise + np.concatenate([lack for _, lack in parts]) / posterior.ridge
        if shares.any():
            deviations = np.sqrt(np.outer(shares, posterior.noise_variance))[:, :, None]
            values += beside(deviations * rng.standard_normal(values.shape), values)
        return self._shaped(values)

    def _known_parts(self, X: ArrayLike) -> Iterator[tuple[Array, Array]]:
        """Yield the features that are used of blocks of rows, and what they are known to lack of k(x, x)."""
        check_is_fitted(self)
        rows = self._rows(X)
        for part, Z in self._feature_blocks(rows):
            yield self._used(Z), self._lack(self._floats(rows, part), Z)

    def _known_posterior(self) -> WeightPosterior:
        """Return the posterior, for which the system is factorised again when it is first asked for."""
        if self.signed == "krein":
            raise ValueError(
                f"{type(self).__name__}: the indefinite kernel of signed='krein' is no covariance, so there "
                "are no standard deviations or draws. Use signed='associated' or 'positive'."
            )
        if "_posterior" not in self.__dict__:
            solver = StreamingRidge(cast(_Stream, self._stream).moments, self.ridge)
            self._posterior = cast(WeightPosterior, solver.solve(self.alpha_)[2])
        return self._posterior

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        rows, y = super()._checked(X, y, reset=reset)
        if not is_foreign(rows):
            return rows, np.asarray(to_numpy(y), dtype=np.float64)
        wide = widest(rows[:1, :])
        return rows, in_type_of(follow(y, wide), wide)

    def _shaped(self, values: Array) -> Array:
        return values[:, 0, ...] if self.coef_.ndim == 1 else values

    def _targets(self, y: Array) -> Array:
        return y.reshape(len(y), -1) if namespace(y) is np else namespace(y).reshape(y, (y.shape[0], -1))

    def _set_solution(self, coef: NDArray, intercept: NDArray, posterior: WeightPosterior | None) -> None:
        one = not self._row_shape
        self.coef_, self.intercept_ = (coef[:, 0], float(intercept[0])) if one else (coef.T, intercept)
        if posterior is not None:
            noise = posterior.noise_variance
            self.noise_variance_ = float(noise[0]) if one else noise
            self.log_marginal_likelihood_ = posterior.log_marginal_likelihood


def _functions(Z: Array, weights: NDArray) -> Array:
    """Return the values (n, t, s) of functions with drawn weights (s, D, t) at features Z (n, D)."""
    if namespace(Z) is np:
        return np.einsum("nd,sdt->nts", Z, weights, optimize=True)
    _, D, t = weights.shape
    flat = np.transpose(weights, (1, 2, 0)).reshape(D, -1)
    return namespace(Z).reshape(Z @ beside(flat, Z), (Z.shape[0], t, -1))


def _sees_rows_once(learner: Any) -> bool:
    if learner.criterion == "error_rate":
        raise AttributeError(
            f"{type(learner).__name__}: criterion='error_rate' needs two passes over the rows, but partial_fit "
            "sees them once. Use 'squared_error' or 'marginal_likelihood'."
        )
    return True


class KRRClassifier(OneVsRestClassifier, _FeatureRidge):
    """Classify by kernel ridge regression of +1 and -1 on random features.

    Several classes are fitted one against the rest, as in liu2020.

    Parameters
    ----------
    alphas, ridge, feature_map, signature, signed, block_size, gram_dtype, device, random_state
        As for `KRR`.
    cv : int, splitter or iterable, default=5
        Folds; a number means shuffled, stratified folds.
    criterion : {"squared_error", "error_rate", "marginal_likelihood"}, default="squared_error"
        What chooses among several alphas. The error rate of cross-validation cannot be had from moments: it
        costs a second pass, which makes the features again.
    class_weight : dict or "balanced", optional
        Factors of the weights of the rows, by their labels; 1 for labels that a dict does not have. "balanced" is
        n / (n_classes * rows of the class), as in scikit-learn, so that all classes count the same; rows count by
        their sample_weight. Blocks, streams and Dask rows take a dict.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Means of the +1 / -1 targets.
    alpha_, cv_errors_, log_marginal_likelihoods_, signature_, feature_map_, n_features_in_
        As for `KRR`; the errors are those of the criterion.

    Notes
    -----
    For probabilities, calibrate: ``CalibratedClassifierCV(KRRClassifier(...))``.
    """

    _criteria = ("squared_error", "error_rate", "marginal_likelihood")

    def __init__(
        self,
        *,
        alphas: ArrayLike = ALPHAS,
        ridge: str = "n_lambda",
        cv: Any = 5,
        criterion: str = "squared_error",
        class_weight: ClassWeight = None,
        feature_map: Any = None,
        signature: ArrayLike | None = None,
        signed: str = "associated",
        block_size: int = 4096,
        gram_dtype: str | None = None,
        device: Any = None,
        random_state: Any = 0,
    ):
        super().__init__(
            alphas=alphas,
            ridge=ridge,
            cv=cv,
            criterion=criterion,
            feature_map=feature_map,
            signature=signature,
            signed=signed,
            block_size=block_size,
            gram_dtype=gram_dtype,
            device=device,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self)

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,).

        Weights, groups and exceptions are those of `KRR.fit`, and so is what happens to rows on a device, except
        that labels and weights are copied to the host, where classes and folds are found.
        """
        self._check_parameters()
        if is_dask(X):
            from rflib.learners.dask_ridge import fit_dask

            check_class_weight(self, "fit on Dask rows")
            fit_dask(self, X, y, sample_weight, groups)
            return self
        rows, labels = self._checked(X, y, reset=True)
        weights = class_weights(self, labels, sample_weight)
        self.classes_, codes = encode_labels(self, labels, weights)
        self._fit_map(rows, labels)
        self._fit_rows(rows, codes, weights, groups)
        return self

    @available_if(_sees_rows_once)
    @all_or_nothing
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows to those seen before, as `KRR.partial_fit` does.

        The first call needs ``classes``, which are all labels that will occur.
        """
        self._check_parameters()
        check_class_weight(self, "partial_fit")
        first = self._begins()
        rows, labels = self._checked(X, y, reset=first)
        weights = class_weights(self, labels, sample_weight, only_zeros=True)
        codes = stream_codes(self, labels, classes, first=first, weights=weights)
        if first:
            self._fit_map(rows, labels)
            self._check_needs_only_columns(rows, labels)
        self._count_in(rows, codes, weights)
        return self

    @all_or_nothing
    def fit_blocks(
        self,
        rows: Any,
        classes: ArrayLike | None = None,
        **options: Unpack[PassOptions],
    ) -> Self:
        """Fit to rows that need not fit into memory, as `KRR.fit_blocks`.

        ``classes`` are all labels; None: a pass before finds them. ``criterion="error_rate"`` takes another pass
        at the end. Blocks that can be iterated once only allow neither.
        """
        self._check_parameters()
        check_class_weight(self, "fit_blocks")
        self._check_number_of_folds("fit_blocks")
        passes = Passes(self, rows, **options)
        if self._cross_validates and self.criterion == "error_rate":
            passes.needs_another("criterion='error_rate'", "use 'squared_error' or 'marginal_likelihood'")
        X, labels = passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        found = self._survey(passes, X, labels, labels=classes is None)
        self.classes_, _ = encode_labels(self, classes if found is None else found, name="classes")
        self._fit_passes(passes, X, passes.first(self._checked_block)[1])
        return self

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
        X, labels = self._checked(block.X, block.y, reset=False)
        weights = class_weights(self, labels, block.weight, only_zeros=True)
        return X, stream_codes(self, labels, None, first=False, weights=weights), weights

    @property
    def _labels(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist(), "class_weight": self.class_weight}

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        return codes_to_targets(y, len(self.classes_))

    def _set_solution(self, coef: NDArray, intercept: NDArray, posterior: WeightPosterior | None) -> None:
        self.coef_, self.intercept_ = coef.T, intercept
