"""Sketches of a polynomial kernel: ours and PolynomialCountSketch, beside the matrix product of the same shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch
from timing import Group, settings, sphere, timed

from rflib.kernels import SphericalPolynomial
from rflib.maps import OptimizedMaclaurin, PolySketch, RandomMaclaurin, TensorSketch

ROWS = 20_000
COLUMNS = 4096
DEGREE = 3


def records() -> Iterator[dict[str, Any]]:
    """All precisions and threads on a tenth of the rows, for which the peer takes seconds; one on all of them."""
    for d in (16, 256):
        title = f"polynomial sketches, d = {d}, D = {COLUMNS}, p = {DEGREE}"
        for threads, dtype in settings():
            X = sphere(ROWS // 10, d, dtype)
            yield from timed(title, group(X), threads=threads, dtype=dtype, rows=len(X))
        X = sphere(ROWS, d)
        yield from timed(title, group(X), threads=2, dtype="float64", rows=ROWS, warm=False)


def group(X: np.ndarray) -> Group:
    """All with the same number of columns."""
    W = np.random.default_rng(0).standard_normal((X.shape[1], COLUMNS)).astype(X.dtype)
    kernel = SphericalPolynomial(4, DEGREE)
    sketch = TensorSketch(kernel, COLUMNS, random_state=0).fit(X)
    maclaurin = RandomMaclaurin(kernel, COLUMNS, random_state=0).fit(X)
    tree = PolySketch(kernel, COLUMNS, random_state=0).fit(X)
    optimized = OptimizedMaclaurin(kernel, COLUMNS, random_state=0).fit(X)
    theirs = PolynomialCountSketch(degree=DEGREE, coef0=7, n_components=COLUMNS, random_state=0).fit(X)
    return {
        "limit: one matrix product": lambda: X @ W,
        "rflib TensorSketch": lambda: sketch.transform(X),
        "rflib PolySketch": lambda: tree.transform(X),
        "rflib RandomMaclaurin": lambda: maclaurin.transform(X),
        "rflib OptimizedMaclaurin": lambda: optimized.transform(X),
        "scikit-learn PolynomialCountSketch": lambda: theirs.transform(X),
    }
