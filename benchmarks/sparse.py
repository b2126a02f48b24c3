"""Sparse rows: ours, RBFSampler and PolynomialCountSketch, beside the product of the rows with as many directions.

The rows are like adult's (123 columns, 14 ones a row), and 50,000 columns of which 0.1 % are not zero.
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


def records() -> Iterator[dict[str, Any]]:
    """On the wide rows the peer's sketch takes most of a minute, so that nothing is repeated there."""
    title = f"sparse rows like adult's, d = 123, D = {COLUMNS}, p = 2"
    for threads, dtype in ((1, "float64"), (2, "float64"), (2, "float32")):
        X = like_adult(dtype)
        yield from timed(title, group(X), threads=threads, dtype=dtype, rows=ROWS)
    X = random_array((ROWS, WIDE), density=0.001, format="csr", rng=np.random.default_rng(0))
    title = f"sparse rows, d = {WIDE:,}, 0.1 % filled, D = {COLUMNS}, p = 2"
    yield from timed(title, group(X), threads=2, dtype="float64", rows=ROWS, runs=1, warm=False)


def like_adult(dtype: str) -> csr_array:
    """Rows with 14 ones among 123 columns."""
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.random((ROWS, 123)).argsort(axis=1)[:, :14], axis=1)
    starts = 14 * np.arange(ROWS + 1)
    return csr_array((np.ones(chosen.size, dtype=dtype), chosen.ravel(), starts), shape=(ROWS, 123))


def group(X: csr_array) -> Group:
    """All with the same number of columns."""
    W = np.random.default_rng(0).standard_normal((X.shape[1], COLUMNS)).astype(X.dtype)
    # The peer's sketch of the wide rows takes minutes to fit too; its draw needs the number of columns only.
    one = csr_array((1, X.shape[1]), dtype=X.dtype)
    theirs = {
        "RBFSampler": RBFSampler(gamma=0.05, n_components=COLUMNS, random_state=0).fit(one),
        "PolynomialCountSketch": PolynomialCountSketch(
            degree=2, coef0=1, n_components=COLUMNS, random_state=0
        ).fit(one),
    }
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
    fitted |= {f"scikit-learn {name}": each for name, each in theirs.items()}
    limit: Group = {"limit: one product with sparse rows": lambda: X @ W}
    return limit | {name: (lambda each=each: each.transform(X)) for name, each in fitted.items()}
