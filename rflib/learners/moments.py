"""Gram matrix and first moments of features and targets, accumulated over blocks of rows, fold by fold.

They are where the features are: in memory, or on a device.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssymm, ssyrk

from rflib.kernels.namespaces import (
    Array,
    beside,
    follow,
    in_type_of,
    is_single,
    namespace,
    narrowest,
    take_rows,
    to_numpy,
    widest,
    zeros,
)

# On a device the lower triangle of a Gram matrix is added to in panels of so many columns.
_PANEL = 2048

# consecutive rows and their features (n_rows, D)
Blocks = Iterable[tuple[slice, Array]]


class Moments:
    """The sums over rows from which ridge regression is solved: Z^T Z, Z^T Y, and those of Z, Y, Y^2 and weights.

    Parameters
    ----------
    n_columns, n_targets : int
        Columns D of Z and t of Y.
    dtype : float32 or float64
        Precision of the Gram matrix, which takes D^2 numbers; the rest is float64.

    Attributes
    ----------
    gram : ndarray of shape (D, D), Fortran order
        Only the lower triangle holds Z^T Z.
    zy : ndarray of shape (D, t)
        Z^T Y.
    """

    def __init__(self, n_columns: int, n_targets: int, dtype: DTypeLike):
        self.n: float = 0
        self.gram = np.zeros((n_columns, n_columns), dtype=dtype, order="F")
        self.zy = np.zeros((n_columns, n_targets))
        self.z_sum = np.zeros(n_columns)
        self.y_sum = np.zeros(n_targets)
        self.yy = np.zeros(n_targets)

    def add(self, Z: NDArray, Y: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> None:
        """Add rows Z (n, D), in C order, with targets Y (n, t) and weights (n,).

        Products of rows in single precision are of single precision, and their sums of that of the Gram matrix.
        """
        self._own()
        if weights is None:
            self.n += len(Z)
            self.z_sum += Z.sum(axis=0, dtype=np.float64)
            self.y_sum += Y.sum(axis=0)
        else:
            self.n += float(weights.sum())
            self.z_sum += weights @ Z
            self.y_sum += weights @ Y
            root = np.sqrt(weights)[:, None]
            Z, Y = Z * root.astype(Z.dtype), Y * root
        syrk = ssyrk if Z.dtype == np.float32 else dsyrk
        if Z.dtype == self.gram.dtype:
            self.gram = syrk(1.0, Z.T, beta=1.0, c=self.gram, lower=True, overwrite_c=True)
        else:
            self.gram += syrk(1.0, Z.T, lower=True)
        self.zy += Z.T @ Y.astype(Z.dtype)
        self.yy += (Y**2).sum(axis=0)

    def merge(self, others: Iterable[Self]) -> Self:
        """Add other moments to these in place, and return these."""
        self._own()
        for other in others:
            self.n += other.n
            for name in ("gram", "zy", "z_sum", "y_sum", "yy"):
                getattr(self, name).__iadd__(getattr(other, name))
        return self

    def _own(self) -> None:
        """Copy the arrays that cannot be written to, such as those of a memory-mapped model."""
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray) and not values.flags.writeable:
                setattr(self, name, np.array(values))

    def copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(*self.zy.shape, dtype=self.gram.dtype).merge([self])

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, by which Dask decides where to add moments up."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))

    def state(self) -> dict[str, NDArray]:
        """Return the arrays that hold them, for `restored`."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def restored(cls, state: Mapping[str, NDArray]) -> Self:
        """Return the moments that `state` was taken from."""
        moments = cls(0, 0, state["gram"].dtype)
        vars(moments).update(state, gram=np.asfortranarray(state["gram"]), n=float(state["n"]))
        return moments

    def beside(self, Z: Array) -> "Moments":
        """Return these moments where the features Z are."""
        return self if namespace(Z) is np else DeviceMoments.of(self, Z)

    def trace(self) -> float:
        """Return the trace of the Gram matrix."""
        return float(np.trace(self.gram, dtype=np.float64))

    def centred_zy(self) -> Array:
        """Return Z^T (Y - mean of Y), shape (D, t)."""
        return self.zy - self.z_sum[:, None] * (self.y_sum / self.n)[None, :]

    def centred_yy(self) -> NDArray[np.float64]:
        """Return the sums of (Y - mean of Y)^2, shape (t,)."""
        return self.yy - self.y_sum**2 / self.n

    def mean_squared_errors(self, coef: NDArray, offset: NDArray) -> NDArray[np.float64]:
        """Return the mean over these rows of (Y - offset - Z coef)^2, shape (t,), without seeing the rows.

        It equals (sum (Y - offset)^2 - 2 <coef, Z^T (Y - offset)> + <coef, Z^T Z coef>) / n, and loses about
        log10(sum (Y - offset)^2 / squared error) digits to cancellation.
        """
        symm = ssymm if self.gram.dtype == np.float32 else dsymm
        gram_coef = symm(1.0, self.gram, coef, lower=True)
        variance = self.yy - 2 * offset * self.y_sum + self.n * offset**2
        cross = np.einsum("dt,dt->t", coef, self.zy - np.outer(self.z_sum, offset))
        quadratic = np.einsum("dt,dt->t", coef, gram_coef, dtype=np.float64)
        errors: NDArray[np.float64] = (variance - 2 * cross + quadratic) / self.n
        return errors


class DeviceMoments(Moments):
    """The same sums as arrays of the library and on the device of the features.

    The attributes of `Moments` but ``gram`` are in double precision, where the device has it.
    """

    def __init__(self, Z: Array, n_targets: int, dtype: DTypeLike):
        D, wide = Z.shape[1], widest(Z[:1, :])
        self.n = 0
        self.gram = zeros((D, D), narrowest(wide) if np.dtype(dtype) == np.float32 else wide)
        self.zy, self.z_sum = zeros((D, n_targets), wide), zeros((D,), wide)
        self.y_sum, self.yy = zeros((n_targets,), wide), zeros((n_targets,), wide)

    @classmethod
    def of(cls, moments: Moments, Z: Array) -> Self:
        """Return moments where the features Z are; the Gram matrix keeps its precision."""
        found = cls(Z, 0, moments.gram.dtype)
        for name, like in vars(found).items():
            values = moments.state()[name]
            setattr(found, name, float(values) if name == "n" else beside(values, like))
        return found

    def add(self, Z: Array, Y: Array, weights: Array | None = None) -> None:
        """Add rows Z (n, D), in the Gram's type, with targets Y (n, t) and weights (n,)."""
        xp, wide = namespace(Z), self.z_sum
        Y = in_type_of(follow(Y, wide), wide)
        if weights is None:
            self.n += Z.shape[0]
            self.z_sum += xp.sum(Z, axis=0, dtype=wide.dtype)
            self.y_sum += xp.sum(Y, axis=0)
        else:
            weights = in_type_of(follow(weights, wide), wide)
            self.n += float(xp.sum(weights))
            self.z_sum += in_type_of(in_type_of(weights, Z) @ Z, wide)
            self.y_sum += weights @ Y
            root = xp.sqrt(weights)[:, None]
            Z, Y = Z * in_type_of(root, Z), Y * root
        for first in range(0, Z.shape[1], _PANEL):
            panel = slice(first, min(first + _PANEL, Z.shape[1]))
            self.gram[first:, panel] += Z[:, first:].T @ Z[:, panel]
        self.zy += in_type_of(Z.T @ in_type_of(Y, Z), wide)
        self.yy += xp.sum(Y**2, axis=0)

    def copy(self) -> Self:
        """Return an independent copy."""
        found = type(self).__new__(type(self))
        for name, values in vars(self).items():
            setattr(found, name, values if name == "n" else namespace(values).asarray(values, copy=True))
        return found

    def state(self) -> dict[str, NDArray]:
        """Return the arrays that hold them, on the host, for `restored`."""
        return {name: to_numpy(value) for name, value in vars(self).items()}

    def beside(self, Z: Array) -> Moments:
        """Return these moments where the features Z are."""
        if follow(self.gram, Z) is self.gram:
            return self
        return Moments.restored(self.state()).beside(Z)

    def trace(self) -> float:
        """Return the trace of the Gram matrix."""
        xp = namespace(self.gram)
        return float(xp.sum(xp.linalg.diagonal(self.gram)))

    def mean_squared_errors(self, coef: Array, offset: Array) -> NDArray[np.float64]:
        """Return what `Moments.mean_squared_errors` does, on the host."""
        xp = namespace(self.gram)
        gram_coef = xp.tril(self.gram) @ coef + xp.tril(self.gram, k=-1).T @ coef
        wide = in_type_of(coef, self.zy)
        variance = self.yy - 2 * offset * self.y_sum + self.n * offset**2
        cross = xp.sum(wide * (self.zy - self.z_sum[:, None] * offset[None, :]), axis=0)
        quadratic = xp.sum(wide * in_type_of(gram_coef, wide), axis=0)
        return to_numpy((variance - 2 * cross + quadratic) / self.n)


def add_to_folds(
    moments: list[Moments],
    blocks: Blocks,
    targets: Callable[[slice], Array],
    folds: NDArray,
    n_folds: int,
    dtype: DTypeLike | None,
    weights: Array | None,
) -> None:
    """Add rows to the moments of each fold, in one pass over the features; an empty list is filled.

    ``targets`` gives those (n_rows, t) of a slice of the rows, ``folds`` and ``weights`` (n,) are those of all
    rows, and dtype is the precision of new Gram matrices; None is that of the features.
    """
    for rows, Z in blocks:
        Y = targets(rows)
        if not moments:
            moments.extend(_no_moments(Z, Y.shape[1], dtype) for _ in range(n_folds))
        moments[:] = [fold.beside(Z) for fold in moments]
        for fold in np.unique(folds[rows]):
            part = folds[rows] == fold
            moments[fold].add(
                rows_of_block(Z, part, moments[fold].gram),
                _some(Y, part),
                None if weights is None else _some(weights[rows], part),
            )


def _no_moments(Z: Array, n_targets: int, dtype: DTypeLike | None) -> Moments:
    dtype = dtype or (np.float32 if is_single(Z) else np.float64)
    if namespace(Z) is np:
        return Moments(Z.shape[1], n_targets, dtype)
    return DeviceMoments(Z, n_targets, dtype)


def _some(values: Array, part: NDArray[np.bool_]) -> Array:
    return values[part] if isinstance(values, np.ndarray) else take_rows(values, np.flatnonzero(part))


def rows_of_block(Z: Array, part: NDArray[np.bool_], like: Array) -> Array:
    """Return some rows of a block in C order and in the type of ``like``, uncopied where all are there already."""
    if namespace(Z) is not np:
        return in_type_of(Z if np.all(part) else _some(Z, part), like)
    dtype = like.dtype
    return np.ascontiguousarray(Z if np.all(part) else Z[part], dtype=dtype)
