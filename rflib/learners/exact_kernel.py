"""What the learners with an exact kernel share: the kernel between training and other rows, and its repair."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from rflib.kernels.base import Kernel
from rflib.kernels.estimator import KernelEstimator
from rflib.kernels.similarity import Lookup
from rflib.kernels.sparse_rows import Rows
from rflib.kernels.width_warning import warn_of_width
from rflib.learners.checked_rows import CheckedRows
from rflib.learners.repair import REPAIRS, Repair, RepairName
from rflib.validation import check_choice


class ExactKernelEstimator(CheckedRows, KernelEstimator):
    """Base class of learners that store ``kernel_`` and, unless that is precomputed, their rows ``X_fit_``."""

    _row_types: ClassVar[Any] = np.float64

    _takes_similarities: ClassVar[bool] = True

    repair: RepairName
    repair_: Repair
    X_fit_: Rows
    # The training rows with weight.
    _counted: slice | NDArray[np.intp]

    def _check_parameters(self) -> None:
        self._resolved_kernel()
        check_choice(self, "repair", REPAIRS)

    @property
    def _accepted_sparse(self) -> str | bool:
        return "csr" if self._kernel_takes_sparse else False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._kernel_takes_sparse
        return tags

    def _fit_kernel(self, X: Rows, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Store the kernel and the checked training rows with weight; return their unrepaired kernel matrix."""
        return self._matrix_of(*self._keep_rows(X, weights))

    def _matrix_of(self, kernel: Kernel, rows: Rows) -> NDArray[np.float64]:
        """Return the unrepaired kernel matrix of what `_keep_rows` returns."""
        known: NDArray[np.float64] | None = getattr(kernel, "similarities", None)
        K = kernel(rows).astype(np.float64, copy=False) if known is None else known
        warn_of_width(self.kernel_, rows if known is None else known, K)
        return K

    def _keep_rows(self, X: Rows, weights: NDArray[np.float64] | None = None) -> tuple[Kernel, Rows]:
        """Store the kernel and the checked training rows with weight; return a kernel of rows and the rows.

        Precomputed similarities are looked up by the numbers of rows.
        """
        self._counted = slice(None) if weights is None else np.flatnonzero(weights)
        kernel = self._resolved_kernel()
        if kernel.is_precomputed:
            self.kernel_ = kernel
            K = kernel(X)[self._counted][:, self._counted].astype(np.float64, copy=False)
            return Lookup(K), np.arange(float(len(K)))[:, None]
        self.X_fit_ = rows = X[self._counted].copy()  # the user may fill the array with other rows
        self.kernel_ = kernel.for_rows(rows, None if weights is None else weights[self._counted])
        return self.kernel_, rows

    def _repaired(
        self, K: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Store the repair of the training matrix of rows with weight, and return the repaired matrix."""
        self.repair_ = Repair.of(K, self.repair, weights)
        return self.repair_.training(K)

    def _kernel_to_training_rows(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the repaired kernel between rows and the training rows."""
        check_is_fitted(self)
        return self._kernel_of(self._rows(X))

    def _kernel_of(self, rows: Rows) -> NDArray[np.float64]:
        """Return the repaired kernel between checked rows and the training rows."""
        if self.kernel_.is_precomputed:
            rows = rows[:, self._counted]
        else:
            known = self.X_fit_
            if issparse(rows) != issparse(known):
                rows, known = csr_array(rows), csr_array(known)
            rows = self.kernel_(rows, known).astype(np.float64, copy=False)
        return self.repair_.rows(rows)
