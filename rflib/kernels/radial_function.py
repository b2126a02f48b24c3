"""A user's own kernel of the distance, from its profile alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel


@dataclass(frozen=True)
class RadialFunction(RadialKernel):
    """k(x, y) = profile(||x - y||), definite or not.

    Parameters
    ----------
    profile : callable
        Maps an array of distances to an array of the same shape.
    unit_norm : bool
        Whether the kernel is defined only for rows of unit norm (distances in [0, 2]).
    """

    profile: Callable[[NDArray], NDArray]
    unit_norm: bool = False  # type: ignore[misc]

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative).

        Raises
        ------
        ValueError
            If the profile returns another shape than that of its argument.
        """
        z = np.asarray(z, dtype=np.float64)
        value = np.asarray(self.profile(z))
        if value.shape != z.shape:
            raise ValueError(
                f"The kernel's profile returned shape {value.shape} for distances of shape {z.shape}."
            )
        return value
