"""Data-dependent scores of feature columns, and resampling of frequencies by them (liu2020)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from rflib.frequencies.draw import Frequencies


def leverage_scores(gram: NDArray[np.float64], n: int, ridge: float) -> NDArray[np.float64]:
    """Return the ridge leverage score of each column, diag(G (G + n ridge I)^-1) with G = Z^T Z, shape (D,).

    Parameters
    ----------
    gram : ndarray of shape (D, D)
        G, of features Z (n, D).
    n : int
        Number of rows.
    ridge : float
        Regularisation lambda, positive.
    """
    identity = np.eye(len(gram))
    solved = cho_solve(cho_factor(gram + n * ridge * identity), identity)
    return np.maximum(np.einsum("ij,ji->i", gram, solved), 0)


def surrogate_scores(
    moments: NDArray[np.float64], squares: NDArray[np.float64], n: int, *, add_n: bool
) -> NDArray[np.float64]:
    """Return the surrogate score of each column z_i: (y^T z_i)^2, summed over the targets, shape (D,).

    Parameters
    ----------
    moments : ndarray of shape (D, n_targets)
        Z^T Y (eq. 15).
    squares : ndarray of shape (D,)
        The ||z_i||^2.
    n : int
        Number of rows.
    add_n : bool
        Whether the matrix is y y^T + n I for each target (eq. 12), in place of y y^T.
    """
    scores: NDArray[np.float64] = (moments**2).sum(axis=1)
    return scores + n * moments.shape[1] * squares if add_n else scores


def shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return q_i = p_i / sum p.

    Raises
    ------
    ValueError
        If no score is positive.
    """
    total = scores.sum()
    if not (np.isfinite(total) and total > 0):
        raise ValueError("No frequency has a positive score: are all targets zero, or all of them equal?")
    return scores / total


def resample(frequencies: Frequencies, scores: NDArray[np.float64], n: int, rng: Generator) -> Frequencies:
    """Draw n of a pool of l equally weighted frequencies with probabilities q proportional to their scores.

    A drawn frequency has the weight (1/l) / (q n) (eq. 9), so that the estimate is unbiased for the pool's, and
    with it for the kernel.
    """
    q = shares(scores)
    chosen = rng.choice(len(q), size=n, p=q)
    return Frequencies(frequencies.vectors[chosen], frequencies.weights[chosen] / (q[chosen] * n))
