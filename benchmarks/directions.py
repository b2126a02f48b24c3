"""Frame directions at s = 8 d: the thin factor beside the paper's whole orthogonal matrix of order 2 s."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import THREADS, timed

from rflib.frequencies.directions import frame, orthogonal

DIMENSION = 256
S = 8 * DIMENSION


def records() -> Iterator[dict[str, Any]]:
    """Records for one and two threads."""
    rng = np.random.default_rng(0)
    order = 2 * S
    group = {
        "limit: the Gaussian numbers": lambda: rng.standard_normal((order, DIMENSION)),
        "rflib frame": lambda: frame(order, DIMENSION, rng),
        "rflib orthogonal blocks": lambda: orthogonal(order, DIMENSION, rng),
        "QR of the whole matrix": lambda: np.linalg.qr(rng.standard_normal((order, order)))[0][:DIMENSION],
    }
    for threads in THREADS:
        title = f"directions, d = {DIMENSION}, {order} of them"
        yield from timed(title, group, threads=threads, dtype="float64", rows=0, warm=False)
