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
    ours = Nystroem(Gaussian(), LANDMARKS, random_state=0)
    chosen = {
        landmarks: Nystroem(Gaussian(), LANDMARKS, landmarks=landmarks, random_state=0)
        for landmarks in ("kmeans", "rpcholesky")
    }
    theirs = Peer(gamma=0.5, n_components=LANDMARKS, random_state=0)
    return {
        "limit: a full and a triangular matrix product": lambda: trmm(
            1.0, W, (X @ X[:LANDMARKS].T).T, lower=True
        ),
        "rflib Nystroem": lambda: ours.fit(X).transform(X),
        **{
            f"rflib Nystroem, {landmarks}": lambda feature_map=feature_map: feature_map.fit(X).transform(X)
            for landmarks, feature_map in chosen.items()
        },
        "scikit-learn Nystroem": lambda: theirs.fit(X).transform(X),
    }
