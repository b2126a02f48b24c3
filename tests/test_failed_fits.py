"""A fit that fails leaves a map or a learner exactly as it was; `laws.py` of both tries this on all the others."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from rflib.kernels import Gaussian
from rflib.learners import (
    KRR,
    ExactKernelSVR,
    ExactKRR,
    KernelClassifier,
    KernelRegressor,
    LearnedMetric,
    SpectrumRepair,
)
from rflib.maps import MVORF, ORF, RFF, Nystroem

from .interrupts import OTHER, OTHER_Y, PARTS, X, Y, called, check_interrupts

QUICK = {"type": "minimum_variance", "deltas": (0.01,)}
STREAMED = RFF(Gaussian(), n_components=16, random_state=0)


def tanh(A: Any, B: Any) -> Any:
    """Return an indefinite similarity."""
    return np.tanh(A @ B.T - 1)


@pytest.mark.parametrize(
    "estimator",
    [
        Nystroem(tanh, 16, random_state=0),
        SpectrumRepair(),
        LearnedMetric(STREAMED, n_rounds=1),
        KernelRegressor(),
        pytest.param(KernelClassifier(), marks=pytest.mark.nightly),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_interrupted_fit_leaves_an_estimator_as_it_was(estimator: Any) -> None:
    fitted = clone(estimator).fit(X, Y)
    method = "predict" if hasattr(fitted, "predict") else "transform"
    check_interrupts(fitted, lambda m: m.fit(OTHER, OTHER_Y), lambda m: getattr(m, method)(X))


@pytest.mark.parametrize("feature_map", [ORF, RFF, MVORF])
def test_an_error_leaves_the_width_of_each_column(feature_map: Any) -> None:
    fitted = feature_map(Gaussian((0.5, 1.0, 5.0)), 64, random_state=0).fit(X)
    before = fitted.kernel_matrix(X)
    first = {"axes": "pca"} if feature_map is MVORF else {"radii": "bad"}
    for wrong in (first, {"random_state": -1}, {"n_components": 0}):
        right = {name: getattr(fitted, name) for name in wrong}
        with pytest.raises(ValueError, match="must be"):
            fitted.set_params(**wrong).fit(OTHER[:, :3])
        fitted.set_params(**right)
        np.testing.assert_array_equal(fitted.kernel_matrix(X), before)


def test_an_error_leaves_the_number_of_columns() -> None:
    fitted = RFF(random_state=0).fit(X)
    with pytest.raises(ValueError, match="random_state"):
        fitted.set_params(random_state=-1).fit(OTHER)
    assert fitted.n_features_in_ == 3


def test_a_solution_that_is_interrupted_can_be_asked_for_again() -> None:
    """Ridge regression on a stream is solved when its solution is first asked for."""
    learner = KRR(feature_map=STREAMED).partial_fit(X, Y).partial_fit(X, Y)
    expected = deepcopy(learner).predict(X)
    n_calls = called(lambda: deepcopy(learner).predict(X))
    for part in PARTS[1:4]:
        with pytest.raises(KeyboardInterrupt):
            called(lambda: learner.predict(X), int(part * n_calls))
    np.testing.assert_array_equal(learner.predict(X), expected)


def test_a_thread_that_waited_for_a_solution_gets_it() -> None:
    """It looked for an attribute before another thread had solved, and asks for it afterwards."""
    learner = KRR(feature_map=STREAMED).partial_fit(X, Y)
    assert KRR.alpha_.__get__(learner) == learner.alpha_
    assert KRR.coef_.__get__(learner) is learner.coef_


@pytest.mark.parametrize("learner", [ExactKRR(Gaussian()), ExactKernelSVR(Gaussian())])
def test_rows_that_are_overwritten_leave_an_exact_learner_as_it_was(learner: Any) -> None:
    rows = X.copy()
    fitted = clone(learner).fit(rows, X[:, 1])
    before = fitted.predict(X)
    rows[:] = 0
    np.testing.assert_array_equal(fitted.predict(X), before)


@pytest.mark.parametrize("make", [RFF, Nystroem])
def test_arrays_of_a_state_are_those_of_no_map(make: Any) -> None:
    fitted = make(n_components=16, random_state=0).fit(X)
    state, before = fitted.state(), fitted._features(X)
    restored = clone(fitted).restore(state)
    for array in state.values():
        if array.dtype.kind == "f":
            array[...] = 0
    for found in (fitted, restored):
        np.testing.assert_array_equal(found._features(X), before)
