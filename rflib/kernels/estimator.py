"""What estimators with a parameter ``kernel`` share: maps and exact-kernel learners."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from rflib.kernels.base import Kernel
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.radial_function import KernelLike, RadialFunction, picklable, takes_one_array
from rflib.validation import refuse


class KernelEstimator(BaseEstimator):
    """Base of estimators with a parameter ``kernel``, whose own parameters are set as ``kernel__sigma``."""

    kernel: KernelLike
    kernel_: Kernel

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the kernel.

        Raises
        ------
        ValueError
            For an unknown parameter, a value out of a kernel's range, or a parameter of no kernel.
        """
        nested = [name for name in params if name.startswith("kernel__")]
        if nested and not isinstance(kernel := params.get("kernel", self.kernel), Kernel):
            raise ValueError(
                f"{type(self).__name__}: {nested[0]} cannot be set, because kernel is {kernel!r}. Give the "
                "estimator a kernel that has parameters first, such as kernel=Gaussian()."
            )
        super().set_params(**params)
        return self

    def _resolved_kernel(self) -> Kernel:
        """Return the kernel that the parameter ``kernel`` stands for.

        None is the default, a kernel is itself, and any other callable is the profile of a `RadialFunction`: what
        it means is the same in maps and learners.

        Raises
        ------
        ValueError
            For anything else.
        """
        if self.kernel is None:
            return self._default_kernel()
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if isinstance(self.kernel, type) or not takes_one_array(self.kernel):
            refuse(
                self,
                "kernel",
                "None, a kernel such as Gaussian(sigma=1.0), or a function of one array, the distances (for a "
                "function of two matrices of rows, subclass rflib.kernels.base.Kernel)",
            )
        return RadialFunction(self.kernel)

    def _default_kernel(self) -> Kernel:
        return Gaussian()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"kernel": picklable(state["kernel"])} if "kernel" in state else state
