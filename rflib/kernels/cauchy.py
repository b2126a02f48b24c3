"""The Cauchy kernel, a product over the input columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rflib.kernels.namespaces import Array, ones
from rflib.kernels.width import KernelWithWidth, Width


@dataclass(frozen=True)
class Cauchy(KernelWithWidth):
    """The Cauchy kernel is k(x, y) = prod_j 1 / (1 + gamma^2 (x_j - y_j)^2).

    Its spectral measure has independent coordinates with the Laplace distribution of scale gamma.

    Parameters
    ----------
    gamma : float, "scale", "median" or sequence of float, default=1.0
        The inverse of the width, in inverse units of the inputs; see `rflib.kernels.width.KernelWithWidth`.

    Raises
    ------
    ValueError
        If ``gamma`` is none of these, or not above 0.

    See Also
    --------
    Laplacian : Another product over the input columns.
    RationalQuadratic : A function of the Euclidean distance with slow decay.

    References
    ----------
    Rahimi, Recht: Random features for large-scale kernel machines, NIPS 2007, figure 1.

    Examples
    --------
    >>> from rflib.kernels import Cauchy
    >>> Cauchy(gamma=1.0)([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]).round(4)
    array([[0.5 , 0.25]])
    """

    width_parameter: ClassVar[str] = "gamma"
    takes_sparse: ClassVar[bool] = False  # every column has a factor, even where both rows are zero
    is_inverse: ClassVar[bool] = True
    is_product: ClassVar[bool] = True
    definite_on = "all"

    gamma: Width = 1.0

    def __post_init__(self) -> None:
        self._check_width()

    def on_line(self, z: Array) -> Array:
        """Return the factor of one column at the differences z, in the shape of z."""
        return 1 / (1 + (self.single_width * z) ** 2)

    def _matrix(self, X: Array, Y: Array | None) -> Array:
        Y = X if Y is None else Y
        kernel, factors = self.by_column(X.shape[1])
        gammas = np.full(X.shape[1], kernel.single_width) if factors is None else factors
        product = ones((X.shape[0], Y.shape[0]), X)
        for j, gamma in enumerate(gammas.tolist()):
            product /= 1 + (gamma * (X[:, j, None] - Y[None, :, j])) ** 2
        return product
