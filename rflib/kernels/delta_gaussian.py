"""Delta-Gaussian kernel: a signed combination of Gaussians, in general indefinite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import refuse


@dataclass(frozen=True)
class DeltaGaussian(KernelWithWidth, RadialKernel):
    """k(x, y) = sum_i a_i exp(-||x - y||^2 / (2 width^2 sigma_i^2)) (Luo et al. 2021, eq. 19, has width 1).

    Parameters
    ----------
    coefficients : sequence of float
        The a_i, of either sign, none of them zero.
    sigmas : sequence of float
        Bandwidths in units of the width, as many as coefficients.
    width : float, "scale", "median" or sequence of float
        The unit of the bandwidths; see `rflib.kernels.width.KernelWithWidth`.
    """

    width_parameter: ClassVar[str] = "width"

    coefficients: Sequence[float] = (1.0, -1.0)
    sigmas: Sequence[float] = (1.0, 10.0)
    width: Width = 1.0

    def __post_init__(self) -> None:
        for name in ("coefficients", "sigmas"):
            values = getattr(self, name)
            if not isinstance(values, Iterable) or not all(
                isinstance(v, Real) and np.isfinite(float(v)) and v != 0 for v in values
            ):
                refuse(self, name, "finite numbers, none of them zero")
            object.__setattr__(self, name, tuple(float(v) for v in values))
        if not self.sigmas or min(self.sigmas) < 0:
            refuse(self, "sigmas", "one or more numbers above 0")
        if len(self.coefficients) != len(self.sigmas):
            refuse(self, "coefficients", f"as many numbers as sigmas {self.sigmas!r}")
        self._check_width()

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative)."""
        half_square = 0.5 * np.asarray(z, dtype=np.float64) ** 2
        pairs = zip(self.coefficients, self.scaled_sigmas, strict=True)
        terms = (a * np.exp(-half_square / s**2) for a, s in pairs)
        return sum(terms, start=np.zeros_like(half_square))

    @property
    def scaled_sigmas(self) -> tuple[float, ...]:
        """The bandwidths in the units of the inputs."""
        return tuple(self.single_width * s for s in self.sigmas)
