"""Linear SVM on dense features of usps, ten classes: ours with both solvers, and scikit-learn's LinearSVC.

Needs the data set (RFLIB_MIRRORS names folders or addresses tried before the official one).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC
from timing import Group, timed

from rflib.datasets.fetch import fetch
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.kernels import SphericalPolynomial
from rflib.learners import LinearSVM
from rflib.maps import MVORF

COLUMNS = 4096
C = 1.0
TOLERANCE = 1e-4


def records() -> Iterator[dict[str, Any]]:
    """All rows in single precision; a quarter of them in both, with one and two threads."""
    X, y = usps()
    title = f"linear SVM, ten classes of usps, D = {COLUMNS}, C = {C:g}"
    for threads, dtype, rows in ((1, "float32", len(X)), (1, "float64", 2000), (2, "float32", 2000)):
        found = group(X[:rows].astype(dtype), y[:rows])
        yield from timed(title, found, threads=threads, dtype=dtype, rows=rows, warm=False)


def usps() -> tuple[np.ndarray, np.ndarray]:
    """The training rows, of unit norm, and labels."""
    with TemporaryDirectory() as folder:
        mirrors = [mirror for mirror in os.environ.get("RFLIB_MIRRORS", "").split(":") if mirror]
        fetch("usps_digits", folder, mirrors)
        prepare("usps_digits", folder, Path(folder) / "prepared")
        rows = load(Path(folder) / "prepared", preprocess="unit_norm")
    return rows.X_train, rows.y_train


def group(X: np.ndarray, y: np.ndarray) -> Group:
    """The same features, objective and C; each returns the objective that it reached."""
    Z = MVORF(SphericalPolynomial(4, 10), COLUMNS, random_state=0).fit(X).transform(X)
    solvers = {
        "limit: one product with all weights": None,
        "rflib LinearSVM, newton": LinearSVM(C=C, solver="newton", tol=TOLERANCE, fit_intercept=False),
        "rflib LinearSVM, liblinear": LinearSVM(C=C, tol=TOLERANCE, fit_intercept=False, random_state=0),
        "scikit-learn LinearSVC": LinearSVC(C=C, dual="auto", tol=TOLERANCE, fit_intercept=False),
    }
    W = np.zeros((len(np.unique(y)), Z.shape[1]), dtype=Z.dtype)
    return {
        name: (lambda: Z @ W.T)
        if solver is None
        else (lambda solver=solver: objective(solver.fit(Z, y), Z, y))
        for name, solver in solvers.items()
    }


def objective(model: Any, Z: np.ndarray, y: np.ndarray) -> float:
    """The sum over classes of |w|^2 / 2 + C times the squared hinge losses."""
    sign = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    margin = 1 - sign * (Z.astype(np.float64) @ model.coef_.T)
    norms = (model.coef_.astype(np.float64) ** 2).sum()
    return float(norms / 2 + C * (np.maximum(margin, 0) ** 2).sum())
