"""What the exact-kernel learners share: the kernel between their training rows and other rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rflib.kernels.gaussian import Gaussian
from rflib.kernels.radial_function import KernelLike, as_kernel


class ExactKernelEstimator(BaseEstimator):
    """Base of the learners that keep the training rows as ``X_fit_``."""

    kernel: KernelLike
    X_fit_: NDArray[np.float64]

    def _check_parameters(self) -> None:
        as_kernel(self, default=Gaussian())

    def _kernel_of(self, X: NDArray, Y: NDArray | None = None) -> NDArray[np.float64]:
        return as_kernel(self, default=Gaussian())(X, Y).astype(np.float64, copy=False)

    def _kernel_to_training_rows(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._kernel_of(validate_data(self, X, dtype=np.float64, reset=False), self.X_fit_)
