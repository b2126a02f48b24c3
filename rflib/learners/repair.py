"""How an indefinite similarity is repaired by its spectrum: the training matrix, and rows that come later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

RepairName = Literal["none", "clip", "flip", "shift", "square"]
REPAIRS = get_args(RepairName)
# Negative eigenvalues as a share of the largest that count as rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Repair:
    """The repair of one training matrix K = U diag(l) U^T.

    Rows s of similarities to the training rows become s - s V diag(w) V^T ("clip", "flip") or s K ("square").

    Rows of weights m_i are treated as if each were repeated m_i times. With R = diag(sqrt(m)), the spectrum of
    their matrix is that of R K R, beside zeros, so that this is repaired in the place of K, and s R in that of s;
    the results are divided by R again.

    Attributes
    ----------
    vectors, weights : ndarrays of shape (n, n_negative) and (n_negative,)
        Eigenvectors V of negative eigenvalues, and the w.
    factor : ndarray of shape (n, n) or None
        The matrix K where rows are multiplied by it.
    shift : float
        What is added to the diagonal of the training matrix.
    roots : ndarray of shape (n,) or None
        The sqrt(m) of the training rows, where they have weights.
    """

    vectors: NDArray[np.float64]
    weights: NDArray[np.float64]
    factor: NDArray[np.float64] | None = None
    shift: float = 0.0
    roots: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, K: NDArray[np.float64], name: str, weights: NDArray[np.float64] | None = None) -> Repair:
        """Return the repair of this name (one of REPAIRS) for a symmetric training matrix (n, n).

        The weights of its rows, (n,), are above 0.
        """
        if weights is not None and name != "none":
            roots = np.sqrt(weights)
            return replace(cls.of(K * np.outer(roots, roots), name), roots=roots)
        nothing = np.empty((len(K), 0)), np.empty(0)
        if name == "none":
            return cls(*nothing)
        if name == "square":
            return cls(*nothing, factor=K)
        values, vectors = np.linalg.eigh(K)
        negative = values < -_ROUNDING * np.abs(values).max(initial=0)
        if name == "shift":
            return cls(*nothing, shift=-float(values[negative].min(initial=0)))
        return cls(vectors[:, negative], np.full(int(negative.sum()), {"clip": 1.0, "flip": 2.0}[name]))

    def rows(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return repaired similarities (m, n) of other rows to the training rows."""
        if self.roots is not None:
            return replace(self, roots=None).rows(rows * self.roots) / self.roots
        if self.factor is not None:
            return rows @ self.factor
        if not len(self.weights):
            return rows
        return rows - (rows @ self.vectors * self.weights) @ self.vectors.T

    def training(self, K: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the repaired training matrix (n, n), symmetric."""
        if self.roots is not None:
            outer = np.outer(self.roots, self.roots)
            return replace(self, roots=None).training(K * outer) / outer
        repaired = self.rows(K)
        if self.shift:
            return repaired + self.shift * np.eye(len(K))
        return repaired if repaired is K else (repaired + repaired.T) / 2
