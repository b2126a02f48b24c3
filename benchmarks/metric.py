"""LearnedMetric beside the ridge regressions that it consists of, and beside other learned metrics.

The classes are the signs of two of sixteen directions. scikit-learn's metric compares all pairs of rows, and xRFM
fits exact kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from timing import Group, timed

from rflib.kernels import Gaussian
from rflib.learners import KRR, LearnedMetric
from rflib.maps import Nystroem

ROWS = 4_000
DIMENSION = 16
ROUNDS = 4


def records() -> Iterator[dict[str, Any]]:
    """Records in double precision on one thread."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, DIMENSION))
    signs = X @ np.linalg.qr(rng.standard_normal((DIMENSION, 2)))[0] > 0
    title = f"Fit of a metric, d = {DIMENSION}, four classes"
    yield from timed(title, group(X, signs @ (1, 2)), threads=1, dtype="float64", rows=ROWS, runs=1)


def group(X: np.ndarray, labels: np.ndarray) -> Group:
    """The metrics; the first entry is what LearnedMetric cannot avoid."""
    features = Nystroem(Gaussian("median"), 512, random_state=0)
    targets = np.where(labels[:, None] == np.arange(4), 1.0, -1.0)
    part = 3 * len(X) // 4

    def ridges() -> None:
        for _ in range(1 + 2 * ROUNDS):
            KRR(feature_map=features).fit(X[:part], targets[:part]).predict(X[part:])

    found: Group = {
        "limit: the ridge regressions": ridges,
        "rflib LearnedMetric": lambda: LearnedMetric(n_rounds=ROUNDS, random_state=0).fit(X, labels),
        "scikit-learn NeighborhoodComponentsAnalysis": lambda: NeighborhoodComponentsAnalysis(
            random_state=0
        ).fit(X, labels),
    }
    if find_spec("xrfm"):
        found["xrfm xRFM"] = lambda: _fit_xrfm(X, targets, part)
    return found


def _fit_xrfm(X: np.ndarray, targets: np.ndarray, part: int) -> None:
    import torch
    from xrfm import xRFM

    rows, values = torch.tensor(X, dtype=torch.float32), torch.tensor(targets, dtype=torch.float32)
    xRFM(device=torch.device("cpu")).fit(rows[:part], values[:part], rows[part:], values[part:])
