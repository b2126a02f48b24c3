"""The folds of a learner's cross-validation."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from rflib.kernels.namespaces import is_foreign, namespace, to_numpy
from rflib.learners.row_hashes import row_hashes
from rflib.learners.values import as_array, refuse_missing
from rflib.validation import check_integer, refuse


def check_folds(learner: Any) -> None:
    """Raise ValueError unless ``cv`` is a number of folds, a splitter, an iterable of splits or None."""
    cv = learner.cv
    if isinstance(cv, Integral):
        check_integer(learner, "cv", at_least=2)
    elif isinstance(cv, str) or not (cv is None or hasattr(cv, "split") or isinstance(cv, Iterable)):
        refuse(learner, "cv", "a number of folds, a splitter, an iterable of splits or None")


def n_folds(cv: Any) -> Any:
    """Return ``cv``, or 5 folds where it is None."""
    return 5 if cv is None else cv


def check_enough_rows(learner: Any, y: NDArray, *, instead: str) -> None:
    """Raise ValueError, with ``instead`` as the other remedy, if there are fewer rows than folds.

    The stratified folds of a classifier need as many rows of the largest class.
    """
    cv = n_folds(learner.cv)
    classifier = is_classifier(learner)
    rows = int(np.unique(y, return_counts=True)[1].max()) if classifier else len(y)
    if isinstance(cv, Integral) and rows < int(cv):
        where = " of one class" if classifier else ""
        fewer = f"Set cv to at most {rows}" if rows > 1 else "Give more rows"
        raise ValueError(
            f"{type(learner).__name__}: cross-validation with cv={cv} folds needs at least {cv} rows{where}, got "
            f"n_samples={rows}. {fewer}, or {instead} to do without folds."
        )


def check_groups(learner: Any, groups: Any) -> None:
    """Raise ValueError if there are groups and ``cv`` is no splitter, which alone can use them."""
    if groups is not None and not hasattr(learner.cv, "split"):
        raise ValueError(
            f"{type(learner).__name__}: groups need a splitter that keeps them together as cv, such as "
            f"sklearn.model_selection.GroupKFold(5), got cv={learner.cv!r}."
        )


def known_groups(learner: Any, groups: Any, n_samples: int) -> NDArray | None:
    """Return the groups of the rows as an array without missing ones, or None where there are none."""
    if groups is None:
        return None
    known = as_array(groups)
    if known.shape != (n_samples,):
        raise ValueError(
            f"{type(learner).__name__}: groups must have a label for each of the {n_samples} rows, got an "
            f"array of shape {known.shape}."
        )
    refuse_missing(learner, known, "groups")
    return known


def fold_numbers(
    learner: Any, y: NDArray, weights: NDArray | None = None, groups: Any = None
) -> NDArray[np.intp]:
    """Return the fold of each row, shape (n_samples,).

    Parameters
    ----------
    learner : estimator
        Its ``cv`` makes the folds: a number, or None for 5, means folds shuffled by its ``random_state``,
        stratified for a classifier; a splitter or an iterable of (train, test) is used as in scikit-learn.
    y : ndarray of shape (n_samples, ...)
        Targets.
    weights : ndarray of shape (n_samples,), optional
        Weights of the rows, for a check that every fold has some; the folds are the same without.
    groups : array-like of shape (n_samples,), optional
        Groups of the rows, for a splitter that needs them.

    Raises
    ------
    ValueError
        If a row is held out never or more than once, there are fewer rows than folds, or a fold has no weight.
    """
    cv, classifier = n_folds(learner.cv), is_classifier(learner)
    check_groups(learner, groups)
    groups = known_groups(learner, groups, y.shape[0])
    if namespace(y) is not np:  # of numbers on a device, the usual folds need how many there are
        y = np.empty(y.shape[0]) if isinstance(cv, Integral) else to_numpy(y)
    check_enough_rows(learner, y, instead="give a single alpha")
    if isinstance(cv, Integral):
        kind = StratifiedKFold if classifier else KFold
        splitter = kind(int(cv), shuffle=True, random_state=learner.random_state)
    else:
        splitter = check_cv(cv, y, classifier=classifier)
    numbers = np.full(len(y), -1)
    held_out = np.zeros(len(y), dtype=int)
    for fold, (_, test) in enumerate(splitter.split(np.empty((len(y), 0)), y, groups)):
        numbers[test] = fold
        held_out[test] += 1
    if np.any(held_out != 1):
        row = int(np.flatnonzero(held_out != 1)[0])
        raise ValueError(
            f"{type(learner).__name__}: cv must hold out every row exactly once, as K folds do, but row {row} is "
            f"held out {held_out[row]} times. Set cv to a number of folds."
        )
    if weights is not None and not np.bincount(numbers, weights).all():
        _refuse_fold(learner)
    return numbers


def held_out_mean(learner: Any, losses: NDArray, weights: NDArray | None) -> float:
    """Return the weighted mean of held-out losses (n,) or (n, n_targets); ValueError if all weights are zero."""
    if weights is None:
        return float(np.mean(losses))
    if not weights.any():
        _refuse_fold(learner)
    return float(np.average(losses, axis=0, weights=weights).mean())


def _refuse_fold(learner: Any) -> NoReturn:
    raise ValueError(
        f"{type(learner).__name__}: all rows of a fold of cv have the weight zero. Lower cv or remove these rows."
    )


def folds_by_content(X: Any, n_folds: int, seed: int) -> NDArray[np.intp]:
    """Return a fold for each row that depends only on its numbers and on the seed, shape (n_samples,).

    So the folds of a stream are the same in whatever blocks and order its rows come; equal rows share one. X is an
    array or a CSR matrix of any numeric type. Rows on a device are copied to the host.
    """
    X = to_numpy(X) if is_foreign(X) else X
    folds: NDArray[np.intp] = (row_hashes(X, seed) % np.uint64(n_folds)).astype(np.intp)
    return folds
