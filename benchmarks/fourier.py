"""Fourier features beside the matrix product alone, product and np.cos in cache blocks, and RBFSampler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from timing import Group, settings, sphere, timed

from rflib.kernels import Gaussian, SphericalPolynomial
from rflib.maps import MVORF, ORF, RFF, SORF, MomentMatching, QuadratureRFF

ROWS = 20_000
COLUMNS = 4096
BLOCK = 256


def records() -> Iterator[dict[str, Any]]:
    """Records for few and many input columns, all precisions and threads."""
    for d in (16, 256):
        for threads, dtype in settings():
            X = sphere(ROWS, d, dtype)
            title = f"Fourier features, d = {d}, D = {COLUMNS}"
            yield from timed(title, group(X), threads=threads, dtype=dtype, rows=ROWS)


def group(X: np.ndarray) -> Group:
    """All with the same number of columns."""
    W = np.random.default_rng(0).standard_normal((X.shape[1], COLUMNS)).astype(X.dtype)
    maps = {
        "rflib RFF, phases": RFF(Gaussian(), COLUMNS, layout="phase", random_state=0),
        "rflib RFF": RFF(Gaussian(), COLUMNS, random_state=0),
        "rflib ORF": ORF(Gaussian(), COLUMNS, random_state=0),
        "rflib SORF": SORF(Gaussian(), COLUMNS, random_state=0),
        "rflib MomentMatching": MomentMatching(Gaussian(), COLUMNS, random_state=0),
        "rflib QuadratureRFF": QuadratureRFF(Gaussian(), COLUMNS, random_state=0),
        "rflib MVORF": MVORF(SphericalPolynomial(4, 10), COLUMNS, random_state=0),
        "rflib MVORF, Gaussian": MVORF(Gaussian(0.5), COLUMNS, random_state=0),
        "scikit-learn RBFSampler": RBFSampler(gamma=0.5, n_components=COLUMNS, random_state=0),
    }
    found: Group = {
        "limit: product and np.cos in cache blocks": lambda: blocked(X, W),
        "product": lambda: X @ W,
    }
    for name, transformer in maps.items():
        fitted = transformer.fit(X[:1000])
        found[name] = lambda fitted=fitted: fitted.transform(X)
    return found


def blocked(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The cosines of the product, block by block in place."""
    out = np.empty((len(X), W.shape[1]), dtype=X.dtype)
    for start in range(0, len(X), BLOCK):
        part = np.matmul(X[start : start + BLOCK], W, out=out[start : start + BLOCK])
        np.cos(part, out=part)
    return out
