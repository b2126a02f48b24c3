"""The dual systems of ridge regression with an exact kernel, for conjugate gradients without the kernel matrix."""

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows
from rflib.learners.conjugate_gradients import Columns, LowRank, Matrix
from rflib.learners.kernel_products import KernelProducts
from rflib.maps.landmarks import pivoted_cholesky

# Columns of the preconditioner for n rows: so many times the root of n.
_RANK = 6


class KernelSystems:
    """The systems (S K S + c I) x = S t, where S^2 are weights of the rows, which may leave out some of them.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel.
    X : ndarray or csr_array of shape (n, d)
        Rows, in double precision.
    rng : Generator
        Draws the pivots of the preconditioner.
    """

    def __init__(self, kernel: Kernel, X: Rows, rng: np.random.Generator):
        n = X.shape[0]
        self.products = KernelProducts(kernel, X)
        self.has_single = self.products.has_single
        rank = min(n, int(np.ceil(_RANK * np.sqrt(n))))
        _, factor, signs = pivoted_cholesky(kernel.absolute(), X, rank, rng)
        self._factor = factor if (signs > 0).all() else factor[:, signs > 0]

    def use(self, weights: Matrix, of: Columns, sizes: NDArray[np.float64]) -> None:
        """Choose the systems by weights (n_weights, n), and for each column the number of its weights and c."""
        self._scales, self._of, self.sizes = np.sqrt(weights), of, sizes
        self._low_rank = LowRank(self._factor, self._scales)

    def sides(self, targets: Matrix) -> Matrix:
        """Return the right-hand sides (n, n_weights, t) for targets of that shape."""
        return self._scales.T[:, :, None] * targets

    def units(self) -> float:
        """Return what `WeightedSystems` says: K (K + c I)^-1 shrinks residuals."""
        return 1.0

    def coefficients(self, solutions: Matrix) -> Matrix:
        """Return what `values` takes, for solutions (n, n_weights, ...) of all systems."""
        return self._scales.T.reshape(*self._scales.T.shape, *[1] * (solutions.ndim - 2)) * solutions

    def values(self, coefficients: Matrix) -> Matrix:
        """Return the values (n, k) at all rows of dual coefficients (n, k)."""
        return self.products(coefficients, single=False)

    def product(self, V: Matrix, columns: Columns, *, single: bool) -> Matrix:
        """Return S K S v for each column v of V, whose systems are these."""
        scales = self._scales[self._of[columns]].T
        return scales * self.products(scales * V, single=single)

    def precondition(self, V: Matrix, columns: Columns) -> Matrix:
        """Return about (S K S + c I)^-1 v for each column v of V, whose systems are these."""
        return self._low_rank(V, self._of[columns], self.sizes[columns])
