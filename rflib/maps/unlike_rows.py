"""Rows unlike the training rows: what features lose of k(x, x), and whether more rows lose much than by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, namespace, widest
from rflib.kernels.sparse_rows import Rows

# Largest probability of a warning for rows like the training rows, for each of two questions.
_CHANCE = 4e-4
# Rows are unlike the training rows if they lose so many times what the third worst of these lose,
_MARGIN, _RANK = 1.5, 3
# or if half of a batch loses more than 99 in 100 of these.
_SHARE, _LARGE_PART = 0.01, 0.5
# Fewer losses than these do not tell what is usual.
FEWEST_LOSSES = 20
# Features that keep less than this share of k(x, x) keep nothing, in single precision as in double.
_LEAST_KEPT = 1e-12
# Number of training rows whose losses are noted.
USUAL_ROWS = 1000


@dataclass(frozen=True)
class UsualLosses:
    """The losses of training rows, to which those of other rows are compared.

    At least j of n new rows are beyond the k-th largest of m losses if at most k - 1 of the m training rows are
    among the j + k - 1 largest of all n + m losses, whose probability is known if both have the same distribution.
    So there is a warning for fewer than one in 1,000 batches of such rows.

    The two ``limits`` are the loss beyond which rows are counted, and the one beyond which they are if half of the
    rows are; ``beyond`` are the numbers of training rows beyond each. The ``unit`` of the losses is the sum of the
    squared features of a typical row, or None if it is k(x, x).
    """

    n_rows: int
    limits: NDArray[np.float64]
    beyond: NDArray[np.int64]
    unit: float | None = None

    @staticmethod
    def of(losses: NDArray, least: float, unit: float | None = None) -> UsualLosses | None:
        """Return those of training rows, or None for fewer than 20; losses up to ``least`` are never counted."""
        losses = losses[~np.isnan(losses)]
        m = len(losses)
        if m < FEWEST_LOSSES:
            return None
        ordered = np.sort(losses)
        limits = np.array([_MARGIN * ordered[-_RANK], ordered[-1 - int(_SHARE * m)]])
        limits = np.maximum(limits, least)
        beyond = np.array([np.count_nonzero(losses > limit) for limit in limits])
        return UsualLosses(m, limits, beyond, unit)

    def unlike(self, losses: Array) -> int:
        """Return how many rows are beyond a limit, or 0 if these are no more than chance gives."""
        n, xp = losses.shape[0], namespace(losses)
        for limit, beyond, least in zip(self.limits, self.beyond, (1, _LARGE_PART * n), strict=True):
            count = int(xp.count_nonzero(losses > float(limit)))
            m, most = self.n_rows, count + int(beyond)
            if count >= least and hypergeom.cdf(beyond, n + m, m, most) < _CHANCE:
                return count
        return 0


def squares(features: Array, signs: NDArray | None = None) -> Array:
    """Return the sum over the columns of the squared features, with signs if given, shape (n,)."""
    xp = namespace(features)
    if signs is not None and (signs > 0).all():
        signs = None
    if xp is not np:
        values = widest(features) ** 2
        return xp.sum(values if signs is None else values * beside(signs, values), axis=1)
    if signs is None:
        return np.einsum("ij,ij->i", features, features)
    return np.einsum("ij,ij,j->i", features, features, signs.astype(features.dtype))


def loss(kept: Array) -> Array:
    """Return -log of the share of k(x, x) that features keep; a share above one counts as much as one below."""
    xp = namespace(kept)
    kept = xp.where(kept > 1, 2 - kept, kept)
    # NaN, where nothing is lost, stays
    kept = xp.where(kept < _LEAST_KEPT, xp.full_like(kept, _LEAST_KEPT), kept)
    lost = -xp.log(kept)
    return xp.where(lost > 0, lost, xp.zeros_like(lost))


def losses_of(
    kernel: Kernel, X: Rows, features: Array, signs: NDArray, unit: float | None, squared: Array | None = None
) -> Array:
    """Return the loss of k(x, x) by the features (n, n_columns) of rows X (n, d), whose `squares` may be given.

    The unit is that of `UsualLosses`. Features with a smaller sum of squares lose, too.
    """
    squared = squares(features) if squared is None else squared
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        signed = squared if (signs > 0).all() else squares(features, signs)
        if unit is None:
            return loss(signed / kernel.diagonal(X))
        kept = squared / unit
        xp = namespace(kept)
        kept = xp.where(kept > 1, xp.ones_like(kept), kept)
        if kernel.has_diagonal:
            missing = xp.abs(kernel.diagonal(X) - signed) / unit
            kept = xp.where(kept < 1 - missing, kept, 1 - missing)
        return loss(kept)


def unit_of_losses(kernel: Kernel, features: NDArray, signs: NDArray) -> float | None:
    """Return the unit of losses: None for k(x, x), if it is known and no difference that may be zero."""
    if kernel.has_diagonal and not (kernel.is_stationary and (signs < 0).any()):
        return None
    return float(np.median(squares(features)))
