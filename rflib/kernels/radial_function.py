"""A user's own kernel of the distance, from its profile alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from joblib import wrap_non_picklable_objects
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel, RadialKernel
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import check_flag, refuse

# A kernel, its profile as a function of the distance, or None for a default: see `KernelEstimator`.
KernelLike = Kernel | Callable[[NDArray], NDArray] | None


@dataclass(frozen=True)
class RadialFunction(KernelWithWidth, RadialKernel):
    """k(x, y) = profile(||x - y|| / width), definite or not.

    Parameters
    ----------
    profile : callable
        Maps an array of distances (n,) to the array of the kernel's values (n,).
    unit_norm : bool
        Whether the kernel is defined only for rows of unit norm (distances in [0, 2]).
    width : float, "scale", "median" or sequence of float
        The unit of the distances; see `rflib.kernels.width.KernelWithWidth`. Rows of unit norm have one width.
    """

    width_parameter: ClassVar[str] = "width"

    profile: Callable[[NDArray], NDArray]
    unit_norm: bool = False  # type: ignore[misc]
    width: Width = 1.0

    def __post_init__(self) -> None:
        if not takes_one_array(self.profile):
            refuse(self, "profile", "a function of one array, the distances")
        check_flag(self, "unit_norm")
        self._check_width()
        if self.unit_norm and isinstance(self.width, tuple):
            refuse(self, "width", "one number for rows of unit norm")

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative).

        Raises
        ------
        ValueError
            If the profile returns another shape than that of its argument.
        """
        z = np.asarray(z, dtype=np.float64) / self.single_width
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
        return RadialFunction(deepcopy(self.profile, memo), self.unit_norm, self.width)


def picklable(value: Any) -> Any:
    """Return a function that has no name to import it by, such as a lambda, so that it is pickled by value."""
    if isinstance(value, FunctionType) and "<" in value.__qualname__:
        return wrap_non_picklable_objects(value, keep_wrapper=False)
    return value


def takes_one_array(function: object) -> bool:
    """Whether the object is a function that can be called with one array."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(np.empty(0))
    except TypeError:
        return False
    except ValueError:  # a compiled function may have no signature
        return True
    return True
