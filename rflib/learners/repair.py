"""How an indefinite similarity is repaired by its spectrum: the training matrix, and rows that come later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REPAIRS = ("none", "clip", "flip", "shift", "square")
# Negative eigenvalues as a share of the largest that count as rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Repair:
    """The repair of one training matrix K = U diag(l) U^T.

    Rows s of similarities to the training rows become s - s V diag(w) V^T ("clip", "flip") or s K ("square").

    Attributes
    ----------
    vectors, weights : ndarrays of shape (n, n_negative) and (n_negative,)
        Eigenvectors V of negative eigenvalues, and the w.
    factor : ndarray of shape (n, n) or None
        The matrix K where rows are multiplied by it.
    shift : float
        What is added to the diagonal of the training matrix.
    """

    vectors: NDArray[np.float64]
    weights: NDArray[np.float64]
    factor: NDArray[np.float64] | None = None
    shift: float = 0.0

    @classmethod
    def of(cls, K: NDArray[np.float64], name: str) -> Repair:
        """Return the repair of this name (one of REPAIRS) for a symmetric training matrix (n, n)."""
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
        if self.factor is not None:
            return rows @ self.factor
        if not len(self.weights):
            return rows
        return rows - (rows @ self.vectors * self.weights) @ self.vectors.T

    def training(self, K: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the repaired training matrix (n, n), symmetric."""
        repaired = self.rows(K)
        if self.shift:
            return repaired + self.shift * np.eye(len(K))
        return repaired if repaired is K else (repaired + repaired.T) / 2
