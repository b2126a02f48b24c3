"""Matrices of Euclidean distances and a Gaussian kernel: ours and scikit-learn's, beside scipy's differences.

scipy's cdist keeps all digits too, and scikit-learn's expansion of squares does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances as peer
from sklearn.metrics.pairwise import rbf_kernel
from timing import DTYPES, Group, timed

from rflib.kernels import Gaussian
from rflib.kernels.distances import euclidean_distances

ROWS = (2000, 5000)
DIMENSIONS = (4, 16, 256)


def records() -> Iterator[dict[str, Any]]:
    """All precisions on one thread, because cdist has no more: dense rows, and rows of which 1 % is not zero."""
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        for n in ROWS:
            for d in DIMENSIONS:
                X, Y = rng.standard_normal((2, n, d)).astype(dtype)
                yield from timed(f"distances, d = {d}", group(X, Y), threads=1, dtype=dtype, rows=n)
            X, Y = (random_array((n, 1000), density=0.01, format="csr", rng=rng).astype(dtype) for _ in "XY")
            yield from timed("distances, 1 % of 1,000 columns", group(X, Y), threads=1, dtype=dtype, rows=n)


def group(X: Any, Y: Any) -> Group:
    """The same distances, and the same kernel."""
    found: Group = {
        "scikit-learn euclidean_distances": lambda: peer(X, Y),
        "rflib": lambda: euclidean_distances(X, Y),
        "scikit-learn euclidean_distances of X": lambda: peer(X),
        "rflib, of X": lambda: euclidean_distances(X),
        "scikit-learn rbf_kernel": lambda: rbf_kernel(X, Y, gamma=0.5),
        "rflib Gaussian": lambda: Gaussian()(X, Y),
    }
    if not isinstance(X, csr_array):
        found["scipy cdist"] = lambda: cdist(X, Y)
    return found
