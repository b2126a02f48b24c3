"""Predictions with standard deviations: ours on random features, and the Gaussian process of the kernel itself.

Both fit with fixed hyperparameters and predict 1,000 rows. The exact one takes n^2 numbers three times, 10 GB for
20,000 rows, and minutes. There is one thread: with two, the OpenBLAS of scipy 1.17 crashes in the Cholesky factor
of so many rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from timing import Group, sphere, timed

from rflib.kernels import Gaussian
from rflib.learners import KRR
from rflib.maps import ORF

ROWS = (2_000, 20_000)
NEW_ROWS = 1_000
COLUMNS = 2048
WIDTH = 0.5
NOISE = 0.01


def records() -> Iterator[dict[str, Any]]:
    """Few rows three times, many rows once."""
    title = f"mean and standard deviation, D = {COLUMNS}, {NEW_ROWS:,} new rows"
    for rows in ROWS:
        runs = 3 if rows < 10_000 else 1
        yield from timed(title, group(rows), threads=1, dtype="float64", rows=rows, runs=runs, warm=False)


def group(rows: int) -> Group:
    """The same kernel, ratio of noise to signal, and rows."""
    X = sphere(rows + NEW_ROWS, 8)
    y = np.sin(5 * X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(len(X))
    train, new, targets = X[:rows], X[rows:], y[:rows] - y[:rows].mean()
    feature_map = ORF(Gaussian(WIDTH), COLUMNS, random_state=0)
    Z = feature_map.fit(train).transform(train)
    ours = KRR(feature_map=feature_map, alphas=NOISE, ridge="lambda")
    exact = GaussianProcessRegressor(RBF(WIDTH), alpha=NOISE, optimizer=None)
    return {
        "limit: one Gram matrix": lambda: dsyrk(1.0, Z.T, lower=True) is None,
        "rflib KRR": lambda: ours.fit(train, targets).predict(new, return_std=True) is None,
        "scikit-learn GaussianProcessRegressor": lambda: (
            exact.fit(train, targets).predict(new, return_std=True) is None
        ),
    }
