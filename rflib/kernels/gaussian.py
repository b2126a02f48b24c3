"""The Gaussian (RBF) kernel."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.namespaces import Array, as_array, namespace
from rflib.kernels.width import KernelWithWidth, Width


@dataclass(frozen=True)
class Gaussian(KernelWithWidth, RadialKernel):
    """The Gaussian (RBF) kernel is k(x, y) = exp(-||x - y||^2 / (2 sigma^2)).

    Its spectral measure is the normal distribution N(0, I / sigma^2) (Rahimi and Recht, *Random features for
    large-scale kernel machines*, NIPS 2007, figure 1). Some papers, such as Liu et al. 2020, write the kernel as
    exp(-||x - y||^2 / sigma^2); their sigma is sqrt(2) times the one here.

    Parameters
    ----------
    sigma : float, "scale", "median" or sequence of float, default=1.0
        Bandwidth, in units of the inputs; see `rflib.kernels.width.KernelWithWidth`.

    Raises
    ------
    ValueError
        If ``sigma`` is none of these, or not above 0.

    See Also
    --------
    Matern : A rougher kernel.
    DeltaGaussian : A difference of Gaussians, which is indefinite.
    sklearn.gaussian_process.kernels.RBF : The same kernel, with length_scale for sigma.
    sklearn.metrics.pairwise.rbf_kernel : The same kernel, with gamma = 1 / (2 sigma^2).

    Examples
    --------
    >>> from rflib.kernels import Gaussian
    >>> kernel = Gaussian(sigma=2.0)
    >>> kernel([[0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    width_parameter: ClassVar[str] = "sigma"
    is_product: ClassVar[bool] = True
    definite_on = "all"
    matern_order = inf

    sigma: Width = 1.0

    def __post_init__(self) -> None:
        self._check_width()

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z."""
        xp, distances = as_array(z)
        return xp.exp(-0.5 * (distances / self.single_width) ** 2)

    def on_line(self, z: Array) -> Array:
        """Return the factor of one column at the differences z, in the shape of z."""
        scaled = z * (0.5**0.5 / self.single_width)
        return namespace(z).exp(-scaled * scaled)
