"""Gram matrix and first moments of features and targets, accumulated over row blocks, fold by fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dsymm, dsyrk, ssymm, ssyrk
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from rflib.learners.checks import check_enough_rows


class Moments:
    """Z^T Z, Z^T Y, the column sums of Z and Y, the sum of Y^2, and the number of rows.

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
        self.n = 0
        self.gram = np.zeros((n_columns, n_columns), dtype=dtype, order="F")
        self.zy = np.zeros((n_columns, n_targets))
        self.z_sum = np.zeros(n_columns)
        self.y_sum = np.zeros(n_targets)
        self.yy = np.zeros(n_targets)

    def add(self, Z: NDArray, Y: NDArray[np.float64]) -> None:
        """Count in the rows Z (n, D), C order and the Gram's dtype, with targets Y (n, t)."""
        syrk = ssyrk if self.gram.dtype == np.float32 else dsyrk
        self.gram = syrk(1.0, Z.T, beta=1.0, c=self.gram, lower=True, overwrite_c=True)
        self.n += len(Z)
        self.zy += Z.T @ Y.astype(Z.dtype)
        self.z_sum += Z.sum(axis=0, dtype=np.float64)
        self.y_sum += Y.sum(axis=0)
        self.yy += (Y**2).sum(axis=0)

    def merge(self, others: Iterable[Moments]) -> Self:
        """Add others to these, in place."""
        for other in others:
            self.n += other.n
            for name in ("gram", "zy", "z_sum", "y_sum", "yy"):
                getattr(self, name).__iadd__(getattr(other, name))
        return self

    def copy(self) -> Moments:
        """Return an independent copy."""
        return Moments(*self.zy.shape, dtype=self.gram.dtype).merge([self])

    def centred_zy(self) -> NDArray[np.float64]:
        """Return Z^T (Y - mean of Y), shape (D, t)."""
        return self.zy - np.outer(self.z_sum, self.y_sum / self.n)

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


def fold_numbers(learner: Any, y: NDArray) -> NDArray[np.intp]:
    """Return the fold of each row, shape (n_samples,).

    Parameters
    ----------
    learner : estimator
        Its ``cv`` makes the folds: a number means folds shuffled by its ``random_state``, stratified for a
        classifier; a splitter or an iterable of (train, test) is used as in scikit-learn.
    y : ndarray of shape (n_samples, ...)
        Targets.

    Raises
    ------
    ValueError
        If a row is held out never or more than once, or there are fewer rows than folds.
    """
    cv, classifier = learner.cv, is_classifier(learner)
    check_enough_rows(learner, y, classifier=classifier, instead="give a single alpha")
    if isinstance(cv, Integral):
        kind = StratifiedKFold if classifier else KFold
        splitter = kind(int(cv), shuffle=True, random_state=learner.random_state)
    else:
        splitter = check_cv(cv, y, classifier=classifier)
    numbers = np.full(len(y), -1)
    held_out = np.zeros(len(y), dtype=int)
    for fold, (_, test) in enumerate(splitter.split(np.empty((len(y), 0)), y)):
        numbers[test] = fold
        held_out[test] += 1
    if np.any(held_out != 1):
        row = int(np.flatnonzero(held_out != 1)[0])
        raise ValueError(
            f"{type(learner).__name__}: cv must hold out every row exactly once (K folds do), but row {row} is "
            f"held out {held_out[row]} times."
        )
    return numbers


def row_blocks(n_rows: int, block_size: int) -> list[slice]:
    """Return consecutive slices of at most block_size rows that cover n_rows."""
    return [slice(a, min(a + block_size, n_rows)) for a in range(0, n_rows, block_size)]


def training_moments(folds: Sequence[Moments], held_out: int) -> Moments:
    """Return the moments of all folds but one."""
    others = [fold for i, fold in enumerate(folds) if i != held_out]
    return others[0].copy().merge(others[1:])
