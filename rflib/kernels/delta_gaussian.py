"""The delta-Gaussian kernel: a combination of Gaussians with coefficients of either sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.namespaces import as_array, widest
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import refuse


@dataclass(frozen=True)
class DeltaGaussian(KernelWithWidth, RadialKernel):
    """The delta-Gaussian kernel is sum_i a_i exp(-||x - y||^2 / (2 width^2 sigma_i^2)), in general indefinite.

    Parameters
    ----------
    coefficients : sequence of float, default=(1.0, -1.0)
        The a_i, of either sign. None of them may be zero.
    sigmas : sequence of float, default=(1.0, 10.0)
        The bandwidths sigma_i above 0, in units of the width, one for each coefficient.
    width : float, "scale", "median" or sequence of float, default=1.0
        The unit of the bandwidths, in units of the inputs; see `rflib.kernels.width.KernelWithWidth`.

    Raises
    ------
    ValueError
        If a coefficient is zero, a bandwidth is not above 0, their numbers differ, or the width is not valid.

    See Also
    --------
    Gaussian : One of them.
    RadialFunction : Any function of the distance.
    rflib.maps.MVORF : A map that takes indefinite kernels.

    References
    ----------
    Luo, Fang, Yang, Huang: Towards unbiased random features with lower variance for stationary indefinite kernels,
    IJCNN 2021, equation 19, where the width is 1.

    Examples
    --------
    >>> from rflib.kernels import DeltaGaussian
    >>> kernel = DeltaGaussian(coefficients=(1, -1), sigmas=(1, 10))
    >>> kernel.at_distance([0.0, 2.0, 10.0]).round(4)
    array([ 0.    , -0.8449, -0.6065])
    """

    width_parameter: ClassVar[str] = "width"
    printed_measure: ClassVar[str | None] = "exact"

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

    @property
    def definite_on(self) -> Literal["all"] | None:
        """All rows, unless a coefficient is negative."""
        return "all" if min(self.coefficients) > 0 else None

    def absolute(self) -> DeltaGaussian:
        """Return the kernel with the absolute coefficients."""
        return replace(self, coefficients=tuple(map(abs, self.coefficients)))

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z."""
        xp, distances = as_array(z)
        half_square = 0.5 * widest(distances) ** 2
        pairs = zip(self.coefficients, self.scaled_sigmas, strict=True)
        terms = (a * xp.exp(-half_square / s**2) for a, s in pairs)
        return sum(terms, start=xp.zeros_like(half_square))

    @property
    def scaled_sigmas(self) -> tuple[float, ...]:
        """The bandwidths width * sigma_i, in units of the inputs."""
        return tuple(self.single_width * s for s in self.sigmas)
