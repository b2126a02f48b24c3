"""The rational quadratic kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.namespaces import as_array
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import check_number


@dataclass(frozen=True)
class RationalQuadratic(KernelWithWidth, RadialKernel):
    """The rational quadratic kernel is k(z) = (1 + z^2 / (2 alpha length_scale^2))^(-alpha).

    z is the Euclidean distance. It is a mixture of Gaussian kernels of all widths: the mean of exp(-g z^2 / 2),
    where g length_scale^2 has the gamma distribution of shape alpha and mean 1. For large alpha it is the Gaussian
    kernel.

    Parameters
    ----------
    alpha : float, default=1.0
        Shape of the mixture, above 0: the smaller it is, the farther the kernel reaches.
    length_scale : float, "scale", "median" or sequence of float, default=1.0
        Width, in units of the inputs; see `rflib.kernels.width.KernelWithWidth`.

    Raises
    ------
    ValueError
        If ``alpha`` is not above 0, or the width is not valid.

    See Also
    --------
    Gaussian : The limit of large alpha.
    sklearn.gaussian_process.kernels.RationalQuadratic : The same kernel.

    References
    ----------
    Rasmussen, Williams: Gaussian processes for machine learning, 2006, equation 4.19.

    Examples
    --------
    >>> from rflib.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0, length_scale=2.0).at_distance([0.0, 2.0, 4.0]).round(4)
    array([1.    , 0.6667, 0.3333])
    """

    width_parameter: ClassVar[str] = "length_scale"
    definite_on = "all"

    alpha: float = 1.0
    length_scale: Width = 1.0

    def __post_init__(self) -> None:
        check_number(self, "alpha", above=0)
        self._check_width()

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z."""
        xp, distances = as_array(z)
        t = distances / self.single_width
        return xp.exp(-self.alpha * xp.log1p(t * t / (2 * self.alpha)))
