"""MercerFeatures beside the maps that a user would take instead: fit and transform, with the rotation to the axes.

The rows are normal, and their standard deviations fall along axes that are not the input columns. Both Nystroem
maps have fewer columns, because the time of their fits grows with the third power of this number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem as PeerNystroem
from sklearn.kernel_approximation import RBFSampler
from timing import DTYPES, timed

from rflib.kernels import Gaussian
from rflib.maps import MVORF, ORF, RFF, MercerFeatures, Nystroem

ROWS = 20_000
COLUMNS, LANDMARKS = 4096, 1024
DIMENSIONS = 16, 256


def records() -> Iterator[dict[str, Any]]:
    """Records for both precisions on one thread."""
    for d in DIMENSIONS:
        for dtype in DTYPES:
            X, maps = rows(d, dtype), transformers(d)
            for what in ("fit", "transform"):
                group = {name: partial(getattr(each, what), X) for name, each in maps.items()}
                title = f"MercerFeatures, d = {d}, D = {COLUMNS:,}, {what}"
                yield from timed(title, group, threads=1, dtype=dtype, rows=ROWS, runs=1)


def rows(d: int, dtype: str) -> np.ndarray:
    """Normal rows whose standard deviations along rotated axes fall from 2 to 0.1."""
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return ((rng.standard_normal((ROWS, d)) * np.linspace(2, 0.1, d)) @ rotation).astype(dtype)


def transformers(d: int) -> dict[str, Any]:
    """The maps for a Gaussian kernel as wide as the median distance; RFF, to which ratios are taken, is first."""
    width = np.sqrt(2 * (np.linspace(2, 0.1, d) ** 2).sum())
    kernel, gamma = Gaussian(width), 1 / (2 * width**2)
    few = f"{LANDMARKS:,} columns"
    return {
        "rflib RFF": RFF(kernel, COLUMNS, random_state=0),
        "rflib MercerFeatures": MercerFeatures(kernel, COLUMNS, random_state=0),
        "rflib ORF": ORF(kernel, COLUMNS, random_state=0),
        "rflib MVORF": MVORF(kernel, COLUMNS, random_state=0),
        f"rflib Nystroem, {few}": Nystroem(kernel, LANDMARKS, random_state=0),
        "scikit-learn RBFSampler": RBFSampler(gamma=gamma, n_components=COLUMNS, random_state=0),
        f"scikit-learn Nystroem, {few}": PeerNystroem(gamma=gamma, n_components=LANDMARKS, random_state=0),
    }
