"""Laplacian kernel (of the 1-norm)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import manhattan_distances

from rflib.kernels.sparse_rows import Rows
from rflib.kernels.width import KernelWithWidth, Width


@dataclass(frozen=True)
class Laplacian(KernelWithWidth):
    """k(x, y) = exp(-gamma ||x - y||_1); spectral measure: independent Cauchy coordinates of scale gamma.

    Parameters
    ----------
    gamma : float, "scale", "median" or sequence of float
        One over the width, of which the distance is the 1-norm; see `rflib.kernels.width.KernelWithWidth`.
    """

    width_parameter: ClassVar[str] = "gamma"
    is_inverse: ClassVar[bool] = True
    one_norm: ClassVar[bool] = True

    gamma: Width = 1.0

    def __post_init__(self) -> None:
        self._check_width()

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        return np.exp(-self.single_width * manhattan_distances(X, Y))
