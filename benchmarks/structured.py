"""Structured directions (H S_1 H S_2 H S_3, random signs and Walsh-Hadamard transforms) beside the matrix product.

They need d log d operations a block of d columns in place of d^2; the question is from which d on they win.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from timing import sphere, timed

DIMENSIONS = (64, 256, 1024, 4096)
COLUMNS = 4096
ROWS = 2000


def records() -> Iterator[dict[str, Any]]:
    """Records for each number of input columns, in float32."""
    for d in DIMENSIONS:
        X = sphere(ROWS, d, "float32")
        rng = np.random.default_rng(0)
        W = rng.standard_normal((d, COLUMNS)).astype("float32")
        signs = rng.choice(np.array([-1, 1], dtype="float32"), (COLUMNS // d, 3, d))
        out = np.empty((ROWS, COLUMNS), dtype="float32")
        group = {
            "limit: one matrix product": lambda X=X, W=W, out=out: np.matmul(X, W, out=out).size,
            "three signed Hadamard transforms, compiled": lambda X=X, s=signs, out=out: _transform(X, s, out),
        }
        yield from timed(f"structured directions, d = {d}", group, threads=1, dtype="float32", rows=ROWS)


@numba.njit(fastmath=True)
def _transform(X, signs, out):
    """Each block of d columns of ``out`` is H S_3 H S_2 H S_1 x."""
    n, d = X.shape
    for i in range(n):
        for b in range(signs.shape[0]):
            z = out[i, b * d : (b + 1) * d]
            z[:] = X[i]
            for turn in range(3):
                z *= signs[b, turn]
                half = 1
                while half < d:
                    for start in range(0, d, 2 * half):
                        for j in range(start, start + half):
                            u, v = z[j], z[j + half]
                            z[j], z[j + half] = u + v, u - v
                    half *= 2
    return out.size
