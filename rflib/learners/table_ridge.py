"""Ridge regression on the features of a table, whose variances have what the features lack of the kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.learners.krr import KRR

# Less of k(x, x) may be rounding of single precision.
_ROUNDING = 1e-5


class TableRidge(KRR):
    """`KRR` of features that begin with those of a kernel with k(x, x) = 1, and are of other kernels besides.

    Attributes
    ----------
    n_kernel_columns_ : int
        Number of the features of the kernel. What these lack of k(x, x) belongs to the prior, so that
        deviations grow to its own far from the training rows, as with a map inside of `KRR`.
    """

    n_kernel_columns_: int = 0

    def _lack(self, block: Any, Z: NDArray) -> NDArray[np.float64]:
        near = Z[:, : self.n_kernel_columns_]
        lack = 1 - np.einsum("nd,nd->n", near, near, dtype=np.float64)
        return np.where(lack > _ROUNDING, lack, 0.0) if self.n_kernel_columns_ else np.zeros(len(Z))
