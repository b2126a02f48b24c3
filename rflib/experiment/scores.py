"""The scores of a fitted estimator on test rows: accuracy, area under the curve and log loss, or R2 and RMSE."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.metrics import rmse


def scores_of(
    estimator: Any, X: Any, y: NDArray, predicted: NDArray, classes: NDArray | None
) -> dict[str, float]:
    """Return the scores of an estimator by the names of the metrics.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator. Without ``predict_proba`` it has no log loss, and without ``decision_function``
        either it has no area under the curve.
    X : array-like or DataFrame of shape (n, d)
        Test rows.
    y, predicted : array of shape (n,)
        Their targets, and what the estimator predicts.
    classes : array of shape (k,) or None
        The classes of all rows of the data set, ascending; None for regression.

    Returns
    -------
    dict
        ``error`` is 1 - ``accuracy``, or 1 - ``r2``, so that tables of both tasks have a metric in common.
        ``auc`` is that of the classes against the rest, averaged over those that the test rows have.
    """
    from sklearn.metrics import accuracy_score, log_loss, r2_score

    if classes is None:
        r2 = float(r2_score(y, predicted))
        return {"error": 1 - r2, "r2": r2, "rmse": rmse(y, predicted)}
    accuracy = float(accuracy_score(y, predicted))
    found = {"error": 1 - accuracy, "accuracy": accuracy}
    if hasattr(estimator, "predict_proba"):
        probabilities = _by_class(estimator.predict_proba(X), estimator.classes_, classes, 0.0)
        found["log_loss"] = float(log_loss(y, probabilities, labels=classes))
        found["auc"] = _auc(y, probabilities, classes)
    elif hasattr(estimator, "decision_function"):
        decisions = np.asarray(estimator.decision_function(X))
        if decisions.ndim == 1:
            decisions = np.column_stack([-decisions, decisions])
        found["auc"] = _auc(y, _by_class(decisions, estimator.classes_, classes, decisions.min()), classes)
    return found


def _by_class(values: NDArray, known: NDArray, classes: NDArray, otherwise: float) -> NDArray[np.float64]:
    """Return a column for each class, that of a class which the training rows do not have with the same value."""
    found = np.full((len(values), len(classes)), otherwise, dtype=np.float64)
    found[:, np.searchsorted(classes, known)] = values
    return found


def _auc(y: NDArray, values: NDArray[np.float64], classes: NDArray) -> float:
    """Return the mean area under the curve of a class against the rest; NaN if all test rows are of one class."""
    from sklearn.metrics import roc_auc_score

    there = np.isin(classes, y)
    if there.sum() < 2:
        return np.nan
    return float(np.mean([roc_auc_score(y == classes[i], values[:, i]) for i in np.flatnonzero(there)]))
