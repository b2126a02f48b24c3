"""Cauchy kernel (a product over the coordinates)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.width import KernelWithWidth, Width


@dataclass(frozen=True)
class Cauchy(KernelWithWidth):
    """k(x, y) = prod_j 1 / (1 + gamma^2 (x_j - y_j)^2); spectral measure: Laplace(gamma) coordinates.

    Parameters
    ----------
    gamma : float, "scale", "median" or sequence of float
        One over the width; see `rflib.kernels.width.KernelWithWidth`.
    """

    width_parameter: ClassVar[str] = "gamma"
    takes_sparse: ClassVar[bool] = False  # a factor for each column, zeros included
    is_inverse: ClassVar[bool] = True

    gamma: Width = 1.0

    def __post_init__(self) -> None:
        self._check_width()

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        Y = X if Y is None else Y
        product = np.ones((len(X), len(Y)), dtype=X.dtype)
        for x, y in zip(X.T, Y.T, strict=True):
            product /= 1 + (self.single_width * np.subtract.outer(x, y)) ** 2
        return product
