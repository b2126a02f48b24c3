"""What the exact-kernel learners share: the kernel between their training rows and other rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.kernels.estimator import KernelEstimator


class ExactKernelEstimator(KernelEstimator):
    """Base of the learners that keep the training rows as ``X_fit_`` and the kernel as ``kernel_``."""

    X_fit_: NDArray[np.float64]

    def _check_parameters(self) -> None:
        self._resolved_kernel()

    def _fit_kernel(self, X: NDArray) -> NDArray[np.float64]:
        """Keep the kernel and the checked training rows, and return the kernel matrix."""
        self.kernel_, self.X_fit_ = self._resolved_kernel().for_rows(X), X
        return self.kernel_(X).astype(np.float64, copy=False)

    def _kernel_to_training_rows(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self.kernel_(rows, self.X_fit_).astype(np.float64, copy=False)
