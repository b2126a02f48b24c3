"""Matern kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, kve

from rflib.kernels.base import RadialKernel, require_positive


@dataclass(frozen=True)
class Matern(RadialKernel):
    """k(z) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) z / length_scale.

    Its spectral measure is a multivariate t distribution with 2 nu degrees of freedom
    (Rasmussen & Williams 2006, eq. 4.14 and 4.15); nu = 1/2 is exp(-z / length_scale).
    """

    nu: float = 1.5
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, nu=self.nu, length_scale=self.length_scale)

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative)."""
        t = np.sqrt(2 * self.nu) * np.asarray(z, dtype=float) / self.length_scale
        value = np.ones_like(t)
        away = t > 1e-10
        u = t[away]
        log_bessel = np.log(kve(self.nu, u)) - u
        value[away] = np.exp((1 - self.nu) * np.log(2) - gammaln(self.nu) + self.nu * np.log(u) + log_bessel)
        return value
