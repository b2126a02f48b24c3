"""Doubly stochastic gradients: each step draws rows and a block of features that its seed makes again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.keywords import Keywords
from rflib.learners.checked_rows import CheckedRows
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.one_vs_rest import (
    OneVsRestClassifier,
    codes_to_targets,
    encode_labels,
    stream_codes,
    values_to_codes,
)
from rflib.learners.parameter_checks import check_seed
from rflib.learners.passes import PROBED_ROWS, Passes, PassOptions
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import FLOATS, Signed, check_feature_map, check_signed, find_signs
from rflib.learners.stochastic_steps import (
    LOSS_DERIVATIVES,
    StochasticSteps,
    drawn_places,
    ends,
    prepared_block,
)
from rflib.learners.values import as_labels, as_numbers, check_weights, joined_labels, refuse_zeros
from rflib.maps.rff import RFF
from rflib.maps.row_blocks import row_blocks
from rflib.sklearn_bases import BaseEstimator, RegressorMixin
from rflib.validation import check_choice, check_integer, check_number, refuse


@dataclass(eq=False, repr=False)
class _Parameters:
    feature_map: Any = None
    _: KW_ONLY
    n_blocks: int = 50
    batch_size: int = 256
    alpha: float = 1e-3
    step_size: float = 1.0
    signed: Signed = "associated"
    random_state: Any = 0


@dataclass(eq=False, repr=False)
class _ClassifierParameters(_Parameters):
    _: KW_ONLY
    loss: Literal["log_loss", "hinge", "squared_error"] = "log_loss"
    class_weight: ClassWeight = None


class _DoublyStochastic(_Parameters, CheckedRows, Keywords, BaseEstimator):
    """The algorithm, for one or several columns of targets."""

    _row_types: ClassVar[Any] = FLOATS

    loss: Any = "squared_error"

    def _check_parameters(self) -> None:
        check_feature_map(self)
        if self.feature_map is not None and "random_state" not in self.feature_map.get_params():
            refuse(self, "feature_map", "a transformer with a parameter random_state or None")
        check_integer(self, "n_blocks", at_least=1)
        check_integer(self, "batch_size", at_least=1)
        check_number(self, "alpha", above=0)
        check_number(self, "step_size", above=0)
        check_signed(self)
        check_seed(self)

    def _descend(
        self,
        X: NDArray,
        y: NDArray,
        targets: Callable[[NDArray], NDArray],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Run the steps; ``targets(rows)`` are the (n, n_targets) targets of rows, y is what the map gets."""
        self._begin()
        counted = _counted(weights)
        self._prepare_block(X[counted], y[counted])
        steps, places = self._steps(), ends(0, len(X), weights)
        for step, drawn in enumerate(drawn_places(self.seed_, self.n_blocks, self.batch_size, places[-1])):
            rows = np.searchsorted(places, drawn, side="right")
            steps.step(step, self.n_blocks, X[rows], targets(rows))
        self._keep(steps)

    def _descend_in_passes(
        self,
        passes: Passes,
        checked: Callable[[Block], tuple[NDArray, NDArray, NDArray, NDArray | None]],
        n_rows: int,
        end: Any,
    ) -> None:
        """Gather the rows that `_descend` would draw in one pass, and run the steps with these alone.

        ``checked`` gives rows, what the map gets, (n, n_targets) targets, and weights; ``end`` is that of
        `drawn_places`.
        """
        self._begin()
        places = drawn_places(self.seed_, self.n_blocks, self.batch_size, end).ravel()
        gathered: list[NDArray] = []
        heads: list[tuple[NDArray, NDArray]] = []
        start: Any = 0
        for X, y, targets, weights in passes.over("rows of the steps", checked):
            gathered = gathered or [
                np.empty((len(places), part.shape[1]), dtype=part.dtype) for part in (X, targets)
            ]
            if sum(len(head) for head, _ in heads) < self.batch_size:
                counted = _counted(weights)
                heads.append((X[counted][: self.batch_size], y[counted][: self.batch_size]))
            here_ends = ends(start, len(X), weights)
            here = (places >= start) & (places < here_ends[-1])
            drawn = np.searchsorted(here_ends, places[here], side="right")
            gathered[0][here], gathered[1][here] = X[drawn], targets[drawn]
            start = here_ends[-1]
        self._prepare_block(*(np.concatenate(parts) for parts in zip(*heads, strict=True)))
        about = {name: value for name, value in self.get_params(deep=False).items() if name != "feature_map"}
        steps = self._steps()
        if (state := passes.resume(about, steps.features(self.fit_rows_[:PROBED_ROWS], 0))) is not None:
            steps.coefs, steps.rows_drawn = state["coefs"], state["rows_drawn"]
        for step, rows in enumerate(row_blocks(len(places), self.batch_size)):
            if step >= passes.done:
                steps.step(step, self.n_blocks, gathered[0][rows], gathered[1][rows])
                passes.save(step + 1, n_rows, lambda: {"coefs": steps.coefs, "rows_drawn": steps.rows_drawn})
        self._keep(steps)
        passes.finish()

    def _surveyed(self, passes: Passes) -> _Survey:
        """Check the first block, and return what a pass over the targets counts."""
        passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        survey = _Survey()
        for _ in passes.over("first pass", lambda block: survey.count(self, block), features=False):
            pass
        if not survey.end:
            refuse_zeros(self)
        return survey

    def _passes(self, rows: Any, options: PassOptions) -> Passes:
        passes = Passes(self, rows, seeds_map=True, **options)
        passes.needs_another(
            "drawing rows at random", "use partial_fit, which makes its steps with the rows in their order"
        )
        return passes

    def _begins(self, first: bool, X: NDArray, y: NDArray, weights: NDArray[np.float64] | None) -> bool:
        """Prepare the blocks for the first rows of a stream with weight, and return whether these are."""
        if first:
            self._begin()
        if hasattr(self, "block_") or not (weights is None or weights.any()):
            return False
        counted = _counted(weights)
        self._prepare_block(X[counted], y[counted])
        return True

    def _go_on(self, X: NDArray, targets: NDArray, weights: NDArray[np.float64] | None) -> None:
        """Make a step with every batch_size rows, in their order."""
        batches = row_blocks(len(X), self.batch_size)
        if weights is not None:
            batches = [rows for rows in batches if weights[rows].any()]
        if not batches:
            return
        steps, done = self._steps(), len(self.coefs_)
        for step, rows in enumerate(batches, start=done):
            given = None if weights is None else weights[rows]
            steps.step(step, done + len(batches), X[rows], targets[rows], given)
        self._keep(steps)

    def _begin(self) -> None:
        self.__dict__.pop("block_", None)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.coefs_ = np.zeros((0, 0, 0))
        self.rows_drawn_ = np.zeros(0, dtype=int)

    def _prepare_block(self, X: NDArray, y: ArrayLike) -> None:
        prototype = RFF(n_components=512) if self.feature_map is None else self.feature_map
        self.block_, self.fit_rows_, self.fit_targets_ = prepared_block(prototype, X, y, self.batch_size)

    def _steps(self) -> StochasticSteps:
        return StochasticSteps(
            self.block_,
            self.fit_rows_,
            self.fit_targets_,
            self.seed_,
            self.loss,
            self.alpha,
            self.step_size,
            self.signed,
            partial(find_signs, self),
            type(self).__name__,
            self.coefs_,
            self.rows_drawn_,
        )

    def _keep(self, steps: StochasticSteps) -> None:
        self.coefs_, self.rows_drawn_ = steps.coefs, steps.rows_drawn

    def _staged_values(self, X: ArrayLike) -> Iterator[tuple[int, NDArray[np.float64]]]:
        rows = self._rows_to_predict(X)
        yield from self._steps().staged(rows)

    def _values(self, X: ArrayLike) -> NDArray[np.float64]:
        rows = self._rows_to_predict(X)
        return self._steps().values(rows)

    def _rows_to_predict(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        if not len(self.coefs_):
            refuse_zeros(self, "all rows so far")
        rows: NDArray = self._rows(X)
        return rows


def _counted(weights: NDArray[np.float64] | None) -> Any:
    """Return the index of the rows that have weight."""
    return slice(None) if weights is None else weights > 0


@dataclass
class _Survey:
    """What a first pass over the targets counts: rows, the end of their line, their weighted sum, and labels."""

    n_rows: int = 0
    end: Any = 0
    total: float = 0.0
    labels: NDArray = field(default_factory=lambda: np.zeros(0))

    def count(self, owner: Any, block: Block) -> None:
        if is_classifier(owner):
            labels = as_labels(owner, block.y)
            weights = class_weights(owner, labels, block.weight, only_zeros=True)
            counted = np.unique(labels if weights is None else labels[weights > 0])
            self.labels = joined_labels(owner, [self.labels, counted])
        else:
            y = column_or_1d(as_numbers(owner, block.y)).astype(np.float64)
            weights = check_weights(owner, block.weight, len(y), only_zeros=True)
            self.total += float(np.sum(y if weights is None else weights * y))
        self.n_rows += len(block.y)
        self.end = ends(self.end, len(block.y), weights)[-1]


class DoublyStochasticRegressor(RegressorMixin, _DoublyStochastic):
    """Fit kernel ridge regression by gradient steps that draw both rows and random features.

    Minimises mean_i (f(x_i) - y_i)^2 / 2 + alpha ||f||^2 / 2 over the kernel's space. Step t draws batch_size rows
    and a fresh block of features z_t, and adds z_t(.)^T a_t with a_t = -step * mean_i loss'(f(x_i), y_i) z_t(x_i),
    after shrinking the earlier coefficients by 1 - step * alpha; step = step_size / (1 + alpha step_size t).
    Features are never stored: a block is made again from its seed whenever it is needed. Memory: the coefficients
    (n_blocks * n_components) and one block of features of a batch; work: n_blocks^2 / 2 blocks of features.

    Parameters
    ----------
    feature_map : transformer, optional
        Prototype of a block, with a parameter ``random_state``; it is cloned, given a seed, and fitted on the
        first batch_size rows. So it must not need more of the data than these. None: ``RFF(n_components=512)``.
    n_blocks : int, default=50
        Number of steps, hence of blocks.
    batch_size : int, default=256
        Rows in a step, drawn with replacement.
    alpha : float, default=1e-3
        Weight of the penalty; `ExactKRR` with ``ridge="n_lambda"`` and this alpha has the same minimiser.
    step_size : float, default=1.0
        First step. The squared error diverges from 2 / (largest eigenvalue of K / n). That eigenvalue is at
        most the mean of k(x, x): 1 is safe for the usual kernels, more is faster where the eigenvalue is small.
    signed : {"associated", "positive"}, default="associated"
        Which columns of signed features to use, as for `LinearSVM`.
    random_state : int, RandomState or None, default=0
        Draws the rows and the seeds of the blocks.

    Attributes
    ----------
    coefs_ : ndarray of shape (n_blocks, n_columns, n_targets)
        Coefficients of each block; zero for columns that are not used.
    rows_drawn_ : ndarray of shape (n_blocks,)
        Rows drawn up to each step.
    intercept_ : float
        Mean of the targets.
    seed_ : int
        Seed from which the blocks are made.
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    DoublyStochasticClassifier : The same for labels.
    KRR : Exact sums over all rows.

    References
    ----------
    Dai, Xie, He, Liang, Raj, Balcan, Song: Scalable kernel methods via doubly stochastic gradients, NIPS 2014,
    algorithms 1 and 2. Figure 5 of pennington2015 uses the method.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.learners import DoublyStochasticRegressor
    >>> from rflib.maps import RFF
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DoublyStochasticRegressor(RFF(n_components=64), random_state=0).fit(X, y)
    >>> model.predict(X[:3]).shape
    (3,)
    """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X (n_samples, n_features) and targets y (n_samples,).

        With ``sample_weight`` (n_samples,) rows are drawn as often as their weights say.

        Raises
        ------
        ValueError
            If X or y is not finite or of the wrong shape, a weight is negative, or a parameter is out of its
            range.
        """
        self._check_parameters()
        rows, targets = self._checked(X, y, reset=True)
        weights = check_weights(self, sample_weight, len(targets))
        centred = targets.astype(np.float64)
        self.intercept_ = _mean(centred, weights)
        centred -= self.intercept_
        self._descend(rows, targets, lambda chosen: centred[chosen, None], weights)
        return self

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Continue on more rows, with one step for every batch_size rows in their order; n_blocks is not used.

        The first call fits the blocks' maps on its first batch_size rows, and its mean target is the intercept for
        good. After `fit` the steps go on from its. Weights multiply the derivatives. Errors are those of `fit`.
        """
        self._check_parameters()
        first = not hasattr(self, "coefs_")
        rows, targets = self._checked(X, y, reset=first)
        weights = check_weights(self, sample_weight, len(targets), only_zeros=True)
        values = targets.astype(np.float64)
        if self._begins(first, rows, targets, weights):
            self.intercept_ = _mean(values, weights)
        if weights is None or weights.any():
            self._go_on(rows, values[:, None] - self.intercept_, weights)
        return self

    @all_or_nothing
    def fit_blocks(self, rows: Any, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory: the same fit as that of `fit`, with the same rows drawn.

        A first pass over the targets counts the rows; a second one gathers those that are drawn and stay in memory
        for the steps: n_blocks * batch_size of them. If the call fails, the learner is as it was before.

        Parameters
        ----------
        rows : ParquetRows, ArrayRows or iterable
            Blocks (X, y) or (X, y, sample_weight) that can be iterated more than once.
        **options
            ``verbose``, ``checkpoint`` and ``checkpoint_seconds`` as in `KRR.fit_blocks`; the checkpoint holds the
            coefficients of the steps so far.

        Raises
        ------
        TypeError
            If rows cannot be iterated.
        ValueError
            As in `fit`, with the place of the rows; also if they can be iterated once only, a file is damaged, or
            the checkpoint belongs to another call.
        """
        self._check_parameters()
        passes = self._passes(rows, options)
        survey = self._surveyed(passes)
        self.intercept_ = survey.total / float(survey.end)
        self._descend_in_passes(passes, self._checked_block, survey.n_rows, survey.end)
        return self

    def _checked_block(self, block: Block) -> tuple[NDArray, NDArray, NDArray, NDArray | None]:
        X, y = self._checked(block.X, block.y, reset=False)
        weights = check_weights(self, block.weight, len(y), only_zeros=True)
        return X, y, y[:, None].astype(np.float64) - self.intercept_, weights

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the predicted targets of the rows X (n_samples, n_features), shape (n_samples,)."""
        values = self._values(X)
        return values[:, 0] + self.intercept_

    def staged_predict(self, X: ArrayLike) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the number of rows drawn so far and the predictions then, after each step."""
        for examples, values in self._staged_values(X):
            yield examples, values[:, 0] + self.intercept_


def _mean(targets: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    return float(np.average(targets, weights=weights))


def _has_log_loss(learner: Any) -> bool:
    if learner.loss != "log_loss":
        raise AttributeError(f"{type(learner).__name__} has predict_proba only with loss='log_loss'.")
    return True


class DoublyStochasticClassifier(OneVsRestClassifier, _ClassifierParameters, _DoublyStochastic):
    """Fit a kernel classifier by gradient steps that draw both rows and random features.

    The method is that of `DoublyStochasticRegressor`. Several classes are fitted one against the rest.

    Parameters
    ----------
    feature_map, n_blocks, batch_size, alpha, step_size, signed, random_state
        As for `DoublyStochasticRegressor`.
    loss : {"log_loss", "hinge", "squared_error"}, default="log_loss"
        Loss of y f(x) with y = +1 or -1: log(1 + exp(-y f)), max(0, 1 - y f) or (f - y)^2 / 2.
    class_weight : dict or "balanced", optional
        Factors of the weights of the rows, by their labels, as for `KRRClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coefs_, rows_drawn_, seed_, n_features_in_
        As for `DoublyStochasticRegressor`.

    See Also
    --------
    DoublyStochasticRegressor : The same for numbers.
    KRRClassifier : Exact sums over all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import Gaussian
    >>> from rflib.learners import DoublyStochasticClassifier
    >>> from rflib.maps import RFF
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DoublyStochasticClassifier(RFF(Gaussian("scale"), 256), random_state=0).fit(X, y)
    >>> model.predict(X[:3]).shape
    (3,)
    """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "loss", tuple(LOSS_DERIVATIVES))
        check_class_weight(self)

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,), with weights as in the regressor.

        Raises
        ------
        ValueError
            If X is not a finite matrix, there are fewer than two classes, a weight is negative, or a parameter is
            out of its range.
        """
        self._check_parameters()
        rows, labels = self._checked(X, y, reset=True)
        weights = class_weights(self, labels, sample_weight)
        self.classes_, codes = encode_labels(self, labels, weights)
        n_classes = len(self.classes_)
        self._descend(rows, labels, lambda chosen: codes_to_targets(codes[chosen], n_classes), weights)
        return self

    @all_or_nothing
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue on more rows, as the regressor does.

        The first call needs ``classes``, which are all labels that will occur.
        """
        self._check_parameters()
        check_class_weight(self, "partial_fit")
        first = not hasattr(self, "coefs_")
        rows, labels = self._checked(X, y, reset=first)
        weights = class_weights(self, labels, sample_weight, only_zeros=True)
        codes = stream_codes(self, labels, classes, first=first, weights=weights)
        self._begins(first, rows, labels, weights)
        self._go_on(rows, codes_to_targets(codes, len(self.classes_)), weights)
        return self

    @all_or_nothing
    def fit_blocks(self, rows: Any, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, as `DoublyStochasticRegressor.fit_blocks`."""
        self._check_parameters()
        check_class_weight(self, "fit_blocks")
        passes = self._passes(rows, options)
        survey = self._surveyed(passes)
        self.classes_, _ = encode_labels(self, survey.labels)
        self._descend_in_passes(passes, self._checked_block, survey.n_rows, survey.end)
        return self

    def _checked_block(self, block: Block) -> tuple[NDArray, NDArray, NDArray, NDArray | None]:
        X, y = self._checked(block.X, block.y, reset=False)
        weights = class_weights(self, y, block.weight, only_zeros=True)
        codes = stream_codes(self, y, None, first=False, weights=weights)
        return X, y, codes_to_targets(codes, len(self.classes_)), weights

    @available_if(_has_log_loss)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities of the labels, shape (n_samples, n_classes).

        They are the logistic function of the values. With more than two classes, each class has its probability
        against the rest, and these are divided by their sum.
        """
        values = expit(self._values(X))
        if values.shape[1] == 1:
            return np.column_stack([1 - values, values])
        return values / values.sum(axis=1, keepdims=True)

    def staged_predict(self, X: ArrayLike) -> Iterator[tuple[int, NDArray]]:
        """Yield the number of rows drawn so far and the predictions then, after each step."""
        for examples, values in self._staged_values(X):
            yield examples, self.classes_[values_to_codes(values)]
