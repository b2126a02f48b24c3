"""Unit vectors: independent, orthogonal in blocks, the frame of luo2021, and low-discrepancy points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import ndtri
from scipy.stats import qmc

from rflib.frequencies.coupled import coupled_bases


def iid(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n independent uniform unit vectors, shape (n, d)."""
    return normalised(rng.standard_normal((n, d)))


def orthogonal(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n unit vectors, orthogonal within blocks of d (Yu et al. 2016), shape (n, d).

    Each block is a Haar orthogonal matrix (the last one its first rows); blocks are independent.
    """
    whole, rest = divmod(n, d)
    blocks = _haar(rng.standard_normal((whole, d, d))).swapaxes(1, 2).reshape(whole * d, d)
    if not rest:
        return blocks
    return np.concatenate([blocks, _haar(rng.standard_normal((d, rest))).T])


def coupled(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n unit vectors in whole bases of R^d, coupled as many as there are; a rest is orthogonal, (n, d).

    Each set of bases has one uniform rotation, and the sets and the rest are independent.
    """
    whole, rest = divmod(n, d)
    bases = coupled_bases(d) if whole > 1 else np.eye(d)[None]
    parts = []
    while whole:
        count = min(whole, len(bases))
        parts.append(bases[:count].reshape(-1, d) @ _haar(rng.standard_normal((d, d))))
        whole -= count
    if rest or not parts:
        parts.append(orthogonal(rest, d, rng))
    return np.concatenate(parts)


def frame(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n normalised columns of d rows of an orthogonal matrix (luo2021, eq. 10), shape (n, d).

    The matrix has the order m = max(n, 2d). Its first d rows have the law of the transposed thin Q factor
    of an (m, d) Gaussian matrix, which costs O(m d^2) in place of O(m^3).
    """
    return normalised(_haar_columns(rng.standard_normal((max(n, 2 * d), d)))[:n])


def halton(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n scrambled Halton points, taken to the sphere by normal quantiles, shape (n, d)."""
    return normalised(ndtri(points("halton", n, d, rng)))


def sobol(n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n scrambled Sobol points, taken to the sphere by normal quantiles, shape (n, d)."""
    return normalised(ndtri(points("sobol", n, d, rng)))


def points(sequence: str, n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Return n points of the open unit cube, shape (n, d), each of them uniform.

    ``sequence`` is "iid", or "halton" or "sobol" (scipy.stats.qmc, scrambled; of Sobol's sequence the first n
    of the next power of two).
    """
    if sequence == "iid":
        u = rng.random((n, d))
    elif sequence == "halton":
        u = qmc.Halton(d, scramble=True, rng=rng).random(n)
    else:
        u = qmc.Sobol(d, scramble=True, rng=rng).random_base2(max(n - 1, 1).bit_length())[:n]
    return np.clip(u, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)


def _haar(gaussian: NDArray) -> NDArray:
    """Q factors with a positive diagonal of R, so that square ones follow Haar's measure (Mezzadri 2007)."""
    if gaussian.shape[0] == 0:
        return gaussian
    q, r = np.linalg.qr(gaussian)
    sign = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return q * sign[..., None, :]


def _haar_columns(gaussian: NDArray) -> NDArray:
    """The same for a tall matrix, by two Cholesky QR steps: matrix products alone (Yamamoto et al. 2015).

    With twice as many rows as columns a Gaussian matrix is well conditioned, as that needs.
    """
    q = gaussian
    for _ in range(2):
        upper = cholesky(q.T @ q, check_finite=False)
        q = solve_triangular(upper, q.T, trans="T", overwrite_b=True, check_finite=False).T
    return q


def normalised(vectors: NDArray) -> NDArray:
    """Return the rows divided by their norms."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


DIRECTIONS: dict[str, Callable[[int, int, Generator], NDArray[np.float64]]] = {
    "iid": iid,
    "orthogonal": orthogonal,
    "coupled": coupled,
    "frame": frame,
    "halton": halton,
    "sobol": sobol,
}
