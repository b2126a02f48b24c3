"""Ridge regression with cross-validation on given features: ours, Ridge under GridSearchCV, one Gram matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from streaming import stream
from timing import Group, settings, sphere, timed

from rflib.kernels import Gaussian
from rflib.learners import KRR
from rflib.maps import RFF

ROWS = 60_000
COLUMNS = 2048
ALPHAS = (0.05, 0.1, 0.5, 1.0)
FOLDS = 5


def records() -> Iterator[dict[str, Any]]:
    """All precisions and threads on a tenth of the rows; one on all of them."""
    title = f"ridge, D = {COLUMNS}, {FOLDS} folds, {len(ALPHAS)} ridges"
    for threads, dtype in settings():
        yield from timed(title, group(ROWS // 10, dtype), threads=threads, dtype=dtype, rows=ROWS // 10)
    yield from timed(title, group(ROWS, "float32"), threads=2, dtype="float32", rows=ROWS, warm=False)


def group(rows: int, dtype: str) -> Group:
    """The same features, targets, folds and ridges."""
    X = sphere(rows, 16, dtype)
    y = np.sin(5 * X[:, 0].astype(np.float64)) + np.random.default_rng(0).standard_normal(rows)
    Z = RFF(Gaussian(), COLUMNS, random_state=0).fit(X).transform(X)
    syrk = ssyrk if dtype == "float32" else dsyrk
    ours = KRR(alphas=ALPHAS, ridge="lambda", cv=FOLDS)
    theirs = GridSearchCV(Ridge(solver="cholesky"), {"alpha": ALPHAS}, cv=FOLDS)
    return {
        "limit: one Gram matrix": lambda: syrk(1.0, Z.T, lower=True) is None,
        "rflib KRR": lambda: ours.fit(Z, y) is None,
        "rflib KRR, a stream of ten blocks": lambda: stream(ours, Z, y, rows // 10).alpha_ is None,
        "scikit-learn GridSearchCV(Ridge)": lambda: theirs.fit(Z, y) is None,
    }
