"""Kernel ridge regression from a kernel matrix: held-out errors, the choice of a ridge, and the solution."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.learners.leave_one_out import held_out_errors, residuals_of_kernel
from rflib.learners.repair import Repair
from rflib.learners.ridge_state import RidgeSolution
from rflib.learners.ridge_system import ridge_sizes, solve_ridges


@dataclass(frozen=True)
class MatrixRidge:
    """Ridge regression of targets (n, t) on rows with the kernel matrix (n, n) and weights (n,) or none.

    ``ridge`` is the unit of alphas, as in `ridge_sizes`, ``repair`` names what is done to an indefinite matrix,
    ``criterion`` what held-out errors are, and ``name`` is for messages.
    """

    matrix: NDArray[np.float64]
    targets: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    ridge: str
    repair: str
    criterion: str
    name: str

    def fit(
        self, alphas: NDArray, folds: NDArray[np.intp] | None, choose: Callable[[NDArray], int]
    ) -> tuple[RidgeSolution, Repair, NDArray[np.float64] | None]:
        """Return the solution, with the means of the targets as intercepts, the repair, and left-out predictions.

        Of several alphas ``choose`` gets the held-out errors (n_alphas,) and returns the number of the best one:
        those of folds (n,), or where there are none of each row left out, whose predictions (n, t) come with it.
        """
        errors, left_out, best = None, None, 0
        if len(alphas) > 1 and folds is None:
            left_out = residuals_of_kernel(self.matrix, self.targets, self.weights, alphas, self.ridge)
            errors = held_out_errors(left_out, self.targets, self.weights, self.criterion)[:, None]
        elif folds is not None:
            errors = self._held_out_errors(alphas, folds)
        if errors is not None:
            best = choose(errors.mean(axis=1))
        predicted = None if left_out is None else self.targets - left_out[best]
        del left_out
        repair = Repair.of(self.matrix, self.repair, self.weights)
        matrix = repair.training(self.matrix)
        means, (dual,) = self._solve(matrix, self.targets, alphas[best : best + 1], self.weights)
        if dual is None:
            raise ValueError(
                f"{self.name}: the system K + c I is singular at alpha = {alphas[best]:g}. Use another alpha."
            )
        return RidgeSolution(float(alphas[best]), dual, means, None, errors), repair, predicted

    def _held_out_errors(self, alphas: NDArray, folds: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the loss of each alpha on each fold, (n_alphas, n_folds); inf where a system is singular."""
        errors = np.full((len(alphas), folds.max() + 1), np.inf)
        for fold in range(folds.max() + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            ours, held_out = (None if self.weights is None else self.weights[part] for part in (train, test))
            among, truth = self.matrix[np.ix_(train, train)], self.targets[test]
            repair = Repair.of(among, self.repair, ours)
            cross = repair.rows(self.matrix[np.ix_(test, train)])
            mean, solutions = self._solve(repair.training(among), self.targets[train], alphas, ours)
            for i, dual in enumerate(solutions):
                if dual is not None:
                    residuals = (truth - (cross @ dual + mean))[None]
                    errors[i, fold] = held_out_errors(residuals, truth, held_out, self.criterion)[0]
        return errors

    def _solve(
        self, K: NDArray, targets: NDArray, alphas: NDArray, weights: NDArray | None
    ) -> tuple[NDArray[np.float64], list[NDArray | None]]:
        """Return the means of the targets, and the dual coefficients for each alpha, None if it is singular.

        With R = diag(sqrt(weights)) these are R (R K R + c I)^-1 R (targets - means).
        """
        if weights is None:
            mean = targets.mean(axis=0)
            return mean, _solve_any(K, targets - mean, ridge_sizes(alphas, self.ridge, len(K)))
        mean, roots = np.average(targets, axis=0, weights=weights), np.sqrt(weights)
        sizes = ridge_sizes(alphas, self.ridge, float(weights.sum()))
        solutions = _solve_any(K * np.outer(roots, roots), (targets - mean) * roots[:, None], sizes)
        return mean, [None if solution is None else solution * roots[:, None] for solution in solutions]


def _solve_any(K: NDArray, Y: NDArray, sizes: NDArray) -> list[NDArray | None]:
    """Return the solutions of (K + c I) A = Y: by Cholesky, or else by an indefinite factorisation."""
    solutions = list(solve_ridges(K, Y, sizes))
    for i, solution in enumerate(solutions):
        if solution is None:
            (solutions[i],) = solve_ridges(K, Y, sizes[i : i + 1], np.ones(len(K)))
    return solutions
