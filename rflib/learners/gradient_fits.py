"""Fits by conjugate gradients: of one ridge to all rows, and of several ones with each fold held out."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rflib.learners.conjugate_gradients import (
    CV_STEPS,
    CV_TOLERANCE,
    STEPS,
    TOLERANCE,
    Columns,
    Matrix,
    Systems,
    solve_by_gradients,
    warn_unless_solved,
)
from rflib.learners.leave_one_out import held_out_errors
from rflib.learners.ridge_state import RidgeSolution
from rflib.learners.ridge_system import ridge_sizes
from rflib.maps.row_blocks import row_blocks

# Numbers in the right-hand sides of folds and ridges that are solved for at once.
_NUMBERS = 1 << 24


class WeightedSystems(Systems, Protocol):
    """Systems of ridge regression for several weightings of the rows."""

    def use(self, weights: Matrix, of: Columns, sizes: NDArray[np.float64]) -> None:
        """Choose the systems by weights (n_weights, n), and for each column the number of its weights and c."""

    def sides(self, targets: Matrix) -> Matrix:
        """Return the right-hand sides (m, n_weights, t) for targets (n, n_weights, t)."""

    def units(self) -> NDArray[np.float64] | float:
        """Return norms of residuals with which values at the rows have an error of norm 1 at most."""

    def coefficients(self, solutions: Matrix) -> Matrix:
        """Return what `values` takes, for solutions (m, n_weights, ...) of all systems."""

    def values(self, coefficients: Matrix) -> Matrix:
        """Return the values (n, k) at all rows of coefficients (m, k)."""


class GradientFits:
    """Ridge regression of targets on all rows, or with some of them held out.

    Parameters
    ----------
    systems : WeightedSystems
        Those of the rows.
    targets : ndarray of shape (n, t)
        Targets.
    weights : ndarray of shape (n,), optional
        Weights of the rows.
    ridge : {"n_lambda", "lambda"}
        As in `ridge_sizes`.
    name, verbose
        As in `solve_by_gradients`.
    """

    def __init__(
        self,
        systems: WeightedSystems,
        targets: Matrix,
        weights: NDArray[np.float64] | None,
        ridge: str,
        *,
        name: str,
        verbose: bool,
    ):
        self._systems, self._targets, self._ridge = systems, targets, ridge
        self._name, self._verbose = name, verbose
        self._weights = np.ones(len(targets)) if weights is None else weights

    def fit(
        self,
        alphas: NDArray,
        folds: NDArray[np.intp] | None,
        criterion: str,
        choose: Callable[[NDArray], int],
    ) -> RidgeSolution:
        """Return the solution, with the means of the targets as intercepts.

        Where there are folds (n,), ``choose`` gets the held-out errors of the alphas (n_alphas,) and returns the
        number of the best one; else there is one alpha.
        """
        errors, best = None, 0
        if folds is not None:
            errors = np.full((len(alphas), folds.max() + 1), np.inf)
            for i, fold, values in self.held_out(alphas, folds):
                test = folds == fold
                residuals, weights = (self._targets - values)[None, test], self._weights[test]
                errors[i, fold] = held_out_errors(residuals, self._targets[test], weights, criterion)[0]
            best = choose(errors.mean(axis=1))
        alpha = float(alphas[best])
        means, found, left = self._solve(np.array([alpha]), self._weights[None, :], TOLERANCE, STEPS)
        warn_unless_solved(float(left.max()), alpha, self._name)
        return RidgeSolution(alpha, found[:, 0, 0], means[0], None, errors)

    def held_out(self, alphas: NDArray, folds: NDArray[np.intp]) -> Iterator[tuple[int, int, Matrix]]:
        """Yield the number of an alpha, a fold and the values (n, t) of the fit to the others, once converged."""
        n, t = self._targets.shape
        weights = self._weights * (folds != np.arange(folds.max() + 1)[:, None])
        for part in row_blocks(len(alphas), max(1, _NUMBERS // (n * t * len(weights)))):
            means, found, left = self._solve(alphas[part], weights, CV_TOLERANCE, CV_STEPS)
            values = self._systems.values(found.reshape(len(found), -1)).reshape(n, *found.shape[1:])
            for fold in range(len(weights)):
                for i in np.flatnonzero(left[fold].max(axis=1) <= CV_TOLERANCE):
                    yield part.start + int(i), fold, values[:, fold, i] + means[fold]

    def _solve(
        self, alphas: NDArray, weights: Matrix, tolerance: float, most_steps: int
    ) -> tuple[Matrix, NDArray[np.float64], NDArray[np.float64]]:
        """Return means (n_weights, t), coefficients (m, n_weights, n_alphas, t) and residuals."""
        systems, totals = self._systems, weights.sum(axis=1)
        shape = len(weights), len(alphas), self._targets.shape[1]
        means = weights @ self._targets / totals[:, None]
        sizes = np.stack([ridge_sizes(alphas, self._ridge, total) for total in totals])
        of = np.repeat(np.arange(shape[0]), shape[1] * shape[2])
        systems.use(weights, of, np.repeat(sizes.ravel(), shape[2]))
        sides = systems.sides(self._targets[:, None, :] - means)
        rhs = np.repeat(sides[:, :, None, :], shape[1], axis=2).reshape(len(sides), -1)
        squares = np.einsum("wn,nwt->wt", weights, (self._targets[:, None, :] - means) ** 2)
        norms = np.repeat(np.sqrt(squares)[:, None, :], shape[1], axis=1).ravel()
        found, left = solve_by_gradients(
            systems,
            rhs,
            norms * systems.units(),
            tolerance=tolerance,
            most_steps=most_steps,
            name=self._name,
            verbose=self._verbose,
        )
        return means, systems.coefficients(found.reshape(-1, *shape)), left.reshape(shape)
