"""Rows with targets, and what the classes of laws declare as parameters of the laws."""

import numpy as np
import pandas as pd
import pytest

from .laws import LearnerLaws
from .rows import N

DECLARED = {"variant": "variants"} | {name: name for name in ("mapped", "ordered", "searching", "beginning")}
METHODS = ("fit", "partial_fit", "fit_blocks")


def pytest_generate_tests(metafunc):
    if metafunc.cls and issubclass(metafunc.cls, LearnerLaws):
        for name in (name for name in DECLARED if name in metafunc.fixturenames):
            metafunc.parametrize(name, getattr(metafunc.cls, DECLARED[name]), ids=repr)
        if "method" in metafunc.fixturenames:
            metafunc.parametrize("method", [name for name in METHODS if hasattr(metafunc.cls.own, name)])


@pytest.fixture(scope="session")
def frame():
    return pd.DataFrame(np.random.default_rng(0).standard_normal((N, 3)), columns=["a", "b", "c"])


@pytest.fixture(scope="session")
def mixed(frame):
    """Rows with a category and missing values."""
    rng = np.random.default_rng(1)
    X = frame.assign(colour=rng.choice(["red", "green", "blue"], N), size=rng.choice([1.0, np.nan], N))
    return X.astype({"colour": "category"}).set_axis(np.arange(N)[::-1] // 3)


@pytest.fixture
def smooth_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(120) + 3
