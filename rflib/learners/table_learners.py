"""KernelRegressor and KernelClassifier: kernel learners of tables that need no tuning."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.keywords import Keywords
from rflib.learners.checked_rows import CheckedRows
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.exact_head import ExactHead
from rflib.learners.folds import known_groups
from rflib.learners.held_out_ridge import ridge_of_halves
from rflib.learners.krr import KRR
from rflib.learners.krr_classifier import KRRClassifier
from rflib.learners.logistic_head import LogisticHead
from rflib.learners.one_vs_rest import codes_to_targets, encode_labels
from rflib.learners.parameter_checks import check_seed
from rflib.learners.row_sources import RowSource, as_row_source
from rflib.learners.table_blocks import DaskBlocks, FeatureBlocks, predicted_blocks
from rflib.learners.table_choice import importances, tell_last_width
from rflib.learners.table_encoding import Table, frame
from rflib.learners.table_ridge import TableRidge
from rflib.learners.table_search import Choice, Search, exact_head, fitted_features, kernel_part, rows_in
from rflib.learners.values import check_weights, refuse_extremes
from rflib.maps.dask_rows import is_dask
from rflib.maps.row_sample import RowSample
from rflib.measures.range_warning import RangeWarning
from rflib.sklearn_bases import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from rflib.validation import check_flag, check_number

# Rows that choices are fitted to, and rows that are held out, at most; below so many rows there are three folds,
# and below so few nothing is tried.
_TRIAL_ROWS, _HELD_ROWS, _FOLDS_BELOW, _FEWEST_ROWS = 3000, 1500, 1500, 20
# The ridge of logistic regression beside that of ridge regression, whose loss has more curvature.
_CURVATURE = 0.5
# The ridge for all rows and columns is this share of the one for few.
_LESS = np.array([1.0, 0.3, 0.1, 0.03, 0.01])
# Parameters of other learners that are chosen here.
_CHOSEN = (
    *("C", "alpha", "alphas", "gamma", "kernel", "sigma", "length_scale", "degree"),
    *("feature_map", "metric", "n_components", "max_iter", "tol", "cv"),
)


class _TableLearner(CheckedRows, Keywords, BaseEstimator):
    """What the two learners have in common."""

    _task: ClassVar[str]
    classes_: NDArray
    _table: Table

    def __init__(self, *, seconds: float | None = None, verbose: bool = False, random_state: Any = 0):
        self.seconds = seconds
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        if name in ("sample_weight", "groups"):
            return f"It belongs to fit(X, y, {name}=...)."
        return "It is chosen by held-out rows: KRR and LinearSVM let you choose." if name in _CHOSEN else None

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows X and y, which is (n_samples,), or for regression also (n_samples, n_targets).

        ``X`` is an array, a sparse matrix, or a DataFrame of pandas, with missing values; or `ParquetRows`, which
        hold y themselves, or a Dask array or dataframe, whose rows need not fit into memory. ``sample_weight``
        (n_samples,) counts rows in the errors and the last fit. Rows of the same group of ``groups``
        (n_samples,) are held out together.

        Raises
        ------
        ValueError
            If X holds dates or infinite numbers, the squares of a column are no numbers, y, a weight or a group is
            missing or not finite, there is one row, or, for labels, one class.
        """
        check_number(self, "seconds", above=0, or_none=True)
        check_flag(self, "verbose")
        check_seed(self)
        self._check_classes()
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if is_dask(X) or isinstance(X, RowSource):
            self._fit_blocks(X, y, sample_weight, groups)
            return self
        rows, values = self._checked(X, y, reset=True)
        weights = check_weights(self, sample_weight, len(values))
        self._fit_rows(rows, values, weights, known_groups(self, groups, len(values)))
        return self

    def _predicted(self, method: str, X: Any, **options: Any) -> Any:
        """Return what a method of the pipeline makes of rows; of Dask rows lazily."""
        check_is_fitted(self, "pipeline_")
        if is_dask(X):
            return predicted_blocks(partial(self._predicted, method, **options), X)
        rows = self._rows(X)
        if hasattr(rows, "iloc"):
            self._table.check(self, rows)
        with warnings.catch_warnings():
            # beyond the training rows the predictions go to the mean
            warnings.simplefilter("ignore", RangeWarning)
            return getattr(self.pipeline_, method)(rows, **options)

    def _fit_rows(self, X: Any, y: NDArray, weights: NDArray | None, groups: NDArray | None) -> None:
        if weights is not None and not weights.all():
            used = np.flatnonzero(weights)
            X, y, weights = rows_in(X, used), y[used], weights[used]
            groups = None if groups is None else groups[used]
        n = len(y)
        if n < 2:
            raise ValueError(f"{type(self).__name__}: at least two rows are needed, got n_samples={n}.")
        table = self._table = Table.of(self, X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of trials, and of the rows that the map is fitted to
            n_exact = n if self._task == "classification" else 0
            choice, ridge, n_columns = self._searched(table, X, y, weights, groups, n, n_exact)
            own = self._row_weights(y, weights)
            own = np.ones(n) if own is None else own
            features, Z = fitted_features(choice, table, X, y, own, n_columns, self._task_of(y), self._seed)
            head = self._fitted_head(choice, Z, y, ridge, weights, groups)
        self._finish(choice, features, head)

    def _finish(self, choice: Choice, features: Pipeline, head: Any) -> None:
        """Keep the fitted steps, and say what they are."""
        n_kernel = 0 if choice.map == "exact" else kernel_part(features["map"])["columns"].n_components_
        if isinstance(head, TableRidge):
            head.n_kernel_columns_ = n_kernel
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        self.choice_ = asdict(choice) | {"n_columns": n_kernel}
        self.importances_ = importances(self._table, features, names)
        self.pipeline_ = Pipeline([*features.steps, ("head", head)])
        tell_last_width(self, choice, self.search_)

    def _searched(
        self,
        table: Table,
        X: Any,
        y: NDArray,
        weights: NDArray | None,
        groups: NDArray | None,
        n: int,
        n_exact: int,
    ) -> tuple[Choice, float, int]:
        """Return the choice, its ridge, and the number of columns for n rows."""
        targets = self._targets(y, weights)
        own = self._row_weights(y, weights)
        splits = list(self._splits(y, groups)) if len(y) >= _FEWEST_ROWS else []
        search = Search(
            table,
            X,
            y,
            targets,
            np.ones(len(y)) if own is None else own,
            splits,
            self._task_of(y),
            self._seed,
            self.seconds,
            bool(self.verbose),
            n_exact,
        )
        choice = search.best() if splits else Choice()
        if choice.map == "exact":  # of more rows, the same ridge beside the kernel matrix
            search.ridge *= len(splits[0][0]) / n
        self.search_ = search.records
        return choice, search.ridge, search.n_columns(n)

    def _splits(self, y: NDArray, groups: NDArray | None) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield the places of rows to fit and of rows that are held out."""
        n = len(y)
        some = np.arange(n)
        strata = self._strata(y)
        if n < _FOLDS_BELOW:
            if groups is None:
                yield from StratifiedKFold(3, shuffle=True, random_state=self._seed).split(some, strata)
            elif len(np.unique(groups)) > 1:
                yield from GroupKFold(min(3, len(np.unique(groups)))).split(some, groups=groups)
            return
        held, train = min(_HELD_ROWS, n // 3), min(_TRIAL_ROWS, 2 * n // 3)
        if groups is None:
            split = StratifiedShuffleSplit(1, test_size=held, train_size=train, random_state=self._seed)
            yield next(split.split(some, strata))
        elif len(np.unique(groups)) > 1:
            parts = next(
                GroupShuffleSplit(1, test_size=1 / 3, random_state=self._seed).split(some, groups=groups)
            )
            rng = np.random.default_rng(self._seed)
            yield tuple(np.sort(rng.permutation(p)[:m]) for p, m in zip(parts, (train, held), strict=True))  # type: ignore[misc]

    def _fit_blocks(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Make the choices on a sample, and fit ridge regression to all rows."""
        if groups is not None:
            raise ValueError(f"{type(self).__name__}: groups are taken with rows in memory only.")
        if is_dask(X):
            blocks: Any = DaskBlocks(self, X, y, sample_weight)
        elif y is None and sample_weight is None:
            blocks = as_row_source(self, X)
        else:
            raise ValueError(f"{type(self).__name__}: {type(X).__name__} hold y and the weights themselves.")
        sample, n = RowSample(_TRIAL_ROWS + _HELD_ROWS, self._seed), 0
        for rows, targets, *_ in blocks:
            checked, targets = self._checked(rows, targets, reset=not n)
            sample.add(checked, targets)
            n += len(targets)
        if n < 2:
            raise ValueError(f"{type(self).__name__}: at least two rows are needed, got n_samples={n}.")
        rows, targets = sample.rows()
        table = self._table = Table.of(self, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice, _, n_columns = self._searched(table, rows, targets, None, None, n, 0)
            ones, task = np.ones(len(targets)), self._task_of(targets)
            features, _ = fitted_features(choice, table, rows, targets, ones, n_columns, task, self._seed)
            made = FeatureBlocks(lambda X: features.transform(self._rows(X)), blocks)
            head = self._head_of_blocks(made, features.transform(rows), targets)
        self._finish(choice, features, head)

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if hasattr(X, "iloc"):
            X = frame(self, X)
            self._validated(X, reset=reset, skip_check_array=True)
            return X
        if isinstance(X, Mapping) and not issparse(X):
            raise TypeError(f"{type(self).__name__}: X is a {type(X).__name__}. Give pandas.DataFrame(X).")
        finite: Any = True if issparse(X) else "allow-nan"
        return self._validated(X, reset=reset, accept_sparse="csr", ensure_all_finite=finite)

    def _ridge_regression(
        self, Z: NDArray, y: NDArray, ridge: float, weights: NDArray | None, groups: NDArray | None
    ) -> KRR:
        """Return ridge regression of all rows, with a ridge of at most that of few rows and columns."""
        if groups is not None and (n_groups := len(np.unique(groups))) > 1:
            return TableRidge(cv=GroupKFold(min(5, n_groups)), gram_dtype="float64").fit(
                Z, y, weights, groups
            )
        if len(y) < _FOLDS_BELOW:
            return TableRidge(gram_dtype="float64").fit(Z, y, weights)
        return TableRidge(alphas=(ridge * _LESS).tolist(), cv=2, gram_dtype="float64").fit(Z, y, weights)

    # what differs

    def _check_classes(self) -> None:
        pass

    def _task_of(self, y: NDArray) -> str:
        return "several" if y.ndim == 2 else self._task

    def _targets(self, y: NDArray, weights: NDArray | None) -> NDArray[np.float64]:
        return y.reshape(len(y), -1)

    def _row_weights(self, y: NDArray, weights: NDArray | None) -> NDArray | None:
        return weights

    def _strata(self, y: NDArray) -> NDArray:
        return np.zeros(len(y), dtype=int)

    def _fitted_head(self, choice: Choice, Z: NDArray, y: NDArray, ridge: float, *about: Any) -> Any:
        """Return the last step, fitted to features and what is known about the rows: weights and groups."""
        raise NotImplementedError

    def _head_of_blocks(self, blocks: Iterable[Any], Z: NDArray, y: NDArray) -> Any:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class KernelRegressor(MultiOutputMixin, RegressorMixin, _TableLearner):
    """Regress on a table, without a parameter to tune, by kernel ridge regression.

    Columns of numbers, booleans, categories and texts are taken as they are, with missing values. Scikit-learn's
    own parts encode them: numbers are standardised, replaced by normal quantiles, or both; texts and categories
    are one-hot, with rare levels joined, or replaced by the mean target of each of many levels. A metric of the
    encoded rows may be learned (`LearnedMetric`), and steps at thresholds of single columns added. The kernel is a
    Matern kernel (nu = 3/2), approximated by Nystroem's method; of many columns, also a Gaussian kernel by
    `MercerFeatures`. All these, and the width of the kernel, are chosen by the squared error of ridge regression
    on at most 1,500 rows that are held out, after a fit to at most 3,000 others; of fewer than 1,500 rows, by
    three folds, and of fewer than 20 rows, not at all.
    The ridge is that with the least squared error of rows left out one by one, of 1,500 rows and more in two
    folds, or of five folds of ``groups``.

    Parameters
    ----------
    seconds : float, optional
        About how long `fit` may take. Of the half of it, choices are made; the number of columns of the map is
        what can be afforded in the rest. None: all choices are made, and the number follows from the numbers of
        rows and classes alone, so that the result does not depend on the machine. With a time it does.
    verbose : bool, default=False
        Print each trial.
    random_state : int, RandomState or None, default=0
        Seed of all draws. The same seed gives the same result.

    Attributes
    ----------
    pipeline_ : Pipeline
        The fitted steps of scikit-learn's Pipeline: "encode", "map" and "head". The map is a FeatureUnion of
        "kernel", which is a Pipeline of "metric" and "columns", "linear", and perhaps "steps".
    choice_ : dict
        What was chosen, with the keys of `search_` and the number of the kernel's columns ("n_columns").
    importances_ : dict
        Share of each column of X, by its name or place, in what the learned metric lets the function vary with;
        they sum to 1, the largest first. Empty without a metric, and for sparse rows.
    search_ : list of dict
        What was tried, in order; ``pandas.DataFrame(search_)`` is a table of it. "numbers": how numbers are
        encoded, "standard", "quantile", "both", or "raw". "metric": "none", "full", "diagonal", or "auto", the
        better one of these. "map": "Nystroem", "MercerFeatures", or "exact", the kernel itself. "width": that of
        the kernel, in units of the median distance of the rows by the metric. "steps": whether there are steps at
        thresholds. "error": the squared error of ridge regression in the held-out rows, as a share of the targets'
        variance. "seconds": wall-clock time.
    n_features_in_ : int
        Number of columns d.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names that are texts.

    See Also
    --------
    KernelClassifier : The same for labels.
    KRR : The last step, with all of its parameters.
    sklearn.ensemble.HistGradientBoostingRegressor : Boosted trees, which take the same tables.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.learners import KernelRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = KernelRegressor(random_state=0).fit(X[:350], y[:350])
    >>> mean, deviation = model.predict(X[350:], return_std=True)
    >>> model.score(X[350:], y[350:]) > 0.5
    True
    """

    _task = "regression"
    _several_targets = True

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predicted targets of the rows X; with ``return_std`` also the deviations of new targets.

        These are those of `KRR`, given all that was chosen. Noise is one number for all rows. The part of the
        kernel that its columns lack counts, so that deviations grow towards those of the prior where there are no
        training rows; numbers are bounded where they are encoded, so that no row is far out. On six tables,
        intervals of 95 % held 94.7 to 96.7 % of held-out rows like those of `fit`, and 81 to 98 % of rows that
        were beyond them in a column.
        """
        return self._predicted("predict", X, **{"return_std": True} if return_std else {})

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray]:
        rows, targets = super()._checked(X, y, reset=reset)
        refuse_extremes(self, targets := np.asarray(targets, dtype=np.float64), "y")
        return rows, targets

    def _fitted_head(self, choice: Choice, Z: NDArray, y: NDArray, ridge: float, *about: Any) -> KRR:
        return self._ridge_regression(Z, y, ridge, *about)

    def _head_of_blocks(self, blocks: Iterable[Any], Z: NDArray, y: NDArray) -> KRR:
        return TableRidge().fit_blocks(blocks)


class KernelClassifier(ClassifierMixin, _TableLearner):
    """Classify the rows of a table, without a parameter to tune, with a kernel.

    Tables are encoded, and the encoding, a metric, steps, the map and its width chosen, as `KernelRegressor` does,
    by the squared error of ridge regression on targets +1 and -1. The last step is logistic regression on the
    features. Its ridge is half of the best one of ridge regression in two folds of all rows, and its probabilities
    are calibrated as they are.

    Of at most 16,384 rows, the Matern kernel itself is tried too, without a map: ridge classification with the
    exact kernel (``rflib.learners.exact_head``), with the metric and without, of several widths and
    ridges. It is used where its log loss is less in the held-out rows, and where its n^3 / 6 multiplications are
    more than those of the features, less by 15 %. It has n^2 numbers of 4 bytes in memory during `fit`.

    Blocks of rows that need not fit into memory get ridge regression (`KRRClassifier`) with a sigmoid on top.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        As for `KRRClassifier`. Weights make probabilities those of rows that come as often as they weigh.
    seconds, verbose, random_state
        As for `KernelRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    pipeline_ : Pipeline
        As of `KernelRegressor`; with an exact kernel the step "map" is the metric alone, or "passthrough".
    choice_, importances_
        As of `KernelRegressor`; an exact kernel has 0 columns.
    search_ : list of dict
        As of `KernelRegressor`, with targets +1 and -1 for each class; for exact kernels (map "exact") the error
        is the log loss, and there is the "ridge".
    n_features_in_, feature_names_in_
        As of `KernelRegressor`.

    See Also
    --------
    KernelRegressor : The same for numbers.
    sklearn.ensemble.HistGradientBoostingClassifier : Boosted trees, which take the same tables.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rflib.learners import KernelClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = KernelClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> model.predict_proba(X[1::2]).shape
    (89, 3)
    """

    _task = "classification"

    def __init__(
        self,
        *,
        class_weight: ClassWeight = None,
        seconds: float | None = None,
        verbose: bool = False,
        random_state: Any = 0,
    ):
        super().__init__(seconds=seconds, verbose=verbose, random_state=random_state)
        self.class_weight = class_weight

    def predict(self, X: Any) -> Any:
        """Return the most probable labels of the rows X, (n_samples,)."""
        return self._predicted("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, (n_samples, n_classes), in the order of ``classes_``."""
        return self._predicted("predict_proba", X)

    def _check_classes(self) -> None:
        check_class_weight(self)

    def _row_weights(self, y: NDArray, weights: NDArray | None) -> NDArray | None:
        found: NDArray | None = class_weights(self, y, weights)
        return found

    def _targets(self, y: NDArray, weights: NDArray | None) -> NDArray[np.float64]:
        self.classes_, codes = encode_labels(self, y, weights)
        return codes_to_targets(codes, len(self.classes_))

    def _strata(self, y: NDArray) -> NDArray:
        codes = np.searchsorted(self.classes_, y)
        counts = np.bincount(codes)
        return np.where(counts[codes] < 3, counts.argmax(), codes)

    def _fitted_head(
        self, choice: Choice, Z: NDArray, y: NDArray, ridge: float, weights: Any, groups: Any
    ) -> LogisticHead | ExactHead:
        if choice.map == "exact":
            head = exact_head(choice, Z, ridge, class_weight=self.class_weight, seed=self._seed)
            return head.fit(Z, y, weights)
        targets, own = self._targets(y, weights), self._row_weights(y, weights)
        if groups is None and len(y) >= _FOLDS_BELOW:
            best, moments = ridge_of_halves(Z, targets, own, ridge * _LESS)
        else:
            best, moments = self._ridge_regression(Z, targets, ridge, own, groups).alpha_, None
        return LogisticHead(_CURVATURE * best, class_weight=self.class_weight).fit(
            Z, y, weights, moments=moments
        )

    def _head_of_blocks(self, blocks: Iterable[Any], Z: NDArray, y: NDArray) -> CalibratedClassifierCV:
        head = KRRClassifier(class_weight=self.class_weight).fit_blocks(blocks)
        self.classes_ = head.classes_
        return CalibratedClassifierCV(FrozenEstimator(head), method="sigmoid").fit(Z, y)
