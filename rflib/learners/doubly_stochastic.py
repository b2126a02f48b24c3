"""Doubly stochastic gradients: each step draws rows and a block of features that its seed makes again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from rflib.drafts import all_or_nothing
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.one_vs_rest import (
    OneVsRestClassifier,
    codes_to_targets,
    encode_labels,
    stream_codes,
    values_to_codes,
)
from rflib.learners.passes import PassOptions
from rflib.learners.row_sources import Block
from rflib.learners.stochastic_learner import StochasticLearner, StochasticParameters
from rflib.learners.stochastic_steps import LOSS_DERIVATIVES
from rflib.learners.values import check_weights
from rflib.sklearn_bases import RegressorMixin
from rflib.validation import check_choice


@dataclass(eq=False, repr=False)
class _ClassifierParameters(StochasticParameters):
    _: KW_ONLY
    loss: Literal["log_loss", "hinge", "squared_error"] = "log_loss"
    class_weight: ClassWeight = None


class DoublyStochasticRegressor(RegressorMixin, StochasticLearner):
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


class DoublyStochasticClassifier(OneVsRestClassifier, _ClassifierParameters, StochasticLearner):
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
