"""Rules for directions: independent, orthogonal in blocks, the frame of luo2021, or low-discrepancy points.

A rule is a function of the number n of directions, the dimension d and a source of randomness. It returns n unit
vectors, shape (n, d).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import ortho_group, qmc

# The memory of scipy's Halton points grows with the square of the dimension; there are Sobol points up to 21,201.
_MOST_DIMENSIONS = {"halton": 5_001, "sobol": 21_201}
# In higher dimensions orthogonal directions are about as far apart, and the search takes seconds.
_MOST_SEARCHED = 100
# The sum of distances is convex, so that a step by the whole gradient never lowers it. In d dimensions, steps that
# are d / 1.5 times as long are stable too.
_STEPS, _STEP = 200, 1.5


def iid(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n independent uniform unit vectors, shape (n, d)."""
    return normalised(rng.standard_normal((n, d)))


def orthogonal(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n unit vectors that are orthogonal within blocks of d, shape (n, d).

    Blocks are independent, and each is an orthogonal matrix with the Haar distribution (Yu et al., *Orthogonal
    random features*, NIPS 2016). The last block may have only the first rows of such a matrix.
    """
    whole, rest = divmod(n, d)
    blocks = _haar(rng.standard_normal((whole, d, d))).swapaxes(1, 2).reshape(whole * d, d)
    if not rest:
        return blocks
    return np.concatenate([blocks, _haar(rng.standard_normal((d, rest))).T])


def distance(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n unit vectors that are as far apart as possible, with one uniform rotation, shape (n, d).

    Up to d of them, and those of more than 100 or of one dimension, are orthogonal in blocks
    (`distant_points`).
    """
    if n <= d or not 1 < d <= _MOST_SEARCHED:
        return orthogonal(n, d, rng)
    return distant_points(n, d) @ _haar(rng.standard_normal((d, d)))


@lru_cache(maxsize=16)
def distant_points(n: int, d: int) -> NDArray[np.float64]:
    """Return n unit vectors of R^d that are far from each other and from their antipodes, shape (n, d).

    They are found by steps towards the gradient of the sum of distances, from fixed orthogonal bases. Points whose
    distances sum to the most have the least discrepancy (Brauchart, Saff, Sloan and Womersley, *QMC designs*,
    Mathematics of Computation 2014). Hertrich, Jahn and Quellmalz slice kernels along such points (*Fast summation
    of radial kernels via QMC slicing*, ICLR 2025).
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


def frame(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n normalised columns of the first d rows of a random orthogonal matrix, shape (n, d).

    This is the frame of luo2021 (equation 10). The matrix has the order m = max(n, 2d). Its first d rows have the
    distribution of the transposed thin Q factor of an (m, d) Gaussian matrix.
    """
    return normalised(_haar(rng.standard_normal((max(n, 2 * d), d)))[:n])


def low_discrepancy(sequence: str, n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n `points` of a scrambled sequence, mapped to the sphere by normal quantiles, shape (n, d)."""
    return normalised(ndtri(points(sequence, n, d, rng)))


def points(sequence: str, n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n points in the open unit cube, each of them uniformly distributed, shape (n, d).

    ``sequence`` is "iid" for independent points, or "halton" or "sobol" for a scrambled sequence of
    ``scipy.stats.qmc``. Of a Sobol sequence, the first n of the next power of two are returned.

    Raises
    ------
    ValueError
        If the sequence has fewer than d dimensions, or its memory would grow beyond some gigabytes.
    """
    if d > (most := _MOST_DIMENSIONS.get(sequence, d)):
        raise ValueError(
            f"Points of the sequence {sequence!r} have at most {most:,} coordinates, but {d:,} are needed, one "
            "for each input column and one more where norms are drawn too. Use orthogonal directions, as ORF "
            "does, or reduce the number of input columns."
        )
    if sequence == "iid":
        u = rng.random((n, d))
    elif sequence == "halton":
        u = qmc.Halton(d, scramble=True, rng=rng).random(n)
    else:
        u = qmc.Sobol(d, scramble=True, rng=rng).random_base2(max(n - 1, 1).bit_length())[:n]
    return np.clip(u, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)


def _haar(gaussian: NDArray) -> NDArray:
    """Return Q factors for which R has a positive diagonal; square ones are Haar-distributed (Mezzadri 2007)."""
    if gaussian.shape[0] == 0:
        return gaussian
    q, r = np.linalg.qr(gaussian)
    sign = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return q * sign[..., None, :]


def normalised(vectors: NDArray) -> NDArray:
    """Return the rows divided by their norms."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


DIRECTIONS: dict[str, Callable[[int, int, Generator], NDArray[np.float64]]] = {
    "iid": iid,
    "orthogonal": orthogonal,
    "distance": distance,
    "frame": frame,
    "halton": partial(low_discrepancy, "halton"),
    "sobol": partial(low_discrepancy, "sobol"),
}
