"""What a kernel is: an exact function of two rows, by distance, by inner product, or both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import euclidean_distances

UNIT_NORM_TOLERANCE = 1e-5


class Kernel(ABC):
    """Exact kernel. Instances are frozen dataclasses: comparable, hashable, safe as cache keys.

    Attributes
    ----------
    unit_norm : bool
        True if the kernel is defined only for rows of Euclidean norm one.
    """

    unit_norm: ClassVar[bool] = False

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.floating]:
        """Kernel matrix of the rows of X and Y (default: X), shape (n, m).

        Raises
        ------
        ValueError
            If a kernel on the unit sphere gets a row of another norm.
        """
        X = np.asarray(X)
        self.check_rows(X)
        if Y is not None:
            Y = np.asarray(Y)
            self.check_rows(Y)
        return self._matrix(X, Y)

    @abstractmethod
    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]: ...

    def check_rows(self, X: NDArray) -> None:
        """Raise ValueError, naming the first row and its norm, if ``unit_norm`` is violated."""
        if not self.unit_norm:
            return
        norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
        wrong = np.flatnonzero(np.abs(norms - 1) > UNIT_NORM_TOLERANCE)
        if wrong.size:
            raise ValueError(
                f"{self!r} needs rows of unit norm, but row {wrong[0]} has norm {norms[wrong[0]]:.6g} "
                f"({wrong.size} of {len(norms)} rows are off). Divide each row by its norm first, "
                "for example with sklearn.preprocessing.normalize."
            )


class RadialKernel(Kernel):
    """A kernel of the Euclidean distance: k(x, y) = at_distance(||x - y||)."""

    @abstractmethod
    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Radial profile at the distances z (any shape, non-negative)."""

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        return self.at_distance(euclidean_distances(X, Y))


class DotProductKernel(Kernel):
    """A kernel of the inner product: k(x, y) = at_product(<x, y>) = sum_N a_N <x, y>^N."""

    @abstractmethod
    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Value at the inner products t (any shape)."""

    @abstractmethod
    def maclaurin(self) -> NDArray[np.floating]:
        """Coefficients a_0, ..., a_p of the (finite) Maclaurin series."""

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        return self.at_product(X @ (X if Y is None else Y).T)


def require_positive(owner: object, **values: float) -> None:
    """Raise ValueError unless every named value is a finite positive number."""
    for name, value in values.items():
        if not (np.isscalar(value) and np.isfinite(value) and value > 0):  # type: ignore[operator]
            raise ValueError(f"{type(owner).__name__}: {name} must be a positive number, got {value!r}.")
