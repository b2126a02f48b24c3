"""Checks that learners share: of parameters, in the style of `rflib.validation`, and of a map's features."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from rflib.validation import check_integer, check_number, refuse

FLOATS = [np.float64, np.float32]


def check_positive_numbers(owner: object, name: str) -> NDArray[np.float64]:
    """Return a parameter that is one positive number or several as an array; else raise ValueError."""
    expected = "positive numbers, at least one"
    try:
        numbers = np.atleast_1d(np.asarray(getattr(owner, name), dtype=np.float64))
    except (TypeError, ValueError):
        refuse(owner, name, expected)
    if numbers.ndim != 1 or not numbers.size or not np.all((numbers > 0) & np.isfinite(numbers)):
        refuse(owner, name, expected)
    return numbers


def check_cost(owner: Any) -> None:
    """Raise ValueError unless ``C`` is a positive number or "cv"."""
    if not isinstance(owner.C, str):
        check_number(owner, "C", above=0)
    elif owner.C != "cv":
        refuse(owner, "C", "a number above 0 or 'cv'")


def check_cv(owner: Any) -> None:
    """Raise ValueError unless ``cv`` is a number of folds, a splitter, an iterable of splits or None."""
    cv = owner.cv
    if isinstance(cv, Integral):
        check_integer(owner, "cv", at_least=2)
    elif isinstance(cv, str) or not (cv is None or hasattr(cv, "split") or isinstance(cv, Iterable)):
        refuse(owner, "cv", "a number of folds, a splitter, an iterable of splits or None")


def check_enough_rows(owner: Any, y: NDArray, *, classifier: bool, instead: str) -> None:
    """Raise ValueError, with ``instead`` as the other remedy, if there are fewer rows than folds.

    Stratified folds need as many rows of the largest class.
    """
    cv = 5 if owner.cv is None else owner.cv
    rows = int(np.unique(y, return_counts=True)[1].max()) if classifier else len(y)
    if isinstance(cv, Integral) and rows < int(cv):
        where = " of one class" if classifier else ""
        fewer = f"Set cv to at most {rows}" if rows > 1 else "Give more rows"
        raise ValueError(
            f"{type(owner).__name__}: cross-validation with cv={cv} folds needs at least {cv} rows{where}, got "
            f"n_samples={rows}. {fewer}, or {instead}, which needs no folds."
        )


def check_seed(owner: Any) -> None:
    """Raise ValueError unless ``random_state`` is what scikit-learn takes."""
    try:
        check_random_state(owner.random_state)
    except ValueError:
        refuse(owner, "random_state", "an integer of at least 0, a numpy.random.RandomState or None")


def check_feature_map(owner: Any) -> None:
    """Raise ValueError unless ``feature_map`` is a transformer or None."""
    feature_map = owner.feature_map
    is_map = all(hasattr(feature_map, name) for name in ("fit", "transform", "get_params"))
    if feature_map is not None and (isinstance(feature_map, type) or not is_map):
        refuse(owner, "feature_map", "a transformer (an object with fit, transform and get_params) or None")


def features_of(feature_map: Any, X: ArrayLike) -> NDArray[np.floating]:
    """Return what a fitted map makes of rows as a finite float array, whatever container the map returns."""
    features: NDArray[np.floating] = check_array(
        feature_map.transform(X), dtype=FLOATS, input_name="feature_map.transform(X)"
    )
    return features
