"""Cauchy kernel (a product over the coordinates)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.validation import check_number


@dataclass(frozen=True)
class Cauchy(Kernel):
    """k(x, y) = prod_j 1 / (1 + gamma^2 (x_j - y_j)^2); spectral measure: Laplace(gamma) coordinates."""

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_number(self, "gamma", above=0)

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        Y = X if Y is None else Y
        product = np.ones((len(X), len(Y)), dtype=X.dtype)
        for x, y in zip(X.T, Y.T, strict=True):
            product /= 1 + (self.gamma * np.subtract.outer(x, y)) ** 2
        return product
