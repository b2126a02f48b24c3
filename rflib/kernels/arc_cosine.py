"""Arc-cosine and neural tangent kernels of networks with ReLU-like units, on the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.validation import check_choice, check_integer


def _kappa0(t: NDArray) -> NDArray:
    return 1 - np.arccos(t) / np.pi


def _kappa1(t: NDArray) -> NDArray:
    return (np.sqrt(1 - t**2) + t * (np.pi - np.arccos(t))) / np.pi


def _cosine(z: ArrayLike) -> NDArray:
    """Inner product of two unit vectors at distance z."""
    return np.clip(1 - np.asarray(z, dtype=float) ** 2 / 2, -1, 1)


@dataclass(frozen=True)
class ArcCosine(RadialKernel):
    """Arc-cosine kernel (Cho & Saul 2009, eq. 3) on rows of unit norm, scaled so that k(x, x) = 1.

    Parameters
    ----------
    order : {0, 1}
        0 stands for a layer of step functions, 1 for one of rectified linear units.
    """

    unit_norm: ClassVar[bool] = True

    order: int = 1

    def __post_init__(self) -> None:
        check_choice(self, "order", (0, 1))

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z in [0, 2]."""
        return (_kappa0, _kappa1)[self.order](_cosine(z))


@dataclass(frozen=True)
class NeuralTangent(RadialKernel):
    """Neural tangent kernel of a ReLU network with ``depth`` hidden layers, scaled so that k(x, x) = 1.

    Rows have unit norm. Recursion of Bietti & Mairal 2019, eq. 4: Sigma <- kappa_1(Sigma),
    Theta <- Theta kappa_0(Sigma) + Sigma.

    Parameters
    ----------
    depth : int
        Number of hidden layers, at least 1.
    """

    unit_norm: ClassVar[bool] = True

    depth: int = 1

    def __post_init__(self) -> None:
        check_integer(self, "depth", at_least=1)

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z in [0, 2]."""
        sigma = theta = _cosine(z)
        for _ in range(self.depth):
            slope = _kappa0(sigma)
            sigma = np.clip(_kappa1(sigma), -1, 1)
            theta = theta * slope + sigma
        return theta / (self.depth + 1)
