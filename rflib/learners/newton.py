"""Newton's method for linear SVMs with squared losses on dense features, with few passes over the data."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from sklearn.exceptions import ConvergenceWarning

MAX_ITER = 100
_CG_STEPS = 50
_CG_TOLERANCE = 0.1
_FEW_ROWS = 1000
_LINE_STEPS = 20


@dataclass(frozen=True)
class _Point:
    """Weights w, values Z w, the rows outside of their interval, gradient, and relative duality gap."""

    weights: NDArray
    values: NDArray
    rows: NDArray
    gradient: NDArray
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
        self._lower, self._upper = lower.T.astype(X.dtype), upper.T.astype(X.dtype)

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
            If the gap is still larger after max_iter iterations.
        """
        if start is None:
            start = np.zeros((self._Z.shape[1], len(self._lower)))
        initial = start.T.astype(self._Z.dtype)
        problems = [_Column(self._Z, *bounds, C) for bounds in zip(self._lower, self._upper, strict=True)]
        found = [problem.solve(w, tol, max_iter) for problem, w in zip(problems, initial, strict=True)]
        if verbose:
            for point, iterations in found:
                print(f"Newton, C = {C:g}: {iterations} iterations, relative duality gap {point.gap:.1e}")
        if (gap := max(point.gap for point, _ in found)) > tol:
            warnings.warn(
                f"Newton's method left a relative duality gap of {gap:.1e} after {max_iter} iterations. Raise "
                "max_iter or tol, lower C, or pass float64 features.",
                ConvergenceWarning,
                stacklevel=4,
            )
        weights = np.column_stack([point.weights for point, _ in found]).astype(np.float64)
        return weights, max(iterations for _, iterations in found)


@dataclass(frozen=True)
class _Column:
    """The problem of one target."""

    Z: NDArray
    lower: NDArray
    upper: NDArray
    C: float

    def solve(self, weights: NDArray, tol: float, max_iter: int) -> tuple[_Point, int]:
        point = self._point(weights, self.Z @ weights)
        for iteration in range(max_iter):
            if point.gap <= tol:
                return point, iteration
            point = self._move(point, self._direction(point))
        return point, max_iter

    def _point(self, weights: NDArray, values: NDArray) -> _Point:
        nearest = np.clip(values, self.lower, self.upper)
        outside = np.flatnonzero(values != nearest)
        nearest, residual = nearest[outside], (values - nearest)[outside]
        rows = self.Z[outside] if len(outside) < len(values) else self.Z
        dual = 2 * self.C * (residual @ rows)
        # the dual objective at the multipliers 2 C t residual, for the best t >= 0
        loss = self.C * _dot(residual, residual)
        ascent = max(0.0, -2 * self.C * _dot(residual, nearest))
        bound = ascent**2 / (2 * _dot(dual, dual) + 4 * loss) if ascent else 0.0
        objective = _dot(weights, weights) / 2 + loss
        gap = 1 - bound / objective if objective else 0.0
        return _Point(weights, values, rows, weights + dual, gap)

    def _move(self, point: _Point, step: NDArray) -> _Point:
        """Go to the minimum on the line: the root of a derivative that is increasing and piecewise linear."""
        change = self.Z @ step
        along, square = _dot(point.weights, step), _dot(step, step)
        length = 1.0
        for _ in range(_LINE_STEPS):
            values = point.values + point.values.dtype.type(length) * change
            residual = values - np.clip(values, self.lower, self.upper)
            moved = change[residual != 0]
            slope = along + length * square + 2 * self.C * _dot(residual, change)
            correction = slope / (square + 2 * self.C * _dot(moved, moved))
            length -= correction
            if abs(correction) <= 1e-6 * abs(length):
                break
        scale = point.values.dtype.type(length)
        return self._point(point.weights + scale * step, point.values + scale * change)

    def _direction(self, point: _Point) -> NDArray:
        """Return Newton's direction, (d,), to a tenth of the gradient's norm or better."""
        rows, C = point.rows, self.C
        if len(rows) <= _FEW_ROWS:
            return self._direct(point)
        residual = -point.gradient
        search, step = residual, np.zeros_like(residual)
        square = _dot(residual, residual)
        target = _CG_TOLERANCE**2 * square
        for _ in range(_CG_STEPS):
            image = search + 2 * C * ((rows @ search) @ rows)
            length = step.dtype.type(square / _dot(search, image))
            step = step + length * search
            residual = residual - length * image
            previous, square = square, _dot(residual, residual)
            if square <= target:
                return step
            search = residual + step.dtype.type(square / previous) * search
        return self._direct(point)

    def _direct(self, point: _Point) -> NDArray:
        """Solve in |A| unknowns, by the matrix inversion lemma, or in d if these are fewer; in float64."""
        rows, gradient = point.rows.astype(np.float64), point.gradient.astype(np.float64)
        count, d = rows.shape
        if count < d:
            inner = rows @ rows.T
            inner[np.diag_indices(count)] += 1 / (2 * self.C)
            step = rows.T @ solve(inner, rows @ gradient, assume_a="pos", overwrite_a=True) - gradient
        else:
            hessian = 2 * self.C * (rows.T @ rows)
            hessian[np.diag_indices(d)] += 1
            step = -solve(hessian, gradient, assume_a="pos", overwrite_a=True)
        return step.astype(point.gradient.dtype)


def _dot(a: NDArray, b: NDArray) -> float:
    """Return the inner product, accumulated in float64."""
    return float(np.einsum("i,i->", a, b, dtype=np.float64))
