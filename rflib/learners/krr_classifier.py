"""Classification by kernel ridge regression on random features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from rflib.drafts import all_or_nothing
from rflib.kernels.namespaces import Array
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.feature_ridge import FeatureRidge, RidgeParameters
from rflib.learners.one_vs_rest import (
    OneVsRestClassifier,
    codes_to_targets,
    encode_labels,
    stream_codes,
)
from rflib.learners.passes import PassOptions
from rflib.learners.weight_posterior import WeightPosterior


def _sees_rows_once(learner: Any) -> bool:
    if learner.criterion == "error_rate":
        raise AttributeError(
            f"{type(learner).__name__}: criterion='error_rate' needs two passes over the rows, but partial_fit "
            "sees them once. Use 'squared_error' or 'marginal_likelihood'."
        )
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class _Parameters(RidgeParameters):
    class_weight: ClassWeight = None


class KRRClassifier(OneVsRestClassifier, _Parameters, FeatureRidge):
    """Classify by kernel ridge regression of +1 and -1 on random features.

    Several classes are fitted one against the rest, as in liu2020.

    Parameters
    ----------
    alphas, ridge, feature_map, signature, signed, solver, block_size, gram_dtype, device, verbose, random_state
        As for `KRR`.
    cv : int, splitter or iterable, optional
        As for `KRR`; a number, and the 5 folds of None where it does not mean leave-one-out, are shuffled,
        stratified folds. Streams, Dask rows and blocks have the folds of `KRR`.
    criterion : {"squared_error", "error_rate", "marginal_likelihood"}, default="squared_error"
        What chooses among several alphas. The error rate of folds cannot be had from moments: it costs a second
        pass, which makes the features again.
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
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        As for `KRR`, in the shape and with the meaning of `decision_function`.
    alpha_, best_score_, cv_errors_, log_marginal_likelihoods_, signature_, feature_map_, n_features_in_
        As for `KRR`; the errors are those of the criterion.

    See Also
    --------
    KernelClassifier : Chooses the kernel and the map too.
    LinearSVM : The hinge losses of a support vector machine.
    KRR : The same for numbers.
    sklearn.svm.SVC : A support vector machine with the exact kernel.

    Notes
    -----
    For probabilities, calibrate: ``CalibratedClassifierCV(KRRClassifier(...))``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import Gaussian
    >>> from rflib.learners import KRRClassifier
    >>> from rflib.maps import MercerFeatures
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KRRClassifier(feature_map=MercerFeatures(Gaussian("scale"), 200, random_state=0))
    >>> print(f"{model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]):.2f}")
    0.97
    """

    _criteria = ("squared_error", "error_rate", "marginal_likelihood")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self)

    def _begin(self, y: NDArray, sample_weight: Any) -> tuple[NDArray, Any]:
        weights = class_weights(self, y, sample_weight)
        self.classes_, codes = encode_labels(self, y, weights)
        return codes, weights

    def _check_streams(self, method: str) -> None:
        super()._check_streams(method)
        check_class_weight(self, method)

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
        return self._partial_fit(X, y, sample_weight, classes)

    @all_or_nothing
    def fit_blocks(self, rows: Any, classes: ArrayLike | None = None, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, as `KRR.fit_blocks`.

        ``classes`` are all labels; None: a pass before finds them. ``criterion="error_rate"`` takes another pass
        at the end. Blocks that can be iterated once only allow neither.
        """
        return self._fit_blocks(rows, options, classes)

    def _know_targets(self, y: Array, labels: Callable[[], Any]) -> None:
        self.classes_, _ = encode_labels(self, labels(), name="classes")

    def _stream_targets(
        self, y: Array, sample_weight: Any, classes: Any = None, *, first: bool = False
    ) -> tuple[Array, Any]:
        weights = class_weights(self, y, sample_weight, only_zeros=True)
        return stream_codes(self, y, classes, first=first, weights=weights), weights

    @property
    def _labels(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist(), "class_weight": self.class_weight}

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if values.shape[1] == 1 else values

    def _targets(self, y: NDArray) -> NDArray[np.float64]:
        return codes_to_targets(y, len(self.classes_))

    def _set_solution(self, coef: NDArray, intercept: NDArray, posterior: WeightPosterior | None) -> None:
        self.coef_, self.intercept_ = coef.T, intercept
