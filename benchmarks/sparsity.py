"""Sparse rows: ours, RBFSampler and PolynomialCountSketch, beside the product of the rows with as many directions.

The rows are like adult's (123 columns, 14 ones a row), and 5,000 and 50,000 columns of which 50 are not zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, random_array
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from timing import Group, timed

from rflib.kernels import Gaussian, Polynomial
from rflib.maps import RFF, Nystroem, OptimizedMaclaurin, RandomMaclaurin, TensorSketch

ROWS = 20_000
WIDE = 50_000
COLUMNS = 512
# The peer's sketch takes the columns one by one: on more of them it takes minutes, however few rows there are.
SKETCHED_BY_PEER = 5_000


def records() -> Iterator[dict[str, Any]]:
    """All threads and precisions on rows like adult's, one of each on the wide ones."""
    title = f"sparse rows like adult's, d = 123, D = {COLUMNS}, p = 2"
    for threads, dtype in ((1, "float64"), (2, "float64"), (2, "float32")):
        X = like_adult(dtype)
        yield from timed(title, group(X), threads=threads, dtype=dtype, rows=ROWS)
    for d in (SKETCHED_BY_PEER, WIDE):
        X = random_array((ROWS, d), density=50 / d, format="csr", rng=np.random.default_rng(0))
        title = f"sparse rows, d = {d:,}, {50 / d:.1%} filled, D = {COLUMNS}, p = 2"
        yield from timed(title, group(X), threads=2, dtype="float64", rows=ROWS, runs=3)


def like_adult(dtype: str) -> csr_array:
    """Rows with 14 ones among 123 columns."""
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.random((ROWS, 123)).argsort(axis=1)[:, :14], axis=1)
    starts = 14 * np.arange(ROWS + 1)
    return csr_array((np.ones(chosen.size, dtype=dtype), chosen.ravel(), starts), shape=(ROWS, 123))


def group(X: csr_array) -> Group:
    """All with the same number of columns."""
    W = np.random.default_rng(0).standard_normal((X.shape[1], COLUMNS)).astype(X.dtype)
    theirs: dict[str, Any] = {"RBFSampler": RBFSampler(gamma=0.05, n_components=COLUMNS, random_state=0)}
    if X.shape[1] <= SKETCHED_BY_PEER:
        theirs["PolynomialCountSketch"] = PolynomialCountSketch(
            degree=2, coef0=1, n_components=COLUMNS, random_state=0
        )
    kernel, seed = Polynomial(degree=2, coef0=1.0), {"n_components": COLUMNS, "random_state": 0}
    ours = {
        "RFF": RFF(Gaussian(10**0.5), **seed),
        "RFF, phases": RFF(Gaussian(10**0.5), layout="phase", **seed),
        "TensorSketch": TensorSketch(kernel, **seed),
        "RandomMaclaurin": RandomMaclaurin(kernel, **seed),
        "OptimizedMaclaurin": OptimizedMaclaurin(kernel, **seed),
        "Nystroem": Nystroem(Gaussian(10**0.5), **seed),
    }
    fitted = {f"rflib {name}": each.fit(X) for name, each in ours.items()}
    fitted |= {f"scikit-learn {name}": each.fit(X) for name, each in theirs.items()}
    limit: Group = {"limit: one product with sparse rows": lambda: X @ W}
    return limit | {name: (lambda each=each: each.transform(X)) for name, each in fitted.items()}
