"""The solver of ridge regression on streamed features: all folds and all ridges from one pass over the rows."""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rflib.learners.moments import Blocks, Moments, rows_of_block
from rflib.learners.one_vs_rest import values_to_codes
from rflib.learners.ridge_system import ridge_sizes, solve_ridges


class StreamingRidge:
    """Ridge regression of targets (n, t) on features (n, D), from the moments of each fold.

    Parameters
    ----------
    moments : sequence of Moments
        Those of each fold, of targets that are about centred: that keeps the digits of the squared errors.
    folds : ndarray of shape (n,)
        Fold of each row.
    ridge : {"n_lambda", "lambda"}
        Meaning of an alpha, as in `ridge_sizes`.
    signs : ndarray of shape (D,), optional
        Signs of the ridge, as in `solve_ridges`.
    """

    def __init__(self, moments: Sequence[Moments], folds: NDArray, ridge: str, signs: NDArray | None = None):
        self._moments, self._folds, self._ridge, self._signs = list(moments), folds, ridge, signs
        self._dtype = moments[0].gram.dtype

    def squared_errors(self, alphas: NDArray) -> NDArray[np.float64]:
        """Return the mean squared error of each alpha on each fold, (n_alphas, n_folds); inf if singular."""
        errors = self._no_errors(alphas)
        for i, fold, coef, offset in self._models(alphas):
            errors[i, fold] = self._moments[fold].mean_squared_errors(coef, offset).mean()
        return errors

    def error_rates(
        self, alphas: NDArray, blocks: Blocks, codes: NDArray[np.intp], centre: NDArray
    ) -> NDArray[np.float64]:
        """Return the share of wrong labels, as `squared_errors`, from a second pass over the rows.

        ``codes`` (n,) are the labels' indices, and ``centre`` (t,) is what their targets were centred by.
        """
        errors, models = self._no_errors(alphas), list(self._models(alphas))
        for i, fold, *_ in models:
            errors[i, fold] = 0
        for rows, Z in blocks:
            for i, fold, coef, offset in models:
                part = self._folds[rows] == fold
                values = rows_of_block(Z, part, self._dtype) @ coef + (centre + offset)
                wrong = np.sum(values_to_codes(values) != codes[rows][part])
                errors[i, fold] += wrong / np.sum(self._folds == fold)
        return errors

    def solve(self, alpha: float) -> tuple[NDArray, NDArray[np.float64]]:
        """Return coefficients (D, t) and offsets (t,) of all rows together; the moments of the folds are used up.

        Raises
        ------
        ValueError
            If the system is singular.

        Warns
        -----
        RuntimeWarning
            If the ridge is below the rounding error of the Gram matrix.
        """
        total = self._moments[0].merge(self._moments[1:])
        size = ridge_sizes(np.array([alpha]), self._ridge, total.n)
        noise = np.finfo(self._dtype).eps * np.trace(total.gram, dtype=np.float64)
        if size[0] < noise:
            warnings.warn(
                f"alpha = {alpha:g} gives the ridge {size[0]:.3g}, below the rounding error {noise:.3g} of "
                f"a {self._dtype} Gram matrix: use larger alphas or gram_dtype='float64'.",
                RuntimeWarning,
                stacklevel=4,
            )
        solution = next(solve_ridges(total.gram, total.centred_zy(), size, self._signs))
        if solution is None:
            raise ValueError(
                f"The ridge system is singular to {self._dtype} precision at alpha = {alpha:g}: "
                "use another alpha"
                + ("." if self._signs is not None else " (larger), or gram_dtype='float64'.")
            )
        return solution, total.y_sum / total.n

    def _models(self, alphas: NDArray) -> Iterator[tuple[int, int, NDArray, NDArray]]:
        """Yield alpha's index, fold, and what the other folds give: coefficients and offsets, unless singular."""
        for fold in range(len(self._moments)):
            others = self._moments[:fold] + self._moments[fold + 1 :]
            train = others[0].copy().merge(others[1:])
            sizes = ridge_sizes(alphas, self._ridge, train.n)
            for i, coef in enumerate(solve_ridges(train.gram, train.centred_zy(), sizes, self._signs)):
                if coef is not None:
                    yield i, fold, coef, train.y_sum / train.n

    def _no_errors(self, alphas: NDArray) -> NDArray[np.float64]:
        return np.full((len(alphas), len(self._moments)), np.inf)
