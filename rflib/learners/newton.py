"""Newton's method for linear SVMs with squared losses on dense features, with few passes over the data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, svd
from sklearn.exceptions import ConvergenceWarning

from rflib.warn import warn

MAX_ITER = 100
# Iterations without a lower objective or gap, after which rounding errors allow no better.
PATIENCE = 3
_CG_STEPS = 50
_CG_TOLERANCE = 0.1
_FEW_ROWS = 1000
_LINE_STEPS = 20
# The least pivot of a Cholesky factor, relative to its row, that leaves digits for Newton's direction.
_LEAST_PIVOT = 1e-6


@dataclass(frozen=True)
class _Point:
    """Weights w, values Z w, the rows outside of their interval, the nearest ends, and the relative duality gap.

    The gradient and the objective are divided by max(C, 1).
    """

    weights: NDArray[np.float64]
    values: NDArray[np.float64]
    rows: NDArray
    nearest: NDArray[np.float64]
    gradient: NDArray[np.float64]
    objective: float
    gap: float


class NewtonProblem:
    """Targets as intervals: minimise ||w||^2 / 2 + C sum_i dist(<w, z_i>, [lower_i, upper_i])^2 for each column.

    The squared hinge is the interval [1, inf) or (-inf, -1], the squared epsilon-insensitive loss is
    [y - epsilon, y + epsilon]. With Z_A the rows outside of their interval, the direction s solves
    (I + 2 C Z_A^T Z_A) s = -gradient: by conjugate gradients, or directly, in min(|A|, d) unknowns, where these do
    not converge soon (Chapelle: Training a support vector machine in the primal, Neural Computation 19, 2007).
    The step goes to the minimum on its line. It ends by the duality gap, which comes with the gradient.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features, float32 or float64: the products are computed in that precision.
    lower, upper : ndarray of shape (n_samples, n_targets)
        Intervals; infinite ends are allowed.
    fit_intercept : bool
        Append a constant column of ones, whose weight is regularised like any other.
    weights : ndarray of shape (n_samples,), optional
        Factors of the rows' losses, positive.
    """

    def __init__(
        self,
        X: NDArray,
        lower: NDArray,
        upper: NDArray,
        *,
        fit_intercept: bool,
        weights: NDArray | None = None,
    ):
        self._Z = np.column_stack([X, np.ones(len(X), X.dtype)]) if fit_intercept else X
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            self._Z, lower, upper = self._Z * root.astype(X.dtype), lower * root, upper * root
        self._lower, self._upper = lower.T.astype(np.float64), upper.T.astype(np.float64)

    def solve(
        self,
        *,
        C: float,
        tol: float,
        max_iter: int = MAX_ITER,
        start: NDArray[np.float64] | None = None,
        verbose: bool = False,
    ) -> tuple[NDArray[np.float64], int]:
        """Return the weights (n_features [+ 1], n_targets) and the iterations of the longest problem.

        Parameters
        ----------
        C : float
            Cost of the losses.
        tol : float
            Largest duality gap, relative to the objective.
        max_iter : int
            Largest number of iterations.
        start : ndarray, optional
            Weights to start from.
        verbose : bool
            Print the iterations and the duality gap of each problem.

        Warns
        -----
        ConvergenceWarning
            If the gap is still larger after max_iter iterations, or where rounding errors allow no smaller one.
        """
        if start is None:
            start = np.zeros((self._Z.shape[1], len(self._lower)))
        problems = [_Column(self._Z, *bounds, C) for bounds in zip(self._lower, self._upper, strict=True)]
        with np.errstate(over="ignore", invalid="ignore"):
            found = [problem.solve(w, tol, max_iter) for problem, w in zip(problems, start.T, strict=True)]
        if verbose:
            for point, iterations in found:
                print(f"Newton, C = {C:g}: {iterations} iterations, relative duality gap {point.gap:.1e}")
        most = max(iterations for _, iterations in found)
        gap = max(point.gap for point, _ in found)
        warn_of_gap(gap, tol, most, max_iter, str(self._Z.dtype))
        return np.column_stack([point.weights for point, _ in found]), most


def warn_of_gap(gap: float, tol: float, iterations: int, max_iter: int, dtype: str) -> None:
    """Warn if a gap is larger than the tolerance, and say why and what to do.

    Warns
    -----
    ConvergenceWarning
        If it is.
    """
    if gap <= tol:
        return
    early = iterations < max_iter
    first = f"Rounding errors in {dtype} allow no smaller one: raise" if early else "Raise max_iter or"
    last = "pass float64 features" if dtype == "float32" else "scale the features"
    warn(
        f"Newton's method left a relative duality gap of {gap:.1e} after {iterations} iterations. "
        f"{first} tol, lower C, or {last}.",
        ConvergenceWarning,
        cause="Newton",
    )


def relative_gap(
    C: float, pull: NDArray, loss: float, ascent: float, weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the objective divided by max(C, 1), and the duality gap relative to it.

    With r the residuals of the rows outside of their interval, ``pull`` (d,) is Z^T r, ``loss`` is |r|^2, and
    ``ascent`` is -<r, nearest ends>. The dual objective is taken at the multipliers 2 C t r, for the best t >= 0.
    """
    square = _dot(weights, weights) / 2
    objective = square / C + loss
    bound = ascent / (2 * C * _dot(pull, pull) + loss) * ascent if ascent > 0 else 0.0
    gap = 1 - bound / objective if objective else 0.0
    return square / max(C, 1.0) + min(C, 1.0) * loss, gap


def cholesky_solution(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the solution of a positive definite system by its lower triangle; None if it would have no digits."""
    sizes = np.sqrt(matrix.diagonal())
    try:
        factor = cholesky(matrix, lower=True, overwrite_a=True)
    except (LinAlgError, ValueError):  # not positive definite to rounding, or not finite
        return None
    return cho_solve((factor, True), right) if (factor.diagonal() > _LEAST_PIVOT * sizes).all() else None


@dataclass(frozen=True)
class _Column:
    """The problem of one target."""

    Z: NDArray
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    C: float

    def solve(self, weights: NDArray[np.float64], tol: float, max_iter: int) -> tuple[_Point, int]:
        best = point = self._point(weights, self._times(weights))
        waited = 0
        for iteration in range(max_iter):
            # Weights of zero may have a small gap, but they predict nothing.
            is_found = point.gap <= tol and point.weights.any()
            if is_found or waited > PATIENCE or not point.gradient.any():
                return point if is_found else best, iteration
            point = self._move(point, self._direction(point))
            is_better = point.objective < best.objective or point.gap <= tol
            best, waited = (point, 0) if is_better else (best, waited + 1)
        return best, max_iter

    def _times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of Z and a vector, computed in the precision of Z."""
        return (self.Z @ vector.astype(self.Z.dtype)).astype(np.float64)

    def _point(self, weights: NDArray[np.float64], values: NDArray[np.float64]) -> _Point:
        nearest = np.clip(values, self.lower, self.upper)
        outside = np.flatnonzero(values != nearest)
        nearest, residual = nearest[outside], (values - nearest)[outside]
        rows = self.Z[outside] if len(outside) < len(values) else self.Z
        pull = (residual.astype(rows.dtype) @ rows).astype(np.float64)
        objective, gap = relative_gap(
            self.C, pull, _dot(residual, residual), -_dot(residual, nearest), weights
        )
        gradient = weights / max(self.C, 1.0) + 2 * min(self.C, 1.0) * pull
        return _Point(weights, values, rows, nearest, gradient, objective, gap)

    def _move(self, point: _Point, step: NDArray[np.float64]) -> _Point:
        """Go to the minimum on the line: the root of a derivative that is increasing and piecewise linear."""
        size = float(np.abs(step).max())
        if not 0 < size < np.inf:
            return point
        step = step / size
        change = self._times(step)
        ridge, cost, length = 1 / max(self.C, 1.0), 2 * min(self.C, 1.0), size
        along, square = ridge * _dot(point.weights, step), ridge * _dot(step, step)
        for _ in range(_LINE_STEPS):
            values = point.values + length * change
            residual = values - np.clip(values, self.lower, self.upper)
            moved = change[residual != 0]
            slope = along + length * square + cost * _dot(residual, change)
            correction = slope / (square + cost * _dot(moved, moved))
            length -= correction
            if abs(correction) <= 1e-6 * abs(length):
                break
        if not np.isfinite(length):
            return point
        return self._point(point.weights + length * step, point.values + length * change)

    def _direction(self, point: _Point) -> NDArray[np.float64]:
        """Return Newton's direction, (d,), to a tenth of the gradient's norm or better."""
        rows, cost, ridge = point.rows, 2 * min(self.C, 1.0), 1 / max(self.C, 1.0)
        if len(rows) <= _FEW_ROWS:
            return self._direct(point)
        residual = -point.gradient / np.abs(point.gradient).max()
        search, step = residual, np.zeros_like(residual)
        square = _dot(residual, residual)
        target = _CG_TOLERANCE**2 * square
        for _ in range(_CG_STEPS):
            image = ridge * search + cost * ((rows @ search.astype(rows.dtype)) @ rows)
            length = square / _dot(search, image)
            step = step + length * search
            residual = residual - length * image
            previous, square = square, _dot(residual, residual)
            if square <= target:
                return step
            search = residual + square / previous * search
        return self._direct(point)

    def _direct(self, point: _Point) -> NDArray[np.float64]:
        """Solve in |A| unknowns, by the matrix inversion lemma, or in d if these are fewer; in float64.

        If the matrix has too few digits, the weights are those of ridge regression with the nearest ends as
        targets, by a singular value decomposition.
        """
        rows, gradient = point.rows.astype(np.float64), point.gradient * max(self.C, 1.0)
        count, d = rows.shape
        matrix = rows @ rows.T if count < d else rows.T @ rows
        matrix[np.diag_indices(len(matrix))] += 1 / (2 * self.C)
        found = cholesky_solution(matrix, rows @ gradient if count < d else gradient / (2 * self.C))
        if found is not None:
            return rows.T @ found - gradient if count < d else -found
        left, sizes, right = svd(rows, full_matrices=False)
        kept = sizes > np.finfo(np.float64).eps * max(rows.shape) * sizes[0]
        sizes = sizes[kept]
        targets = (point.nearest @ left[:, kept]) / (sizes + 1 / (2 * self.C * sizes))
        return targets @ right[kept] - point.weights


def _dot(a: NDArray, b: NDArray) -> float:
    """Return the inner product, accumulated in float64."""
    return float(np.einsum("i,i->", a, b, dtype=np.float64))
