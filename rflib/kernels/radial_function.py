"""A user's own kernel of the distance, from its profile alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from joblib import wrap_non_picklable_objects
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel, RadialKernel
from rflib.validation import check_flag, refuse

# A kernel, its profile as a function of the distance, or None for a default: see `as_kernel`.
KernelLike = Kernel | Callable[[NDArray], NDArray] | None


@dataclass(frozen=True)
class RadialFunction(RadialKernel):
    """k(x, y) = profile(||x - y||), definite or not.

    Parameters
    ----------
    profile : callable
        Maps an array of distances (n,) to the array of the kernel's values (n,).
    unit_norm : bool
        Whether the kernel is defined only for rows of unit norm (distances in [0, 2]).
    """

    profile: Callable[[NDArray], NDArray]
    unit_norm: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not _takes_one_array(self.profile):
            refuse(self, "profile", "a function of one array, the distances")
        check_flag(self, "unit_norm")

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative).

        Raises
        ------
        ValueError
            If the profile returns another shape than that of its argument.
        """
        z = np.asarray(z, dtype=np.float64)
        value = np.asarray(self.profile(z.ravel()))
        if value.shape != (z.size,):
            raise ValueError(
                f"The kernel's profile returned shape {value.shape} for distances of shape ({z.size},). A "
                "callable kernel is a function of the distance; subclass Kernel for a function of two matrices."
            )
        return value.reshape(z.shape)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "profile": picklable(self.profile)}

    def __deepcopy__(self, memo: dict[int, Any]) -> RadialFunction:
        return RadialFunction(deepcopy(self.profile, memo), self.unit_norm)


def as_kernel(owner: object, default: Kernel) -> Kernel:
    """Return the kernel that an estimator's parameter ``kernel`` stands for.

    None is the default, a kernel is itself, and any other callable is the profile of a `RadialFunction`: what it
    means is the same in maps and learners.

    Raises
    ------
    ValueError
        For anything else.
    """
    kernel = getattr(owner, "kernel")  # noqa: B009
    if kernel is None:
        return default
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) or not _takes_one_array(kernel):
        refuse(
            owner,
            "kernel",
            "None, a kernel such as Gaussian(sigma=1.0), or a function of one array, the distances (for a "
            "function of two matrices of rows, subclass rflib.kernels.base.Kernel)",
        )
    return RadialFunction(kernel)


def picklable(value: Any) -> Any:
    """Return a function that has no name to import it by, such as a lambda, so that it is pickled by value."""
    if isinstance(value, FunctionType) and "<" in value.__qualname__:
        return wrap_non_picklable_objects(value, keep_wrapper=False)
    return value


def _takes_one_array(function: object) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(np.empty(0))
    except TypeError:
        return False
    except ValueError:  # a compiled function may have no signature
        return True
    return True
