"""Rows with real targets, and a filter: most grids here are small, and what they leave out is of no interest."""

from pathlib import Path

import numpy as np
import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(
                pytest.mark.filterwarnings("ignore::rflib.learners.grid_edge.GridEdgeWarning"), append=False
            )


@pytest.fixture
def smooth_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(120) + 3
