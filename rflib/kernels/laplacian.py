"""The Laplacian kernel, a function of the 1-norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from rflib.kernels.namespaces import Array, namespace, widest
from rflib.kernels.sparse_rows import Rows, row_sums, times_columns
from rflib.kernels.width import KernelWithWidth, Width

# Sparse rows whose distance is a smaller share of their norms are subtracted; so many pairs at a time.
_NEAR = 1e-3
_PAIRS = 4096


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

    See Also
    --------
    Cauchy : Another product over the input columns.
    Matern : With nu=0.5, the exponential of the Euclidean distance.
    sklearn.metrics.pairwise.laplacian_kernel : The same kernel.

    References
    ----------
    Rahimi, Recht: Random features for large-scale kernel machines, NIPS 2007, figure 1.

    Examples
    --------
    >>> from rflib.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0], [2.0, 0.0]]).round(4)
    array([[0.3679, 0.3679]])
    """

    width_parameter: ClassVar[str] = "gamma"
    is_inverse: ClassVar[bool] = True
    one_norm: ClassVar[bool] = True
    is_product: ClassVar[bool] = True
    definite_on = "all"

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
        return _manhattan(X, Y) if factors is None else _with_factors(widest(X), widest(Y), factors)
    # scikit-learn has array namespaces here from version 1.8 on only
    weights = np.ones(X.shape[1]) if factors is None else factors
    return sum(weight * abs(X[:, j, None] - Y[None, :, j]) for j, weight in enumerate(weights.tolist()))


def _manhattan(*sides: Rows) -> NDArray[Any]:
    """Return scikit-learn's distances, which takes sparse rows with indices of 32 bits only."""
    short = [
        csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)
        for rows in map(csr_array, sides)
    ]
    distances: NDArray[Any] = manhattan_distances(*short)
    return distances


def _with_factors(X: Rows, Y: Rows, factors: NDArray) -> NDArray[np.float64]:
    """Return distances of sparse rows; where rounded products would cancel, those of the differences."""
    scaled = [times_columns(rows, factors) for rows in (X, Y)]
    sizes = [row_sums(abs(rows)) for rows in scaled]
    found: NDArray[np.float64] = _manhattan(*scaled)
    i, j = np.nonzero(found < _NEAR * (sizes[0][:, None] + sizes[1]))
    for part in range(0, len(i), _PAIRS):
        pairs = i[part : part + _PAIRS], j[part : part + _PAIRS]
        found[pairs] = row_sums(times_columns(abs(X[pairs[0]] - Y[pairs[1]]), factors))
    return found
