"""A user's own kernel of the distance, from its profile alone."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel, RadialKernel
from rflib.kernels.signature import n_arrays, picklable
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import check_flag, refuse

# A kernel, a function, "precomputed" where it is taken, or None for a default: see `KernelEstimator`.
KernelLike = Kernel | Callable[..., NDArray] | Literal["precomputed"] | None


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
        if n_arrays(self.profile) != 1:
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
                "function of one array is a kernel's profile k(z); one of two, k(X, Y), is a similarity of rows."
            )
        return value.reshape(z.shape)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "profile": picklable(self.profile)}

    def __deepcopy__(self, memo: dict[int, Any]) -> RadialFunction:
        return RadialFunction(deepcopy(self.profile, memo), self.unit_norm, self.width)
