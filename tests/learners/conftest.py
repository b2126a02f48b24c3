"""Rows with real targets, for tests of the exact-kernel learners."""

import numpy as np
import pytest


@pytest.fixture
def smooth_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(120) + 3
