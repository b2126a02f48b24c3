"""The solver of ridge regression on streamed features: all folds and all ridges from one pass over the rows."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, beside, follow, in_type_of, namespace, to_numpy
from rflib.learners.moments import Moments, rows_of_block
from rflib.learners.one_vs_rest import values_to_codes
from rflib.learners.ridge_system import ridge_sizes, solve_and_factor, solve_ridges
from rflib.learners.weight_posterior import WeightPosterior, weight_posterior

# Ridges of so many times the rounding error of the Gram matrix give solutions that mean something.
_RESOLVED = 10

# features of some rows, the indices of their labels, their folds and their weights
Part = tuple[Array, NDArray[np.intp], NDArray, NDArray[np.float64] | None]


class HeldOutModels(NamedTuple):
    """For each alpha and fold the solution of the other folds: indices of both, coefficients and offsets."""

    fitted: list[tuple[int, int, Array, Array]]
    shape: tuple[int, ...]
    gram: Array

    def wrong(self, parts: Iterable[Part], centre: NDArray) -> NDArray[np.float64]:
        """Return the weights of the rows of each fold that get a wrong label, summed, (n_alphas, n_folds).

        Folds and weights of the rows are those that the moments were made with, and ``centre`` (t,) is what the
        targets were centred by.
        """
        total = np.zeros(self.shape)
        for Z, codes, folds, weights in parts:
            for i, fold, coef, offset in self.fitted:
                part = folds == fold
                products = rows_of_block(Z, part, self.gram) @ coef
                shift = beside(centre, offset) + offset
                if (xp := namespace(products)) is not np:
                    found = values_to_codes(products + in_type_of(shift, products))
                    is_wrong = in_type_of(found != follow(codes[part], found), products)
                    own = xp.ones_like(is_wrong) if weights is None else beside(weights[part], products)
                    total[i, fold] += float(xp.sum(is_wrong * own))
                    continue
                is_wrong = values_to_codes(products + shift) != codes[part]
                total[i, fold] += np.sum(is_wrong if weights is None else weights[part][is_wrong])
        return total


class StreamingRidge:
    """Ridge regression of targets (n, t) on features (n, D), from the moments of each fold.

    Parameters
    ----------
    moments : sequence of Moments
        Those of each fold, of targets that are about centred: that keeps the digits of the squared errors.
    ridge : {"n_lambda", "lambda"}
        Meaning of an alpha, as in `ridge_sizes`.
    signs : ndarray of shape (D,), optional
        Signs of the ridge, as in `solve_ridges`.
    """

    def __init__(self, moments: Sequence[Moments], ridge: str, signs: NDArray | None = None):
        self._moments, self._ridge, self._signs = moments, ridge, signs
        self._dtype = moments[0].gram.dtype

    def squared_errors(self, alphas: NDArray) -> NDArray[np.float64]:
        """Return the mean squared error of each alpha on each fold, (n_alphas, n_folds); inf if singular."""
        errors = self._no_errors(alphas)
        for i, fold, coef, offset in self._models(alphas):
            errors[i, fold] = self._moments[fold].mean_squared_errors(coef, offset).mean()
        return errors

    def error_rates(
        self, alphas: NDArray, count: Callable[["HeldOutModels"], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return the share of wrong labels, as `squared_errors`, from a second pass over the rows.

        ``count`` makes that pass: it returns `HeldOutModels.wrong` of all rows.
        """
        errors = self._no_errors(alphas)
        models = HeldOutModels(list(self._models(alphas)), errors.shape, self._moments[0].gram)
        wrong = count(models)
        for i, fold, *_ in models.fitted:
            errors[i, fold] = wrong[i, fold] / self._moments[fold].n
        return errors

    def error_of_mean(self) -> float:
        """Return the mean squared error of predicting the mean of the targets."""
        return float(np.mean(to_numpy(self.total.centred_yy()))) / self.total.n

    def resolved(self, alphas: NDArray) -> NDArray[np.bool_]:
        """Return which ridges are well above the rounding error of the Gram matrix, or else the largest one."""
        sizes = ridge_sizes(alphas, self._ridge, self.total.n)
        return sizes >= min(_RESOLVED * self._noise(), sizes.max())

    def log_marginal_likelihoods(self, alphas: NDArray) -> NDArray[np.float64]:
        """Return that of all rows for each alpha, (n_alphas,); -inf if singular."""
        total = self.total
        posteriors = (self._posterior(total, size) for size in ridge_sizes(alphas, self._ridge, total.n))
        return np.array([-np.inf if p is None else p.log_marginal_likelihood for p in posteriors])

    def solve(self, alpha: float) -> tuple[Array, Array, WeightPosterior | None]:
        """Return coefficients (D, t), offsets (t,) and, unless there are signs, the posterior, from all rows.

        Raises
        ------
        ValueError
            If the system is singular.

        Warns
        -----
        RuntimeWarning
            If the ridge is below the rounding error of the Gram matrix.
        """
        total = self.total
        size = ridge_sizes(np.array([alpha]), self._ridge, total.n)
        if size[0] < (noise := self._noise()):
            warnings.warn(
                f"alpha = {alpha:g} gives the ridge {size[0]:.3g}, which is below the rounding error {noise:.3g} "
                f"of a {self._dtype} Gram matrix. Use larger alphas or gram_dtype='float64'.",
                RuntimeWarning,
                stacklevel=5,
            )
        if self._signs is None:
            posterior = self._posterior(total, size[0])
            solution = None if posterior is None else posterior.coef
        else:
            posterior = None
            solution = next(solve_ridges(total.gram, total.centred_zy(), size, self._signs))
        if solution is None:
            raise ValueError(
                f"The ridge system is singular to {self._dtype} precision at alpha = {alpha:g}. "
                "Use another alpha"
                + ("." if self._signs is not None else " (a larger one), or gram_dtype='float64'.")
            )
        return solution, total.y_sum / total.n, posterior

    def _noise(self) -> float:
        """Return the rounding error of the Gram matrix of all rows."""
        return float(namespace(self.total.gram).finfo(self._dtype).eps) * self.total.trace()

    def _posterior(self, total: Moments, c: float) -> WeightPosterior | None:
        solved = solve_and_factor(total.gram, total.centred_zy(), c)
        if solved is None:
            return None
        return weight_posterior(*solved, c, total.centred_zy(), total.centred_yy(), total.n)

    @cached_property
    def total(self) -> Moments:
        """The moments of all rows; those of the folds stay as they are."""
        if len(self._moments) == 1:
            return self._moments[0]
        return self._moments[0].copy().merge(self._moments[1:])

    def _models(self, alphas: NDArray) -> Iterator[tuple[int, int, Array, Array]]:
        """Yield alpha's index, fold, and what the other folds give: coefficients and offsets, unless singular."""
        for fold in range(len(self._moments)):
            others = [*self._moments[:fold], *self._moments[fold + 1 :]]
            train = others[0].copy().merge(others[1:])
            sizes = ridge_sizes(alphas, self._ridge, train.n)
            for i, coef in enumerate(solve_ridges(train.gram, train.centred_zy(), sizes, self._signs)):
                if coef is not None:
                    yield i, fold, coef, train.y_sum / train.n

    def _no_errors(self, alphas: NDArray) -> NDArray[np.float64]:
        """Return infinite errors (n_alphas, n_folds), after a check of the folds."""
        if len(self._moments) < 2 or not all(fold.n for fold in self._moments):
            raise ValueError(
                "Cross-validation needs rows with weights above 0 in each of two folds or more. Give more rows, "
                "a single alpha, or criterion='marginal_likelihood'."
            )
        return np.full((len(alphas), len(self._moments)), np.inf)
