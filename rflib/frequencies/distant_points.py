"""Directions whose distances sum to the most, which are spread over the sphere more evenly than random ones.

The mean of a function over points u_1, ..., u_n of the unit sphere and their antipodes differs from its mean over
the sphere by at most its norm in a Sobolev space times the discrepancy of the points, which is least where the
distances between all 2n points sum to the most (Brauchart, Saff, Sloan and Womersley, *QMC designs*, Mathematics
of Computation 2014). Hertrich, Jahn and Quellmalz slice kernels along such points (*Fast summation of radial
kernels via QMC slicing*, ICLR 2025).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

_STEPS = 200
# The sum is convex, so that a step by the whole gradient never lowers it. In d dimensions, steps that are d / 1.5
# times as long are stable too.
_STEP = 1.5


@lru_cache(maxsize=16)
def distant_points(n: int, d: int) -> NDArray[np.float64]:
    """Return n unit vectors of R^d that are far from each other and from their antipodes, shape (n, d).

    They are found by steps towards the gradient of the sum of distances, from fixed orthogonal bases.
    """
    bases = ortho_group.rvs(d, -(-n // d), random_state=np.random.default_rng(0))
    points = bases.reshape(-1, d)[:n]
    for _ in range(_STEPS):
        cosines = points @ points.T
        np.fill_diagonal(cosines, 0)
        apart, opposite = (1 / np.sqrt(np.maximum(2 + 2 * sign * cosines, 1e-12)) for sign in (-1, 1))
        inverse = (apart + opposite).sum(axis=1, keepdims=True) * min(1, _STEP / d)
        points = inverse * points - (apart - opposite) @ points
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points
