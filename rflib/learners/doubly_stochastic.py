"""Doubly stochastic gradients: each step draws rows and a block of features that its seed makes again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
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
from rflib.learners.signed_features import (
    FLOATS,
    check_feature_map,
    check_signed,
    features_of,
    find_signs,
    signature_of,
    signed_columns,
    used_columns,
)
from rflib.learners.values import (
    as_labels,
    as_numbers,
    check_weights,
    joined_labels,
    refuse_zeros,
)
from rflib.maps.rff import RFF
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_choice, check_integer, check_number, refuse

PREDICTION_ROWS = 4096
DIVERGED = 1e100

# Derivative of the loss by the value f, for a target y (+1 or -1 for the last two).
LOSS_DERIVATIVES: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "squared_error": lambda f, y: f - y,
    "log_loss": lambda f, y: -y * expit(-y * f),
    "hinge": lambda f, y: -y * (y * f < 1),
}


class _DoublyStochastic(CheckedRows, Keywords, BaseEstimator):
    """The algorithm, for one or several columns of targets."""

    _row_types: ClassVar[Any] = FLOATS

    def __init__(
        self,
        feature_map: Any = None,
        *,
        n_blocks: int = 50,
        batch_size: int = 256,
        alpha: float = 1e-3,
        step_size: float = 1.0,
        signed: str = "associated",
        random_state: Any = 0,
    ):
        self.feature_map = feature_map
        self.n_blocks = n_blocks
        self.batch_size = batch_size
        self.alpha = alpha
        self.step_size = step_size
        self.signed = signed
        self.random_state = random_state

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
        loss: str,
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Run the steps; ``targets(rows)`` are the (n, n_targets) targets of rows, y is what the map gets."""
        self._begin()
        counted = _counted(weights)
        self._prepare_block(X[counted], y[counted])
        ends = _ends(0, len(X), weights)
        for step, places in enumerate(self._drawn_places(ends[-1])):
            rows = np.searchsorted(ends, places, side="right")
            self._step(step, self.n_blocks, X[rows], targets(rows), loss)

    def _drawn_places(self, end: Any) -> NDArray:
        """Return the sorted places of the rows that each step draws with replacement, (n_blocks, batch_size).

        They are numbers of rows for an integer ``end``, else they lie on the line of `_ends`.
        """
        rng, size = np.random.default_rng(self.seed_), self.batch_size
        if isinstance(end, np.integer):
            return np.array([np.sort(rng.integers(int(end), size=size)) for _ in range(self.n_blocks)])
        return np.array([np.sort(end * rng.random(size)) for _ in range(self.n_blocks)])

    def _descend_in_passes(
        self,
        passes: Passes,
        checked: Callable[[Block], tuple[NDArray, NDArray, NDArray, NDArray | None]],
        loss: str,
        n_rows: int,
        end: Any,
    ) -> None:
        """Gather the rows that `_descend` would draw in one pass, and run the steps with these alone.

        ``checked`` gives rows, what the map gets, (n, n_targets) targets, and weights; ``end`` is that of
        `_drawn_places`.
        """
        self._begin()
        places = self._drawn_places(end).ravel()
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
            ends = _ends(start, len(X), weights)
            here = (places >= start) & (places < ends[-1])
            drawn = np.searchsorted(ends, places[here], side="right")
            gathered[0][here], gathered[1][here] = X[drawn], targets[drawn]
            start = ends[-1]
        self._prepare_block(*(np.concatenate(parts) for parts in zip(*heads, strict=True)))
        about = {name: value for name, value in self.get_params(deep=False).items() if name != "feature_map"}
        state = passes.resume(about, self._block(0)[0](self.fit_rows_[:PROBED_ROWS]))
        if state is not None:
            self.coefs_, self.rows_drawn_ = state["coefs"], state["rows_drawn"]
        for step, rows in enumerate(row_blocks(len(places), self.batch_size)):
            if step >= passes.done:
                self._step(step, self.n_blocks, gathered[0][rows], gathered[1][rows], loss)
                passes.save(step + 1, n_rows, self._steps_so_far)
        passes.finish()

    def _surveyed(self, passes: Passes) -> "_Survey":
        """Check the first block, and return what a pass over the targets counts."""
        passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        survey = _Survey()
        for _ in passes.over("first pass", lambda block: survey.count(self, block), features=False):
            pass
        if not survey.end:
            refuse_zeros(self)
        return survey

    def _steps_so_far(self) -> dict[str, NDArray]:
        return {"coefs": self.coefs_, "rows_drawn": self.rows_drawn_}

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

    def _go_on(self, X: NDArray, targets: NDArray, loss: str, weights: NDArray[np.float64] | None) -> None:
        """Make a step with every batch_size rows, in their order."""
        batches = row_blocks(len(X), self.batch_size)
        if weights is not None:
            batches = [rows for rows in batches if weights[rows].any()]
        done = len(self.coefs_)
        for step, rows in enumerate(batches, start=done):
            given = None if weights is None else weights[rows]
            self._step(step, done + len(batches), X[rows], targets[rows], loss, given)

    def _begin(self) -> None:
        self.__dict__.pop("block_", None)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.coefs_ = np.zeros((0, 0, 0))
        self.rows_drawn_ = np.zeros(0, dtype=int)

    def _step(
        self,
        step: int,
        n_steps: int,
        batch: NDArray,
        targets: NDArray,
        loss: str,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        """Make step number ``step`` of ``n_steps``, with the rows of a batch."""
        features, signs = self._block(step)
        if step == 0 or len(self.coefs_) < n_steps:
            known, self.coefs_ = self.coefs_, np.zeros((n_steps, len(signs), targets.shape[1]))
            self.coefs_[:step] = known if step else 0
        gradient = LOSS_DERIVATIVES[loss](self._sum_of_blocks(batch, self.coefs_[:step]), targets)
        gradient = gradient / len(batch) if weights is None else gradient * (weights / weights.sum())[:, None]
        size = self._step_sizes(step)
        self.coefs_[:step] *= 1 - size * self.alpha
        self.coefs_[step, used_columns(signs, self.signed)] = -size * (features(batch).T @ gradient)
        self.rows_drawn_ = np.append(self.rows_drawn_, sum(self.rows_drawn_[-1:]) + len(batch))
        if not np.abs(self.coefs_[step]).max() < DIVERGED:
            raise ValueError(f"{type(self).__name__}: the steps diverged at block {step}. Lower step_size.")

    def _step_sizes(self, step: Any) -> Any:
        return self.step_size / (1 + self.alpha * self.step_size * step)

    def _prepare_block(self, X: NDArray, y: ArrayLike) -> None:
        """Keep what every block needs: rows to fit on, and the map with its spectral measure computed once."""
        prototype = RFF(n_components=512) if self.feature_map is None else self.feature_map
        self.fit_rows_, self.fit_targets_ = (
            X[: self.batch_size].copy(),
            np.asarray(y)[: self.batch_size].copy(),
        )
        self.block_ = clone(prototype)
        if "measure" in prototype.get_params() and hasattr(prototype, "spectrum"):
            measure = prototype.spectrum(self.fit_rows_)
            if measure is not None:
                self.block_.set_params(measure=measure)
                fitted = clone(self.block_).fit(self.fit_rows_, self.fit_targets_)
                # the measure for this number of columns, where that matters
                self.block_.set_params(measure=getattr(fitted, "measure_", measure))

    def _block(self, step: int) -> tuple[Callable[[NDArray], NDArray], NDArray[np.float64]]:
        """Return block number ``step``, made from its seed: the features used, of rows, and the signs of all."""
        seed = int(np.random.SeedSequence((self.seed_, step)).generate_state(1)[0])
        block = clone(self.block_).set_params(random_state=seed).fit(self.fit_rows_, self.fit_targets_)
        known = signature_of(block)
        example = features_of(block, self.fit_rows_[:1])[0] if known is None else known
        signs = find_signs(self, len(example), block)
        return lambda X: signed_columns(features_of(block, X), signs, self.signed), signs

    def _sum_of_blocks(self, X: NDArray, coefs: NDArray) -> NDArray[np.float64]:
        """Return the sum over the first blocks of features times coefficients, (n_samples, n_targets)."""
        values = np.zeros((len(X), coefs.shape[2]))
        for step, coef in enumerate(coefs):
            self._add_block(values, X, step, coef)
        return values

    def _add_block(self, values: NDArray[np.float64], X: NDArray, step: int, coef: NDArray) -> None:
        features, signs = self._block(step)
        used = coef[used_columns(signs, self.signed)]
        for rows in row_blocks(len(X), PREDICTION_ROWS):
            values[rows] += features(X[rows]) @ used

    def _staged_values(self, X: ArrayLike) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield rows drawn so far and the values then, after each step: the end's, without the later shrinking."""
        rows = self._rows_to_predict(X)
        kept = 1 - self.alpha * self._step_sizes(np.arange(len(self.coefs_)))
        kept_later = np.append(np.cumprod(kept[::-1])[::-1][1:], 1.0)
        values = np.zeros((len(rows), self.coefs_.shape[2]))
        for step, coef in enumerate(self.coefs_):
            self._add_block(values, rows, step, coef)
            yield int(self.rows_drawn_[step]), values / kept_later[step]

    def _values(self, X: ArrayLike) -> NDArray[np.float64]:
        return self._sum_of_blocks(self._rows_to_predict(X), self.coefs_)

    def _rows_to_predict(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        if not len(self.coefs_):
            refuse_zeros(self, "all rows so far")
        rows: NDArray = self._rows(X)
        return rows


def _counted(weights: NDArray[np.float64] | None) -> Any:
    """Return the index of the rows that have weight."""
    return slice(None) if weights is None else weights > 0


def _ends(start: Any, n_rows: int, weights: NDArray[np.float64] | None) -> NDArray:
    """Return where rows end on a line, from ``start`` on, that each takes as much of as its weight, or one.

    The sums are the same, to the bit, as those of all rows at once.
    """
    lengths = np.ones(n_rows, dtype=np.intp) if weights is None else weights
    return np.cumsum(np.append(start, lengths))[1:]


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
        self.end = _ends(self.end, len(block.y), weights)[-1]


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

    References
    ----------
    Dai, Xie, He, Liang, Raj, Balcan, Song: Scalable kernel methods via doubly stochastic gradients, NIPS 2014,
    algorithms 1 and 2. Figure 5 of pennington2015 uses the method.
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
        self._descend(rows, targets, lambda chosen: centred[chosen, None], "squared_error", weights)
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
            self._go_on(rows, values[:, None] - self.intercept_, "squared_error", weights)
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
        self._descend_in_passes(passes, self._checked_block, "squared_error", survey.n_rows, survey.end)
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


class DoublyStochasticClassifier(OneVsRestClassifier, _DoublyStochastic):
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
    """

    def __init__(
        self,
        feature_map: Any = None,
        *,
        loss: str = "log_loss",
        n_blocks: int = 50,
        batch_size: int = 256,
        alpha: float = 1e-3,
        step_size: float = 1.0,
        class_weight: ClassWeight = None,
        signed: str = "associated",
        random_state: Any = 0,
    ):
        super().__init__(
            feature_map,
            n_blocks=n_blocks,
            batch_size=batch_size,
            alpha=alpha,
            step_size=step_size,
            signed=signed,
            random_state=random_state,
        )
        self.loss = loss
        self.class_weight = class_weight

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
        self._descend(
            rows, labels, lambda chosen: codes_to_targets(codes[chosen], n_classes), self.loss, weights
        )
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
        self._go_on(rows, codes_to_targets(codes, len(self.classes_)), self.loss, weights)
        return self

    @all_or_nothing
    def fit_blocks(self, rows: Any, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, as `DoublyStochasticRegressor.fit_blocks`."""
        self._check_parameters()
        check_class_weight(self, "fit_blocks")
        passes = self._passes(rows, options)
        survey = self._surveyed(passes)
        self.classes_, _ = encode_labels(self, survey.labels)
        self._descend_in_passes(passes, self._checked_block, self.loss, survey.n_rows, survey.end)
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
