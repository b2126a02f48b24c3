"""A stream of features: ridge regression in blocks and on all rows, and one pass of stochastic gradients.

The limit is one Gram matrix of all rows. Gradients need none, and end elsewhere: the objective that is returned
is the mean squared error of the model on new rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from timing import Group, settings, sphere, timed

from rflib.kernels import Gaussian
from rflib.learners import KRR
from rflib.maps import RFF

ROWS = 60_000
NEW_ROWS = 1_000
COLUMNS = 1024
BLOCKS = (1_000, 10_000)
ALPHA = 1e-6


def records() -> Iterator[dict[str, Any]]:
    """All precisions and threads, each with the rows that it takes in a second."""
    title = f"stream, D = {COLUMNS}, one ridge"
    for threads, dtype in settings():
        for record in timed(title, group(dtype), threads=threads, dtype=dtype, rows=ROWS, runs=3):
            yield record | {"rate": ROWS / record["seconds"]}


def group(dtype: str) -> Group:
    """The same features and targets; each entry is fitted anew."""
    X = sphere(ROWS + NEW_ROWS, 16, dtype)
    y = np.sin(5 * X[:, 0].astype(np.float64)) + 0.1 * np.random.default_rng(0).standard_normal(len(X))
    Z = RFF(Gaussian(), COLUMNS, random_state=0).fit(X).transform(X)
    train, new = (Z[:ROWS], y[:ROWS]), (Z[ROWS:], y[ROWS:])
    syrk = ssyrk if dtype == "float32" else dsyrk
    ours = KRR(alphas=ALPHA)
    theirs = SGDRegressor(alpha=ALPHA, random_state=0)
    entries: Group = {
        "limit: one Gram matrix": lambda: syrk(1.0, train[0].T, lower=True) is None,
        "rflib KRR, all rows": lambda: error(clone(ours).fit(*train), *new),
    }
    for size in BLOCKS:
        entries[f"rflib KRR, blocks of {size:,}"] = lambda size=size: error(stream(ours, *train, size), *new)
    size = BLOCKS[0]
    entries[f"scikit-learn SGDRegressor, blocks of {size:,}"] = lambda: error(
        stream(theirs, *train, size), *new
    )
    return entries


def stream(learner: Any, Z: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Return a new learner that has seen the rows in blocks."""
    learner = clone(learner)
    for start in range(0, len(y), size):
        learner.partial_fit(Z[start : start + size], y[start : start + size])
    return learner


def error(learner: Any, Z: np.ndarray, y: np.ndarray) -> float:
    """Return the mean squared error on new rows, for which the solution is needed."""
    return float(np.mean((learner.predict(Z) - y) ** 2))
