"""What a kernel is: an exact function of two rows, by distance, by inner product, or both."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import check_pairwise_arrays, euclidean_distances
from sklearn.utils.extmath import safe_sparse_dot

from rflib.kernels.sparse_rows import Rows, canonical, largest_size, squared_norms
from rflib.validation import hint

UNIT_NORM_TOLERANCE = 1e-5
# Sizes of rows, in each type, whose squares neither overflow nor lose digits to underflow.
_SAFE_SIZES = {"float32": (1e-15, 1e15), "float64": (1e-140, 1e140)}


class Kernel(ABC):
    """Exact kernel. Instances are frozen dataclasses: comparable, and hashable if their parameters are.

    Parameters are checked when a kernel is made. `set_params` is the one way to change a kernel; it makes the same
    checks, so that scikit-learn can tune a kernel inside a map or learner (``map__kernel__sigma``).

    Attributes
    ----------
    unit_norm : bool
        True if the kernel is defined only for rows of Euclidean norm one.
    takes_sparse : bool
        True if it takes sparse rows as well.
    """

    unit_norm: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn's estimators do."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, and return the kernel.

        Raises
        ------
        ValueError
            For an unknown parameter or a value out of range, as when a kernel is made; nothing is changed then.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                has = f"It has {', '.join(known)}." if known else "It has none."
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}.{hint(name, known)} {has}")
        changed = type(self)(**known | params)
        vars(self).clear()
        vars(self).update(vars(changed))
        return self

    def __sklearn_clone__(self) -> Self:
        return deepcopy(self)

    def for_rows(self, X: ArrayLike) -> Self:
        """Return a copy in which a width that depends on the rows X (n, d) is a number (`KernelWithWidth`)."""
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def isotropic(self, X: Rows) -> tuple[Kernel, Rows]:
        """Return a kernel of at most one width, and the rows at which it has this kernel's values at X (n, d).

        They are this kernel and X themselves, unless there is a width for each column (`KernelWithWidth`).
        """
        return self, X

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.floating]:
        """Kernel matrix of the rows of X and Y (default: X), dense or sparse, shape (n, m).

        Rows of float32 give a matrix of float32; those of any other type are converted to float64 first.

        Raises
        ------
        ValueError
            If X or Y is not a finite matrix of numbers, their numbers of columns differ, a kernel on the unit
            sphere gets a row of another norm, or a value is too large for the type or is not a number.
        TypeError
            If rows are sparse and the kernel needs dense ones (``takes_sparse``).
        """
        checked = check_pairwise_arrays(X, Y, accept_sparse="csr" if self.takes_sparse else False)
        rows = tuple(map(canonical, checked))
        left, right = rows[0], None if Y is None else rows[1]
        self.check_rows(left)
        if right is not None:
            self.check_rows(right)
        kernel, left = self.isotropic(left)
        if right is not None:
            _, right = self.isotropic(right)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = kernel._matrix(left, right).astype(left.dtype, copy=False)
        check_finite(self, matrix, *rows)
        return matrix

    @abstractmethod
    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        """Return the kernel matrix of checked rows, both float32 or both float64; Y None stands for X."""

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError, naming the first row and its norm, if ``unit_norm`` is violated."""
        if not self.unit_norm:
            return
        norms = np.sqrt(squared_norms(X))
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

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        return self.at_distance(_distances(X, Y))


class DotProductKernel(Kernel):
    """A kernel of the inner product: k(x, y) = at_product(<x, y>) = sum_N a_N <x, y>^N."""

    @abstractmethod
    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Value at the inner products t (any shape)."""

    @abstractmethod
    def maclaurin(self) -> NDArray[np.floating]:
        """Coefficients a_0, ..., a_p of the (finite) Maclaurin series."""

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        return self.at_product(safe_sparse_dot(X, (X if Y is None else Y).T, dense_output=True))


def check_finite(owner: object, values: NDArray, *sources: Rows) -> None:
    """Raise ValueError, naming the type and the largest number that they come from, if values are not finite."""
    if np.isfinite(np.vdot(values, values)) or np.isfinite(values).all():
        return
    largest = max(map(largest_size, sources))
    wider = ", pass them as float64," if values.dtype == np.float32 else ""
    raise ValueError(
        f"{owner!r} gave NaN or infinity in {values.dtype} from numbers as large as {largest:.3g}. "
        f"Scale the rows{wider} or change the kernel's parameters."
    )


def _distances(X: Rows, Y: Rows | None) -> NDArray[np.floating]:
    """Euclidean distances; rows whose squares would overflow or underflow are scaled by a power of two."""
    size = max(largest_size(Z) for Z in (X, Y) if Z is not None)
    smallest, largest = _SAFE_SIZES[X.dtype.name]
    if size == 0 or smallest < size < largest:
        return euclidean_distances(X, Y)
    unit = X.dtype.type(2.0 ** np.floor(np.log2(size)))
    return unit * euclidean_distances(X / unit, None if Y is None else Y / unit)
