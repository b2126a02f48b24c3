"""Similarities of any kind, given as a function of two matrices of rows, or as a matrix in place of rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, in_type_of, is_single, namespace
from rflib.kernels.signature import called, n_arrays, picklable
from rflib.kernels.sparse_rows import Rows
from rflib.validation import refuse

PRECOMPUTED = "precomputed"
# Differences between k(x, y) and k(y, x) up to this multiple of the largest similarity are rounding errors, in
# single precision or not.
_ASYMMETRY = {True: 1e-4, False: 1e-8}


@dataclass(frozen=True)
class Similarity(Kernel):
    """Define a kernel by any symmetric function k(X, Y) of two matrices of rows, definite or not.

    Parameters
    ----------
    function : callable
        Function that takes two matrices X (n, d) and Y (m, d) and returns the matrix (n, m) of the similarities of
        their rows. Sparse rows, and rows of torch or CuPy, are passed to it unchanged.

    Raises
    ------
    ValueError
        If ``function`` is not a function of two arrays. Calls of the kernel raise it if the function returns
        another shape than (n, m), or a matrix k(X, X) that is not symmetric.

    See Also
    --------
    RadialFunction : A function of the distance.
    rflib.maps.Nystroem : A map that takes any similarity.
    rflib.learners.ExactKRR : An exact learner that does.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.kernels import Similarity
    >>> from rflib.maps import Nystroem
    >>> nearness = Similarity(lambda X, Y: -np.abs(X[:, None] - Y).sum(-1))
    >>> Nystroem(nearness, 2, random_state=0).fit([[0.0], [1.0], [3.0]]).signature_
    array([-1.,  1.])
    """

    has_diagonal: ClassVar[bool] = False

    function: Callable[[NDArray, NDArray], NDArray]

    def __post_init__(self) -> None:
        if n_arrays(self.function) != 2:
            refuse(self, "function", "a function of two matrices of rows, k(X, Y)")

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        expected = X.shape[0], (X if Y is None else Y).shape[0]
        values = in_type_of(called(self.function, X, X if Y is None else Y), X)
        if values.shape != expected:
            raise ValueError(
                f"The similarity k(X, Y) returned shape {values.shape} for {expected[0]} and {expected[1]} rows. "
                "It must return the matrix of the similarities of all rows of X with all rows of Y. For a "
                "function f(x, y) of two rows, use sklearn.metrics.pairwise.pairwise_kernels(X, Y, metric=f)."
            )
        if Y is None:
            check_symmetric(values)
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {"function": picklable(self.function)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Similarity:
        return Similarity(deepcopy(self.function, memo))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel of ``kernel="precomputed"``: a row holds the similarities of an object to the training objects.

    A call with one matrix returns this matrix, after checking that it is square and symmetric.
    """

    takes_sparse: ClassVar[bool] = False
    is_precomputed: ClassVar[bool] = True
    has_diagonal: ClassVar[bool] = False

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        if Y is not None:
            raise ValueError("Precomputed similarities are only known between a row and the training rows.")
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "With kernel='precomputed', `fit` needs the square matrix of the similarities of the training "
                f"rows, but X has shape {X.shape}."
            )
        check_symmetric(X)
        return X


@dataclass(frozen=True, eq=False)
class Lookup(Kernel):
    """Look up similarities of training objects: rows (n, 1) hold the objects' indices in a matrix."""

    takes_sparse: ClassVar[bool] = False

    similarities: NDArray

    def _matrix(self, X: NDArray, Y: NDArray | None) -> NDArray[np.floating]:
        return self.similarities[np.ix_(*((X if Z is None else Z)[:, 0].astype(int) for Z in (X, Y)))]


def check_symmetric(values: Array) -> None:
    """Raise ValueError if a square matrix is not symmetric to rounding; the message names the worst pair."""
    xp = namespace(values)
    if not xp.all(xp.isfinite(values)):
        return  # refused by the caller's own check
    difference = xp.abs(values - values.T)
    if difference.shape[0] and xp.max(difference) > _ASYMMETRY[is_single(values)] * xp.max(xp.abs(values)):
        i, j = divmod(int(xp.argmax(xp.reshape(difference, (-1,)))), values.shape[1])
        raise ValueError(
            f"Similarities must be symmetric, but that of rows {i} and {j} is {values[i, j]:.6g} in one order and "
            f"{values[j, i]:.6g} in the other. Use their mean, (K + K.T) / 2 or (k(X, Y) + k(Y, X).T) / 2."
        )
