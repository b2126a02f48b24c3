"""Gaussian (RBF) kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.validation import check_number


@dataclass(frozen=True)
class Gaussian(RadialKernel):
    """k(x, y) = exp(-||x - y||^2 / (2 sigma^2)); spectral measure N(0, I / sigma^2).

    Parameters
    ----------
    sigma : float
        Bandwidth, in the units of the inputs. (Liu et al. 2020 write exp(-z^2 / sigma^2).)
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_number(self, "sigma", above=0)

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative)."""
        return np.exp(-0.5 * (np.asarray(z) / self.sigma) ** 2)
