"""Delta-Gaussian kernel: a signed combination of Gaussians, in general indefinite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel, require_positive


@dataclass(frozen=True)
class DeltaGaussian(RadialKernel):
    """k(x, y) = sum_i a_i exp(-||x - y||^2 / (2 sigma_i^2)) (Luo et al. 2021, eq. 19).

    Parameters
    ----------
    coefficients : tuple of float
        The a_i, of either sign, none of them zero.
    sigmas : tuple of float
        Bandwidths, as many as coefficients.
    """

    coefficients: tuple[float, ...] = (1.0, -1.0)
    sigmas: tuple[float, ...] = (1.0, 10.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", tuple(float(a) for a in self.coefficients))
        object.__setattr__(self, "sigmas", tuple(float(s) for s in self.sigmas))
        if not self.sigmas or len(self.coefficients) != len(self.sigmas):
            raise ValueError(
                f"DeltaGaussian needs as many coefficients as sigmas, got {self.coefficients}, {self.sigmas}."
            )
        for sigma in self.sigmas:
            require_positive(self, sigma=sigma)
        if not all(np.isfinite(a) and a != 0 for a in self.coefficients):
            raise ValueError(
                f"DeltaGaussian: coefficients must be finite and not zero, got {self.coefficients}."
            )

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative)."""
        half_square = 0.5 * np.asarray(z) ** 2
        terms = (a * np.exp(-half_square / s**2) for a, s in zip(self.coefficients, self.sigmas, strict=True))
        return sum(terms, start=np.zeros_like(half_square, dtype=float))
