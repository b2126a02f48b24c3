"""Data-dependent scores of frequencies, and resampling by them (liu2020)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from rflib.frequencies.sample import Frequencies


def leverage_scores(Z: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Return the ridge leverage score of each column, diag(Z^T Z (Z^T Z + n ridge I)^-1), shape (D,).

    Parameters
    ----------
    Z : ndarray of shape (n, D)
        Features.
    ridge : float
        Regularisation lambda, positive.
    """
    n, D = Z.shape
    gram = Z.T @ Z
    factor = cho_factor(gram + n * ridge * np.eye(D))
    return np.maximum(np.einsum("ij,ji->i", gram, cho_solve(factor, np.eye(D))), 0)


def surrogate_scores(Z: NDArray[np.float64], Y: NDArray[np.float64], *, add_n: bool) -> NDArray[np.float64]:
    """Return the surrogate score of each column, (sum_j y_j z(x_j))^2, shape (D,) (eq. 15).

    Several targets (n, k) add up. With ``add_n`` each score has n more, the term of eq. 12 that stands for the
    identity matrix beside y y^T.
    """
    scores = ((Z.T @ Y) ** 2).sum(axis=1)
    return scores + len(Z) if add_n else scores


def resample(frequencies: Frequencies, scores: NDArray[np.float64], n: int, rng: Generator) -> Frequencies:
    """Draw n of a pool of l equally weighted frequencies with probabilities q proportional to their scores.

    A drawn frequency has the weight (1/l) / (q n), so that the estimate is unbiased for the pool's, and with
    it for the kernel (eq. 8).

    Raises
    ------
    ValueError
        If no score is positive.
    """
    total = scores.sum()
    if not (np.isfinite(total) and total > 0):
        raise ValueError("No frequency has a positive score: are all targets zero?")
    q = scores / total
    chosen = rng.choice(len(q), size=n, p=q)
    return Frequencies(frequencies.vectors[chosen], frequencies.weights[chosen] / (q[chosen] * n))
