"""Laplacian kernel (of the 1-norm)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import manhattan_distances

from rflib.kernels.base import Kernel
from rflib.validation import check_number


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, y) = exp(-gamma ||x - y||_1); spectral measure: independent Cauchy coordinates of scale gamma."""

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_number(self, "gamma", above=0)

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        return np.exp(-self.gamma * manhattan_distances(X, Y))
