"""Scores of columns on the training rows, and resampling of frequencies by these scores (liu2020)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from rflib.frequencies.draw import Frequencies


def leverage_scores(gram: NDArray[np.float64], n: int, ridge: float) -> NDArray[np.float64]:
    """Return the ridge leverage score of each column, shape (D,).

    The scores are diag(G (G + n ridge I)^-1) with the matrix ``gram`` G = Z^T Z of features Z (n, D).
    """
    identity = np.eye(len(gram))
    solved = cho_solve(cho_factor(gram + n * ridge * identity), identity)
    return np.maximum(np.einsum("ij,ji->i", gram, solved), 0)


def surrogate_scores(
    moments: NDArray[np.float64], squares: NDArray[np.float64], n: int, *, add_n: bool
) -> NDArray[np.float64]:
    """Return the surrogate leverage score of each column, shape (D,).

    The score of the column z_i is the sum of (y^T z_i)^2 over the targets y (liu2020, equation 15). Given are
    the matrix ``moments`` Z^T Y (D, n_targets), the squared norms ``squares`` ||z_i||^2 (D,), and the number n of
    rows. With ``add_n``, y y^T + n I (equation 12) stands for y y^T.
    """
    scores: NDArray[np.float64] = (moments**2).sum(axis=1)
    return scores + n * moments.shape[1] * squares if add_n else scores


def shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores divided by their sum.

    Raises
    ------
    ValueError
        If no score is positive.
    """
    total = scores.sum()
    if not (np.isfinite(total) and total > 0):
        raise ValueError(
            "No frequency has a positive score: are all targets zero, or all of them equal, or are all rows "
            "equal? Check y and X."
        )
    return scores / total


def resample(frequencies: Frequencies, scores: NDArray[np.float64], n: int, rng: Generator) -> Frequencies:
    """Draw n frequencies from a pool of l equally weighted ones, with probabilities q in proportion to scores.

    A drawn frequency has the weight (1/l) / (q n) (liu2020, equation 9). So the estimate is unbiased for that of
    the pool, and therefore for the kernel.
    """
    q = shares(scores)
    chosen = rng.choice(len(q), size=n, p=q)
    return Frequencies(frequencies.vectors[chosen], frequencies.weights[chosen] / (q[chosen] * n))
