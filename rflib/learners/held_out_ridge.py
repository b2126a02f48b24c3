"""Ridge regression whose ridge has the least squared error on rows that are held out, or in two folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.learners.moments import Moments
from rflib.learners.ridge_system import solve_ridges
from rflib.maps.row_blocks import row_blocks

# Ridges, as shares of the weights of the rows.
RIDGES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
# Features of rows that are computed at a time.
_BLOCK_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class Rows:
    """Rows, targets (n, t) of mean about zero, and perhaps weights (n,)."""

    X: Any
    targets: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class HeldOutRidge:
    """A linear function of features.

    Attributes
    ----------
    ridge : float
        The one that was chosen from `RIDGES`.
    coef : ndarray of shape (D, t)
        Coefficients.
    values : ndarray of shape (m, t)
        Those of the rows that were held out.
    errors : ndarray of shape (m,)
        Squared errors in these rows, summed over the targets.
    """

    ridge: float
    coef: NDArray[np.float64]
    values: NDArray[np.float64]
    errors: NDArray[np.float64]


def held_out_ridge(features: Callable[[Any], NDArray], train: Rows, held: Rows) -> HeldOutRidge:
    """Return ridge regression of training rows, with the ridge that is best in the held-out ones."""
    height = max(1, _BLOCK_ELEMENTS // features(train.X[:1]).shape[1])
    moments: Moments | None = None
    for part in row_blocks(len(train.targets), height):
        Z = np.ascontiguousarray(features(train.X[part]))
        moments = moments or Moments(Z.shape[1], train.targets.shape[1], np.float64)
        moments.add(Z, train.targets[part], None if train.weights is None else train.weights[part])
    assert moments is not None
    solved = solve_ridges(moments.gram, moments.centred_zy(), moments.n * np.array(RIDGES))
    found = {ridge: coef for ridge, coef in zip(RIDGES, solved, strict=True) if coef is not None}
    every = np.hstack(list(found.values()))
    values = [features(held.X[part]) @ every for part in row_blocks(len(held.targets), height)]
    tried = np.concatenate(values).reshape(len(held.targets), len(found), -1) + moments.y_sum / moments.n
    errors = ((tried - held.targets[:, None]) ** 2).sum(axis=2)
    best = int(np.argmin(np.average(errors, axis=0, weights=held.weights)))
    ridge = list(found)[best]
    return HeldOutRidge(ridge, found[ridge], tried[:, best], errors[:, best])


def ridge_of_halves(
    Z: NDArray,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    ridges: Sequence[float] | NDArray,
) -> tuple[float, Moments]:
    """Return the ridge with the least squared error of every second row (n, D), after a fit to the others.

    Beside it, return the moments of all rows.
    """
    halves = [Moments(Z.shape[1], targets.shape[1], np.float64) for _ in range(2)]
    for part in row_blocks(len(Z), max(2, 2 * _BLOCK_ELEMENTS // Z.shape[1])):
        for i, half in enumerate(halves):
            own = None if weights is None else weights[part][i::2]
            half.add(np.ascontiguousarray(Z[part][i::2]), targets[part][i::2], own)
    errors = np.zeros(len(ridges))
    for half, other in (halves, halves[::-1]):
        solved = solve_ridges(half.gram, half.centred_zy(), half.n * np.array(ridges))
        for i, coef in enumerate(solved):
            error = np.inf if coef is None else other.mean_squared_errors(coef, half.y_sum / half.n).sum()
            errors[i] += other.n * error
    return float(ridges[int(np.argmin(errors))]), halves[0].merge(halves[1:])
