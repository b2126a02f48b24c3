"""Nystroem: ours and scikit-learn's, fit and transform, beside the two matrix products that it cannot avoid.

One of these is with a triangular matrix, because the kernel is positive definite.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs
from sklearn.kernel_approximation import Nystroem as Peer
from timing import Group, settings, sphere, timed

from rflib.kernels import Gaussian
from rflib.maps import Nystroem

ROWS = 20_000
LANDMARKS = 1024
DIMENSION = 64


def records() -> Iterator[dict[str, Any]]:
    """Records for all precisions and threads."""
    for threads, dtype in settings():
        X = sphere(ROWS, DIMENSION, dtype)
        title = f"Nystroem, d = {DIMENSION}, D = {LANDMARKS}, fit and transform"
        yield from timed(title, group(X), threads=threads, dtype=dtype, rows=ROWS)


def group(X: np.ndarray) -> Group:
    """The same kernel and landmarks as many."""
    W = np.asfortranarray(np.random.default_rng(0).standard_normal((LANDMARKS, LANDMARKS)).astype(X.dtype))
    trmm = get_blas_funcs("trmm", (W,))
    maps = {
        "rflib Nystroem": Nystroem(Gaussian(), LANDMARKS, random_state=0),
        "rflib Nystroem, kmeans": Nystroem(Gaussian(), LANDMARKS, landmarks="kmeans", random_state=0),
        "rflib Nystroem, rpcholesky": Nystroem(Gaussian(), LANDMARKS, landmarks="rpcholesky", random_state=0),
        "scikit-learn Nystroem": Peer(gamma=0.5, n_components=LANDMARKS, random_state=0),
    }
    found: Group = {
        "limit: a full and a triangular matrix product": lambda: trmm(
            1.0, W, (X @ X[:LANDMARKS].T).T, lower=True
        ),
    }
    for name, transformer in maps.items():
        found[name] = lambda transformer=transformer: transformer.fit(X).transform(X)
    return found
