"""Gaussian (RBF) kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.width import KernelWithWidth, Width


@dataclass(frozen=True)
class Gaussian(KernelWithWidth, RadialKernel):
    """k(x, y) = exp(-||x - y||^2 / (2 sigma^2)); spectral measure N(0, I / sigma^2).

    Parameters
    ----------
    sigma : float, "scale", "median" or sequence of float
        Bandwidth, in the units of the inputs; see `rflib.kernels.width.KernelWithWidth`. (Liu et al. 2020 write
        exp(-z^2 / sigma^2).)
    """

    width_parameter: ClassVar[str] = "sigma"

    sigma: Width = 1.0

    def __post_init__(self) -> None:
        self._check_width()

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative)."""
        return np.exp(-0.5 * (np.asarray(z) / self.single_width) ** 2)
