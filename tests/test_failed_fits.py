"""A fit that fails at any step leaves a map or a learner exactly as it was."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from types import FrameType
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from rflib import learners, maps
from rflib.kernels import Gaussian, Polynomial
from rflib.learners import (
    KRR,
    ArrayRows,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    ExactKernelSVR,
    ExactKRR,
    KRRClassifier,
    LinearSVM,
    LinearSVR,
)
from rflib.maps import CRAFT, DIGMM, MVORF, ORF, RFF, AutoMap, Nystroem, TensorSketch

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
X[:, 0] += 2 * Y - 1  # so that a plane through the origin separates them
OTHER = RNG.standard_normal((50, 4))
OTHER_Y = (OTHER[:, 2] > 0).astype(int)
OTHER[:, 2] += 2 * OTHER_Y - 1
# Calls of functions of rflib at which a fit is interrupted, as parts of all of them.
PARTS = 0.02, 0.3, 0.6, 0.8, 0.99


def tanh(A: Any, B: Any) -> Any:
    """Return an indefinite similarity."""
    return np.tanh(A @ B.T - 1)


MAPS = {
    name: getattr(maps, name)(n_components=16, random_state=0)
    for name in maps.MODULES
    if name not in ("RandomFeatureMap", "CRAFT")
} | {
    "DIGMM": DIGMM(n_components=16, measure={"type": "digmm", "n_draws": 50}, random_state=0),
    "AutoMap": AutoMap(n_components=16, candidates=["RFF", "Nystroem"], random_state=0),
    "widths": ORF(Gaussian((0.5, 1.0, 5.0)), 16, random_state=0),
    "CRAFT": CRAFT(TensorSketch(Polynomial(3)), 16, n_components_up=32, random_state=0),
    "indefinite": Nystroem(tanh, 16, random_state=0),
}

BLOCKS = ArrayRows(X, Y, block_size=20)
RIDGE = RFF(n_components=16, random_state=0)
STREAMED = RFF(Gaussian(), n_components=16, random_state=0)
SMALL: dict[str, Any] = {"feature_map": RIDGE, "n_blocks": 3, "batch_size": 16}
METRIC: dict[str, Any] = {"feature_map": RIDGE, "n_rounds": 1}
LEARNERS: dict[str, tuple[Any, str]] = {
    **{
        f"{name} fit": (
            getattr(learners, name)(
                **SMALL if "Stochastic" in name else METRIC if name == "LearnedMetric" else {}
            ),
            "fit",
        )
        for name in learners.MODULES
        if hasattr(getattr(learners, name), "fit")
    },
    **{
        f"{type(learner).__name__} {method}": (learner, method)
        for method in ("partial_fit", "fit_blocks")
        for learner in (
            KRR(feature_map=RIDGE, block_size=20),
            KRRClassifier(feature_map=RIDGE, block_size=20),
            DoublyStochasticRegressor(**SMALL),
            DoublyStochasticClassifier(**SMALL),
            LinearSVM(C=1.0, solver="newton", feature_map=RIDGE),
            LinearSVR(C=1.0, solver="newton", feature_map=RIDGE),
        )
        if hasattr(learner, method)
    },
}


def called(call: Callable[[], Any], stop: int = 0) -> int:
    """Return the number of calls of functions of rflib in a call; the one with number ``stop`` is interrupted.

    Generators are left out, because Python ignores errors of one that is closed.
    """
    n = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n
        own = not frame.f_code.co_flags & inspect.CO_GENERATOR
        if own and event == "call" and str(frame.f_globals.get("__name__")).startswith("rflib."):
            n += 1
            if n == stop:
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return n


def check_interrupts(estimator: Any, change: Callable[[Any], Any], values: Callable[[Any], Any]) -> None:
    """Interrupt a method of a fitted estimator at several steps, and compare all that it knows with before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        change(deepcopy(estimator))  # what is computed once and for all is known from here on
        n_calls = called(lambda: change(deepcopy(estimator)))
        n_calls -= called(lambda: deepcopy(estimator))
        attributes, content, before = dict(vars(estimator)), joblib.hash(vars(estimator)), values(estimator)
        for part in PARTS:
            with pytest.raises(KeyboardInterrupt):
                called(lambda: change(estimator), 1 + int(part * (n_calls - 1)))
            assert vars(estimator).keys() == attributes.keys()
            assert all(vars(estimator)[name] is value for name, value in attributes.items())
            assert joblib.hash(vars(estimator)) == content
        np.testing.assert_array_equal(values(estimator), before)


@pytest.mark.parametrize("name", MAPS)
def test_an_interrupted_fit_leaves_a_map_as_it_was(name: str) -> None:
    fitted = clone(MAPS[name]).fit(X, Y)
    other = OTHER[:, :3] if name == "widths" else OTHER
    check_interrupts(fitted, lambda m: m.fit(other, OTHER_Y), lambda m: m._features(X))


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.nightly) if n == "KernelClassifier fit" else n for n in LEARNERS],
)
def test_an_interrupted_fit_leaves_a_learner_as_it_was(name: str) -> None:
    learner, method = LEARNERS[name]
    fitted = clone(learner).fit(X, Y)
    values = (lambda m: m.predict(X)) if hasattr(fitted, "predict") else (lambda m: m.transform(X))
    arguments = {"fit": (OTHER, OTHER_Y), "partial_fit": (X, Y), "fit_blocks": (BLOCKS,)}[method]
    check_interrupts(fitted, lambda m: getattr(m, method)(*arguments), values)


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


@pytest.mark.parametrize("name", ["RFF", "Nystroem"])
def test_arrays_of_a_state_are_those_of_no_map(name: str) -> None:
    fitted = clone(MAPS[name]).fit(X)
    state, before = fitted.state(), fitted._features(X)
    restored = clone(MAPS[name]).restore(state)
    for array in state.values():
        if array.dtype.kind == "f":
            array[...] = 0
    for found in (fitted, restored):
        np.testing.assert_array_equal(found._features(X), before)
