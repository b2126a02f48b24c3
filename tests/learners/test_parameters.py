"""What all learners share: one style of refusal, and equal results for equal rows, whatever holds them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier

from rflib.learners import (
    KRR,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    ExactKernelSVC,
    ExactKernelSVR,
    ExactKRR,
    ExactKRRClassifier,
    HardMarginSVM,
    KRRClassifier,
    LinearSVM,
    LinearSVR,
)
from rflib.maps import RFF

LEARNERS = [
    DoublyStochasticClassifier(RFF(n_components=8), n_blocks=2, batch_size=10),
    DoublyStochasticRegressor(RFF(n_components=8), n_blocks=2, batch_size=10),
    ExactKernelSVC(),
    ExactKernelSVR(),
    ExactKRR(cv=2),
    ExactKRRClassifier(cv=2),
    HardMarginSVM(),
    KRR(cv=2),
    KRR(feature_map=RFF(n_components=8, random_state=0), alphas=0.1, block_size=7),
    KRRClassifier(cv=2, criterion="error_rate"),
    LinearSVM(),
    LinearSVM(solver="newton", C="cv", cv=2),
    LinearSVR(),
    LinearSVR(solver="newton"),
]
WITH_MAP = [learner for learner in LEARNERS if getattr(learner, "feature_map", None) is not None]

BAD_VALUES = {
    "C": [0, -1, np.nan, "best", None, True],
    "Cs": [[1, -1], [], "grid", [[1.0]], None],
    "alpha": [0, np.inf, "a", None],
    "alphas": [(0.1, -1), (), (np.nan, 1), "a", None, {}],
    "batch_size": [0, 2.0, True],
    "block_size": [0, 2.0, "all"],
    "cache_size": [0, "a"],
    "class_weight": ["even", {"no": -1.0}, 2],
    "criterion": ["accuracy", 0],
    "cv": [1, True, "five", 2.5],
    "dual": ["never", None],
    "epsilon": [-0.1, np.nan, "a"],
    "feature_map": ["rff", RFF, 3],
    "fit_intercept": ["yes", 2],
    "gram_dtype": ["float16", 32],
    "device": [],  # in tests/arrays, with torch
    "kernel": ["rbf", 1],
    "loss": ["absolute", None],
    "max_iter": [0, 10.0],
    "n_blocks": [0, 2.5],
    "n_jobs": [0, "all", 1.5, True],
    "random_state": ["seed", -1, 0.5],
    "repair": ["clamp", None, 1],
    "ridge": ["n", None],
    "signature": [],  # in test_signed.py
    "signed": ["negative", True],
    "solver": ["lbfgs"],
    "step_size": [0, "a"],
    "tol": [0, -1.0, None],
    "verbose": ["yes", 2, None],
}


def labels(y):
    return np.where(y > np.median(y), "yes", "no")


def targets_for(learner, y):
    return labels(y) if is_classifier(learner) else y


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_bad_parameters_are_named_with_what_they_take(learner):
    X = np.random.default_rng(0).standard_normal((20, 3))
    for name in learner.get_params(deep=False):
        for value in BAD_VALUES[name]:
            message = rf"^{type(learner).__name__}: {name} must be .+, got {re.escape(repr(value))}\.$"
            with pytest.raises(ValueError, match=message):
                clone(learner).set_params(**{name: value}).fit(X, targets_for(learner, X[:, 0]))


CONTAINERS = {
    **{dtype: lambda X, dtype=dtype: X.astype(dtype) for dtype in ("f2", "f4", "f8", "u1", "i8", "O")},
    "list": lambda X: X.tolist(),
    "DataFrame": lambda X: pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]),
    "DataFrame of integers": lambda X: pd.DataFrame(X.astype(int)).add_prefix("x"),
    "Fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
}


def read_only(X):
    if isinstance(X, np.ndarray):
        X.flags.writeable = False
    return X


@pytest.mark.parametrize("container", CONTAINERS)
def test_equal_rows_give_equal_predictions_whatever_holds_them(container):
    """Whole numbers that every type holds exactly; float32 is computed as such, so its results are close."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (24, 40)).astype(float)
    y = X[:, 0] - X[:, 1] + rng.permutation(24) / 8
    other = read_only(CONTAINERS[container](X))
    for learner in LEARNERS:
        t = targets_for(learner, y)
        expected = clone(learner).fit(X, t).predict(X)
        found = clone(learner).fit(other, pd.Series(t) if "DataFrame" in container else t).predict(other)
        assert found.shape == expected.shape
        if is_classifier(learner):
            assert np.mean(found == expected) > 0.9 if container == "f4" else np.all(found == expected)
        else:
            tolerance = 2e-2 if container == "f4" else 1e-6
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.ptp(y))


@pytest.mark.parametrize(
    "learner",
    [
        KRR(alphas=0.1),
        KRRClassifier(alphas=0.1),
        ExactKRR(alphas=0.1),
        LinearSVM(tol=1e-10),
        LinearSVM(solver="newton", tol=1e-12),
        LinearSVR(tol=1e-10),
        HardMarginSVM(),
    ],
    ids=repr,
)
def test_the_order_of_the_rows_changes_nothing(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 40))
    y, order = targets_for(learner, X[:, 0]), rng.permutation(30)
    first = clone(learner).fit(X, y)
    again = clone(learner).fit(X[order], y[order])
    np.testing.assert_allclose(
        again.coef_ if hasattr(again, "coef_") else again.predict(X),
        first.coef_ if hasattr(first, "coef_") else first.predict(X),
        atol=1e-6,
    )


@pytest.mark.parametrize("learner", WITH_MAP, ids=repr)
def test_maps_may_return_data_frames(learner):
    X = np.random.default_rng(0).standard_normal((30, 3))
    y = targets_for(learner, X[:, 0])
    expected = clone(learner).fit(X, y).predict(X)
    with config_context(transform_output="pandas"):
        found = clone(learner).fit(X, y).predict(X)
        np.testing.assert_array_equal(clone(learner).fit(pd.DataFrame(X), y).predict(pd.DataFrame(X)), found)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("learner", "y", "message"),
    [
        (KRR(cv=5), [1.0, 2, 4], r"cv=5 folds needs at least 5 rows, got n_samples=3. Set cv to at most 3"),
        (KRR(cv=5), [1.0], r"got n_samples=1. Give more rows, or give a single alpha"),
        (
            KRR(),
            [1.0],
            r"another one with a weight .* got n_samples=1. Give more rows, or give a single",
        ),
        (ExactKRR(), [1.0], r"another one with a weight above 0, got n_samples=1. Give more rows"),
        (ExactKRR(repair="clip"), [1.0, 2, 4], r"ExactKRR: .* at least 5 rows, got n_samples=3"),
        (
            KRRClassifier(cv=3),
            [0, 0, 1, 1],
            r"at least 3 rows of one class, got n_samples=2. Set cv to at most 2",
        ),
        (LinearSVR(C="cv"), [1.0, 2, 4], r"LinearSVR: .*got n_samples=3. .* or set C to a number"),
        (LinearSVM(C="cv"), [0, 0, 1, 1], r"LinearSVM: .*of one class, got n_samples=2"),
    ],
)
def test_fewer_rows_than_folds(learner, y, message):
    X = np.arange(float(len(y)))[:, None]
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)
    remedy = {"C": 1.0} if "C" in learner.get_params() else {"alphas": 0.1}
    clone(learner).set_params(**remedy).fit(X, y)
