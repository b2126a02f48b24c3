"""What estimators with a parameter ``kernel`` share: maps and exact-kernel learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

from rflib.kernels.base import Kernel
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.radial_function import KernelLike, RadialFunction
from rflib.kernels.signature import n_arrays, picklable
from rflib.kernels.similarity import PRECOMPUTED, Precomputed, Similarity
from rflib.keywords import Keywords
from rflib.sklearn_bases import BaseEstimator
from rflib.validation import refuse


class KernelEstimator(Keywords, BaseEstimator):
    """Base class of estimators with a parameter ``kernel``, whose parameters are set as ``kernel__sigma``."""

    _takes_similarities: ClassVar[bool] = False

    kernel: KernelLike
    kernel_: Kernel

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator and of its kernel, and return the estimator.

        Raises
        ------
        ValueError
            If a parameter is unknown, if a value is not valid for the kernel, or if a parameter of the kernel is
            set while ``kernel`` is not a kernel object.
        """
        nested = [name for name in params if name.startswith("kernel__")]
        if nested and not isinstance(kernel := params.get("kernel", self.kernel), Kernel):
            raise ValueError(
                f"{type(self).__name__}: {nested[0]} cannot be set, because kernel is {kernel!r}. First give the "
                "estimator a kernel that has parameters, such as kernel=Gaussian()."
            )
        super().set_params(**params)
        return self

    def _resolved_kernel(self) -> Kernel:
        """Return the kernel that the parameter ``kernel`` means, by the same rules in all maps and learners.

        None means the default kernel, and a kernel means itself. A function of one array is the profile of a
        `RadialFunction`, a function of the distance. Estimators that accept any similarity know two more values: a
        function of two arrays is a `Similarity` k(X, Y) of rows, and "precomputed" means `Precomputed`.

        Raises
        ------
        ValueError
            If ``kernel`` is anything else.
        """
        kernel = self.kernel
        if kernel is None:
            return self._default_kernel()
        if isinstance(kernel, Kernel):
            return kernel
        arrays = n_arrays(kernel)
        if arrays == 1:
            return RadialFunction(cast(Callable[..., Any], kernel))
        words = "None, a kernel such as Gaussian(sigma=1.0), "
        if not self._takes_similarities:
            refuse(
                self,
                "kernel",
                f"{words}or a function of one array, the distances (Nystroem and the exact learners take a "
                "function of two matrices of rows, k(X, Y), and 'precomputed')",
            )
        if arrays == 2:
            return Similarity(cast(Callable[..., Any], kernel))
        if not isinstance(kernel, str) or kernel != PRECOMPUTED:
            others = "a function of one array, the distances, or a function of two matrices of rows, k(X, Y)"
            refuse(self, "kernel", f"{words}{PRECOMPUTED!r}, {others}")
        return Precomputed()

    @property
    def _kernel_takes_sparse(self) -> bool:
        try:
            return self._resolved_kernel().takes_sparse
        except ValueError:  # which `fit` raises
            return False

    def _default_kernel(self) -> Kernel:
        return Gaussian("scale")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"kernel": picklable(state["kernel"])} if "kernel" in state else state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = self.kernel if self._takes_similarities else None
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == PRECOMPUTED
        return tags
