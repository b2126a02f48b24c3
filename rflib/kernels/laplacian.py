"""The Laplacian kernel, a function of the 1-norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from rflib.kernels.namespaces import Array, namespace, widest
from rflib.kernels.sparse_rows import Rows, times_columns
from rflib.kernels.width import KernelWithWidth, Width


@dataclass(frozen=True)
class Laplacian(KernelWithWidth):
    """The Laplacian kernel is k(x, y) = exp(-gamma ||x - y||_1), a function of the 1-norm.

    Its spectral measure has independent coordinates with the Cauchy distribution of scale gamma.

    Parameters
    ----------
    gamma : float, "scale", "median" or sequence of float, default=1.0
        The inverse of the width, in inverse units of the inputs. The rules "scale" and "median" use 1-norm
        distances; see `rflib.kernels.width.KernelWithWidth`.

    Raises
    ------
    ValueError
        If ``gamma`` is none of these, or not above 0.

    References
    ----------
    Rahimi, Recht: Random features for large-scale kernel machines, NIPS 2007, figure 1.
    """

    width_parameter: ClassVar[str] = "gamma"
    is_inverse: ClassVar[bool] = True
    one_norm: ClassVar[bool] = True
    is_product: ClassVar[bool] = True

    gamma: Width = 1.0

    def __post_init__(self) -> None:
        self._check_width()

    def on_line(self, z: Array) -> Array:
        """Return the factor of one column at the differences z, in the shape of z."""
        return namespace(z).exp(-self.single_width * abs(z))

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        kernel, factors = self.by_column(X.shape[1])
        return namespace(X).exp(-kernel.single_width * _distances(X, X if Y is None else Y, factors))


def _distances(X: Rows, Y: Rows, factors: NDArray | None) -> Array:
    """Return distances in the 1-norm, with factors (d,) of the columns."""
    if isinstance(X, np.ndarray) and isinstance(Y, np.ndarray):
        return cdist(X, Y, "cityblock", w=factors)
    if namespace(X) is np:
        if factors is not None:
            X, Y = times_columns(widest(X), factors), times_columns(widest(Y), factors)
        return manhattan_distances(X, Y)
    # scikit-learn has array namespaces here from version 1.8 on only
    weights = np.ones(X.shape[1]) if factors is None else factors
    return sum(weight * abs(X[:, j, None] - Y[None, :, j]) for j, weight in enumerate(weights.tolist()))
