"""Gram matrix and first moments of features and targets, accumulated over blocks of rows, fold by fold."""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssymm, ssyrk

# consecutive rows and their features (n_rows, D)
Blocks = Iterable[tuple[slice, NDArray]]


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
        """Add rows Z (n, D), in C order and the Gram's dtype, with targets Y (n, t) and weights (n,)."""
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
        syrk = ssyrk if self.gram.dtype == np.float32 else dsyrk
        self.gram = syrk(1.0, Z.T, beta=1.0, c=self.gram, lower=True, overwrite_c=True)
        self.zy += Z.T @ Y.astype(Z.dtype)
        self.yy += (Y**2).sum(axis=0)

    def merge(self, others: Iterable[Self]) -> Self:
        """Add other moments to these in place, and return these."""
        for other in others:
            self.n += other.n
            for name in ("gram", "zy", "z_sum", "y_sum", "yy"):
                getattr(self, name).__iadd__(getattr(other, name))
        return self

    def copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(*self.zy.shape, dtype=self.gram.dtype).merge([self])

    def state(self) -> dict[str, NDArray]:
        """Return the arrays that hold them, for `restored`."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def restored(cls, state: Mapping[str, NDArray]) -> Self:
        """Return the moments that `state` was taken from."""
        moments = cls(0, 0, state["gram"].dtype)
        vars(moments).update(state, gram=np.asfortranarray(state["gram"]), n=float(state["n"]))
        return moments

    def centred_zy(self) -> NDArray[np.float64]:
        """Return Z^T (Y - mean of Y), shape (D, t)."""
        return self.zy - np.outer(self.z_sum, self.y_sum / self.n)

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


def add_to_folds(
    moments: list[Moments],
    blocks: Blocks,
    targets: Callable[[slice], NDArray[np.float64]],
    folds: NDArray,
    n_folds: int,
    dtype: DTypeLike | None,
    weights: NDArray[np.float64] | None,
) -> None:
    """Add rows to the moments of each fold, in one pass over the features; an empty list is filled.

    ``targets`` gives those (n_rows, t) of a slice of the rows, ``folds`` and ``weights`` (n,) are those of all
    rows, and dtype is the precision of new Gram matrices; None is that of the features.
    """
    for rows, Z in blocks:
        Y = targets(rows)
        if not moments:
            moments.extend(Moments(Z.shape[1], Y.shape[1], dtype or Z.dtype) for _ in range(n_folds))
        for fold in np.unique(folds[rows]):
            part = folds[rows] == fold
            moments[fold].add(
                rows_of_block(Z, part, moments[fold].gram.dtype),
                Y[part],
                None if weights is None else weights[rows][part],
            )


def rows_of_block(Z: NDArray, part: NDArray[np.bool_], dtype: DTypeLike) -> NDArray:
    """Return some rows of a block in C order and a precision, without a copy where all are there already."""
    return np.ascontiguousarray(Z if np.all(part) else Z[part], dtype=dtype)
