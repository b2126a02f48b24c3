"""Exact kernels and exact leave-one-out: ours, scikit-learn's, and features of xGPR where that is installed.

The entries of a group have the same kernel, ridge and rows. Sizes are small; ``EXACT_ROWS=100000 python
benchmarks/run.py exact`` times our conjugate gradients alone with more rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from timing import Group, timed

from rflib.kernels import Gaussian
from rflib.learners import KRR, ExactKRR

ROWS, COLUMNS = 4096, 1024
DIMENSION, WIDTH = 18, 4.0
ALPHA = 1e-4
ALPHAS = np.geomspace(1e-6, 1, 6)


def records() -> Iterator[dict[str, Any]]:
    """Leave-one-out on features, and one ridge with the exact kernel."""
    title = f"leave-one-out, D = {COLUMNS}, {len(ALPHAS)} ridges"
    for rows in (COLUMNS // 2, ROWS):
        yield from timed(title, leave_one_out(rows), threads=1, dtype="float64", rows=rows, runs=3)
    title = f"Gaussian kernel, d = {DIMENSION}, alpha = {ALPHA:g}"
    if rows := int(os.environ.get("EXACT_ROWS", "0")):
        entries = {
            "rflib ExactKRR, cg": fit(ExactKRR(Gaussian(WIDTH), alphas=ALPHA, solver="cg"), *data(rows))
        }
        yield from timed(title, entries, threads=2, dtype="float64", rows=rows, runs=1, warm=False)
        return
    for threads in (1, 2):
        yield from timed(title, exact(ROWS), threads=threads, dtype="float64", rows=ROWS, runs=3)


def data(rows: int, columns: int = DIMENSION) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows, and a function of three columns with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    return X, np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(rows)


def fit(learner: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """A call that fits."""
    return lambda: learner.fit(X, y) is None


def leave_one_out(rows: int) -> Group:
    """The same ridges. The limit is what no exact method does without: a Gram matrix and its eigenvectors."""
    Z, y = data(rows, COLUMNS)
    Z /= np.sqrt(COLUMNS)
    short = Z.T if rows < COLUMNS else Z
    return {
        "limit: Gram matrix and eigenvectors": lambda: (
            eigh(dsyrk(1.0, short.T, lower=True), driver="evd") is None
        ),
        "rflib KRR": fit(KRR(alphas=ALPHAS), Z, y),
        "rflib KRR, 5 folds": fit(KRR(alphas=ALPHAS, cv=5), Z, y),
        "scikit-learn RidgeCV": fit(RidgeCV(ALPHAS * rows, fit_intercept=False), Z, y - y.mean()),
    }


def exact(rows: int) -> Group:
    """The same kernel and ridge; xGPR has random features."""
    X, y = data(rows)
    ridge, centred = ALPHA * rows, y - y.mean()
    kernel = Gaussian(WIDTH)
    found: Group = {
        "limit: the kernel matrix": lambda: kernel(X) is None,
        "rflib ExactKRR, direct": fit(ExactKRR(kernel, alphas=ALPHA, solver="direct"), X, y),
        "rflib ExactKRR, cg": fit(ExactKRR(kernel, alphas=ALPHA, solver="cg"), X, y),
        "scikit-learn KernelRidge": fit(
            KernelRidge(alpha=ridge, kernel="rbf", gamma=0.5 / WIDTH**2), X, centred
        ),
        "scikit-learn GaussianProcessRegressor": fit(
            GaussianProcessRegressor(RBF(WIDTH), alpha=ridge, optimizer=None), X, centred
        ),
    }
    if find_spec("xGPR"):
        import xGPR

        def fit_peer() -> bool:
            peer = xGPR.xGPRegression(num_rffs=2048, variance_rffs=512, kernel_choice="RBF", verbose=False)
            rows_of_peer = xGPR.build_regression_dataset(X, centred)
            peer.set_hyperparams(np.log(np.array([np.sqrt(ridge), 1 / WIDTH])), rows_of_peer)
            peer.fit(rows_of_peer, mode="cg")
            return False

        found["xGPR xGPRegression"] = fit_peer
    return found
