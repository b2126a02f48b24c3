"""A kernel that is given by its profile, a function of the distance."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel, RadialKernel
from rflib.kernels.namespaces import as_array, widest
from rflib.kernels.signature import called, n_arrays, picklable
from rflib.kernels.width import KernelWithWidth, Width
from rflib.validation import check_flag, refuse

# A kernel, a function, "precomputed" for the estimators that accept it, or None for the default: see
# `KernelEstimator`.
KernelLike = Kernel | Callable[..., NDArray] | Literal["precomputed"] | None


@dataclass(frozen=True)
class RadialFunction(KernelWithWidth, RadialKernel):
    """Define a kernel by its profile: k(x, y) = profile(||x - y|| / width), definite or not.

    Parameters
    ----------
    profile : callable
        Function that takes an array of distances, in units of the width, and returns an array of kernel values.
        Both have the shape (n,). For rows of torch or CuPy it gets, and must return, arrays of theirs.
    unit_norm : bool, default=False
        Whether the kernel is defined only for rows of unit norm, whose distances are in [0, 2].
    width : float, "scale", "median" or sequence of float, default=1.0
        The unit of the distances, in units of the inputs; see `rflib.kernels.width.KernelWithWidth`. With
        ``unit_norm=True`` it cannot be a sequence.

    Raises
    ------
    ValueError
        If ``profile`` is not a function of one array, or another parameter is not valid.

    See Also
    --------
    Similarity : A function of two matrices of rows.
    rflib.maps.MVORF : A map that takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.kernels import RadialFunction
    >>> kernel = RadialFunction(lambda z: np.exp(-z) * np.cos(z))
    >>> kernel([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.1988]])
    """

    width_parameter: ClassVar[str] = "width"

    profile: Callable[[NDArray], NDArray]
    unit_norm: bool = False
    width: Width = 1.0

    def __post_init__(self) -> None:
        if n_arrays(self.profile) != 1:
            refuse(self, "profile", "a function of one array, the distances")
        check_flag(self, "unit_norm")
        self._check_width()
        if self.unit_norm and isinstance(self.width, tuple):
            refuse(self, "width", "one number where unit_norm=True")

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z.

        Raises
        ------
        ValueError
            If the profile returns an array of another shape than its argument.
        TypeError
            If the distances are of torch or CuPy, and the profile does not take them.
        """
        xp, given = as_array(z)
        distances = xp.reshape(widest(given) / self.single_width, (-1,))
        value = called(self.profile, distances)
        if value.shape != distances.shape:
            raise ValueError(
                f"The kernel's profile returned an array of shape {value.shape} for distances of shape "
                f"{distances.shape}. A function of one array must be the profile k(z) of a kernel; a similarity "
                "k(X, Y) of rows must be a function of two arrays."
            )
        return xp.reshape(value, given.shape)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "profile": picklable(self.profile)}

    def __deepcopy__(self, memo: dict[int, Any]) -> RadialFunction:
        return RadialFunction(deepcopy(self.profile, memo), self.unit_norm, self.width)
