"""Fits that are interrupted at several steps, after which an estimator must be as it was."""

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

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
X[:, 0] += 2 * Y - 1  # so that a plane through the origin separates them
OTHER = RNG.standard_normal((50, 4))
OTHER_Y = (OTHER[:, 2] > 0).astype(int)
OTHER[:, 2] += 2 * OTHER_Y - 1
# Calls of functions of rflib at which a fit is interrupted, as parts of all of them.
PARTS = 0.02, 0.3, 0.6, 0.8, 0.99


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
