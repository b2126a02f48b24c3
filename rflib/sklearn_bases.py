"""scikit-learn's base classes, with types for mypy, to which scikit-learn's own classes are Any.

A class whose base is Any may have any parameter and any attribute: mypy would find no mistake in a user's file.
Other type checkers bring stubs of scikit-learn, whose classes they keep, as only mypy takes ``MYPY`` for true.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from numpy.typing import ArrayLike, NDArray

MYPY = False

if MYPY:

    class BaseEstimator:
        """An estimator: its parameters are read and set."""

        n_features_in_: int
        feature_names_in_: NDArray

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters."""

        def set_params(self, **params: Any) -> Self:
            """Set parameters."""

        def get_metadata_routing(self) -> Any:
            """Return what is asked for by `set_fit_request` and its like."""

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            """Ask for arguments of `fit`."""

        set_partial_fit_request = set_predict_request = set_score_request = set_fit_request

        def __sklearn_tags__(self) -> Any: ...
        def __getstate__(self) -> Any: ...
        def __setstate__(self, state: Any) -> None: ...

    class TransformerMixin:
        """A transformer."""

        def fit_transform(self, X: Any, y: Any = None) -> Any:
            """Fit, and transform the same rows."""

        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
            """Say what `transform` returns."""

    class ClassNamePrefixFeaturesOutMixin:
        """A transformer whose columns are named after its class."""

        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
            """Return the names of the columns."""

    class RegressorMixin:
        """A regressor."""

        def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
            """Return R2, or the accuracy."""

    class ClassifierMixin:
        """A classifier."""

        classes_: NDArray

        def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
            """Return R2, or the accuracy."""

    class MultiOutputMixin:
        """An estimator of several outputs."""

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        MultiOutputMixin,
        RegressorMixin,
        TransformerMixin,
    )

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "MultiOutputMixin",
    "RegressorMixin",
    "TransformerMixin",
]
