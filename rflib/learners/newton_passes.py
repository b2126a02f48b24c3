"""Newton's method for linear SVMs with squared losses by passes over blocks of features, none of which is kept."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk

from rflib.learners.newton import PATIENCE, cholesky_solution, relative_gap, warn_of_gap

# Weight vectors that are solved for at a time, each with a matrix of D^2 numbers.
TOGETHER = 4
# Shares of Newton's step that are tried where the whole one lowers the objective too little.
_SHARES = 0.5 ** np.arange(1, 25)
_SUFFICIENT = 1e-4


class NewtonPasses:
    """The problem of `NewtonProblem`, whose rows are added block by block in every pass.

    A pass sums the objective, its gradient and the matrix I + 2 C Z_A^T Z_A at the weights that are tried; Z_A are
    the rows outside of their interval. Newton's whole step from there is what the next pass tries; where it lowers
    the objective too little, a pass compares shares of it. So a solution takes about as many passes as Newton's
    method takes steps, and vectors that are solved for together share them.

    Parameters
    ----------
    n_columns : int
        Columns D of the features.
    n_targets : int
        Number of weight vectors.
    C : float
        Cost of the losses.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Largest number of Newton's steps.
    fit_intercept : bool
        Append a constant column of ones, whose weight is regularised like any other.
    """

    def __init__(
        self, n_columns: int, n_targets: int, *, C: float, tol: float, max_iter: int, fit_intercept: bool
    ):
        self._tol, self._max_iter, self._fit_intercept = tol, max_iter, fit_intercept
        self._dtype = "float64"
        self._vectors = [_Vector(n_columns + fit_intercept, C) for _ in range(n_targets)]

    def __iter__(self) -> Iterator[str]:
        """Yield, before each pass that is needed, what it is; take Newton's steps after it."""
        n_pass = 0
        while active := self._active():
            n_pass += 1
            gap = max(vector.gap for vector in active)
            yield f"pass {n_pass} of Newton's method, relative duality gap {gap:.1e}"
            for vector in active:
                vector.move(self._tol, self._max_iter)

    def add(self, Z: NDArray, lower: NDArray, upper: NDArray, weights: NDArray | None) -> None:
        """Count in features Z (n, D), the ends of intervals (n, n_targets), and factors of the losses (n,)."""
        self._dtype = str(Z.dtype)
        Z = np.column_stack([Z, np.ones(len(Z), Z.dtype)]) if self._fit_intercept else Z
        factors = np.ones(len(Z)) if weights is None else weights
        for vector in self._active():
            j = self._vectors.index(vector)
            vector.add(Z, lower[:, j], upper[:, j], factors)

    def solution(self) -> tuple[NDArray[np.float64], int]:
        """Return the weights (D [+ 1], n_targets) and the largest number of steps.

        Warns
        -----
        ConvergenceWarning
            If a duality gap is larger than tol after max_iter steps, or if rounding errors allow no smaller
            one.
        """
        steps = max(int(vector.steps) for vector in self._vectors)
        gap = max(float(vector.gap) for vector in self._vectors)
        warn_of_gap(gap, self._tol, steps, self._max_iter, self._dtype)
        return np.column_stack([vector.weights for vector in self._vectors]), steps

    def state(self) -> dict[str, NDArray]:
        """Return what all passes so far have found, for `restore`."""
        vectors = enumerate(self._vectors)
        return {
            f"{name} {j}": np.asarray(value) for j, vector in vectors for name, value in vars(vector).items()
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Go on from where `state` was."""
        for key, value in state.items():
            name, j = key.split()
            setattr(self._vectors[int(j)], name, value if value.ndim else value[()])

    def _active(self) -> list["_Vector"]:
        return [vector for vector in self._vectors if not vector.is_done][:TOGETHER]


class _Vector:
    """The weights of one target and the sums of the pass that is under way."""

    def __init__(self, n_columns: int, C: float):
        self.C = C
        self.weights = np.zeros(n_columns)
        self.step = np.zeros(n_columns)
        self.share = 0.0  # of the step, that is tried; 0 while shares are compared
        self.objective = np.inf
        self.slope = 0.0  # of the objective along the step
        self.gap = 1.0
        self.steps = 0
        self.waited = 0  # steps since the objective became lower
        self.is_done = False
        self._begin_pass()

    def _begin_pass(self) -> None:
        self.pull = np.zeros_like(self.weights)  # sum of residuals times rows
        self.hessian = np.zeros((0, 0))  # until rows are added
        self.loss, self.ascent = 0.0, 0.0
        self.losses = np.zeros(len(_SHARES))

    @property
    def _is_comparing(self) -> bool:
        return bool(self.slope) and not self.share

    def add(self, Z: NDArray, lower: NDArray, upper: NDArray, factors: NDArray) -> None:
        if self._is_comparing:
            values, change = (Z @ np.column_stack([self.weights, self.step]).astype(Z.dtype)).T.astype(float)
            for i, share in enumerate(_SHARES):
                moved = values + share * change
                self.losses[i] += factors @ (moved - np.clip(moved, lower, upper)) ** 2
            return
        values = (Z @ (self.weights + self.share * self.step).astype(Z.dtype)).astype(np.float64)
        nearest = np.clip(values, lower, upper)
        outside = np.flatnonzero((values != nearest) & (factors > 0))
        nearest, factors = nearest[outside], factors[outside]
        residual = values[outside] - nearest
        rows = Z[outside].astype(np.float64)
        self.loss += float(factors @ residual**2)
        self.ascent -= float((factors * residual) @ nearest)
        self.pull += (factors * residual) @ rows
        rows *= np.sqrt(factors)[:, None]
        if not self.hessian.size:
            self.hessian = np.zeros((len(self.weights),) * 2, order="F")
        self.hessian = dsyrk(1.0, rows.T, beta=1.0, c=self.hessian, lower=True, overwrite_c=True)

    def move(self, tol: float, max_iter: int) -> None:
        """Draw the conclusions from a pass: what the next one tries."""
        if self._is_comparing:
            moved = self.weights + _SHARES[:, None] * self.step
            objectives = (moved**2).sum(axis=1) / 2 / max(self.C, 1.0) + min(self.C, 1.0) * self.losses
            best = int(np.argmin(objectives))
            self.share, self.is_done = float(_SHARES[best]), not objectives[best] < self.objective
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                self._judge(tol, max_iter)
        self._begin_pass()

    def _judge(self, tol: float, max_iter: int) -> None:
        tried = self.weights + self.share * self.step
        objective, gap = relative_gap(self.C, self.pull, self.loss, self.ascent, tried)
        if self.share == 1 and not objective <= self.objective + _SUFFICIENT * self.slope:
            self.share = 0.0
            return
        self.waited = 0 if objective < self.objective else self.waited + 1
        self.weights, self.objective, self.gap = tried, objective, gap
        gradient = self.weights + 2 * self.C * self.pull
        is_found = self.gap <= tol and bool(self.weights.any())  # weights of zero predict nothing
        self.is_done = is_found or self.steps >= max_iter or self.waited > PATIENCE or not gradient.any()
        if not self.is_done:
            step = self._direction(gradient)
            self.slope = float(gradient @ (step / max(self.C, 1.0)))
            self.is_done = not self.slope < 0
            self.step, self.share, self.steps = step, 1.0, self.steps + (not self.is_done)

    def _direction(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Newton's step; if its matrix has too few digits, by eigenvalues, for the same objective."""
        matrix = self.hessian.copy(order="F")
        matrix[np.diag_indices(len(matrix))] += 1 / (2 * self.C)
        found = cholesky_solution(matrix, gradient / (2 * self.C))
        if found is not None:
            return -found
        if not np.isfinite(matrix).all():
            raise ValueError("Newton's method: products of the features overflow. Scale the features.")
        values, vectors = eigh(self.hessian, lower=True)
        kept = values > np.finfo(np.float64).eps * len(values) * values[-1]
        along = vectors[:, kept].T @ self.weights
        pulls = self.pull @ vectors[:, kept]
        targets = (values[kept] * along - pulls) / (values[kept] + 1 / (2 * self.C))
        return vectors[:, kept] @ targets - self.weights
