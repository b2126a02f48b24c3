"""Exact-kernel ridge regression without the kernel matrix: by conjugate gradients, from products in tiles."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows
from rflib.learners.conjugate_gradients import (
    CV_STEPS,
    CV_TOLERANCE,
    STEPS,
    TOLERANCE,
    Columns,
    LowRank,
    Matrix,
    solve_by_gradients,
)
from rflib.learners.kernel_products import KernelProducts
from rflib.learners.ridge_system import ridge_sizes
from rflib.maps.landmarks import pivoted_cholesky, positive_kernel
from rflib.maps.row_blocks import row_blocks

# Columns of the preconditioner for n rows: so many times the root of n.
_RANK = 6
# Numbers in the right-hand sides of folds and ridges that are solved for at once.
_NUMBERS = 1 << 24


class KernelSystems:
    """The systems (S K S + c I) x = S t for some diagonal matrices S, by which rows are weighted and left out.

    Parameters
    ----------
    kernel : Kernel
        A positive semidefinite kernel.
    X : ndarray or csr_array of shape (n, d)
        Rows, in double precision.
    rng : Generator
        Draws the pivots of the preconditioner.
    """

    has_single = True

    def __init__(self, kernel: Kernel, X: Rows, rng: np.random.Generator):
        n = X.shape[0]
        self.products = KernelProducts(kernel, X)
        rank = min(n, int(np.ceil(_RANK * np.sqrt(n))))
        _, factor, signs = pivoted_cholesky(positive_kernel(kernel), X, rank, rng)
        self._factor = factor if (signs > 0).all() else factor[:, signs > 0]

    def use(self, scales: Matrix, of: Columns, sizes: NDArray[np.float64]) -> None:
        """Choose the systems: diagonals of the S (n_scales, n), and for each column the number of its S and c."""
        self._scales, self._of, self.sizes = scales, of, sizes
        self._low_rank = LowRank(self._factor, scales)

    def product(self, V: Matrix, columns: Columns, *, single: bool) -> Matrix:
        """Return S K S v for each column v of V, whose systems are these."""
        scales = self._scales[self._of[columns]].T
        return scales * self.products(scales * V, single=single)

    def precondition(self, V: Matrix, columns: Columns) -> Matrix:
        """Return about (S K S + c I)^-1 v for each column v of V, whose systems are these."""
        return self._low_rank(V, self._of[columns], self.sizes[columns])


class ExactGradients:
    """Ridge regression of targets on the rows of some systems.

    Parameters
    ----------
    systems : KernelSystems
        Their rows.
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
        systems: KernelSystems,
        targets: Matrix,
        weights: NDArray[np.float64] | None,
        ridge: str,
        *,
        name: str,
        verbose: bool,
    ):
        self._systems, self._targets, self._ridge, self._told = systems, targets, ridge, (name, verbose)
        self._weights = np.ones(len(targets)) if weights is None else weights

    def solve(self, alpha: float) -> tuple[Matrix, Matrix, float]:
        """Return the means of the targets (t,), dual coefficients (n, t) and the largest residual."""
        means, duals, left = self._solve(np.array([alpha]), self._weights[None, :], TOLERANCE, STEPS)
        return means[0], duals[:, 0, 0], float(left.max())

    def held_out(self, alphas: NDArray, folds: NDArray[np.intp]) -> Iterator[tuple[int, int, Matrix]]:
        """Yield the number of an alpha, a fold and the values (n, t) of the fit to the others, once converged."""
        n, t = self._targets.shape
        weights = self._weights * (folds != np.arange(folds.max() + 1)[:, None])
        for part in row_blocks(len(alphas), max(1, _NUMBERS // (n * t * len(weights)))):
            means, duals, left = self._solve(alphas[part], weights, CV_TOLERANCE, CV_STEPS)
            values = self._systems.products(duals.reshape(n, -1), single=False).reshape(duals.shape)
            for fold in range(len(weights)):
                for i in np.flatnonzero(left[fold].max(axis=1) <= CV_TOLERANCE):
                    yield part.start + int(i), fold, values[:, fold, i] + means[fold]

    def _solve(
        self, alphas: NDArray, weights: Matrix, tolerance: float, most_steps: int
    ) -> tuple[Matrix, NDArray[np.float64], NDArray[np.float64]]:
        """Return means (n_weights, t), duals (n, n_weights, n_alphas, t) and residuals, for several weightings."""
        shape = len(weights), len(alphas), self._targets.shape[1]
        means = weights @ self._targets / weights.sum(axis=1)[:, None]
        roots = np.sqrt(weights)
        sides = roots.T[:, :, None] * (self._targets[:, None, :] - means)
        sizes = np.stack([ridge_sizes(alphas, self._ridge, total) for total in weights.sum(axis=1)])
        of = np.repeat(np.arange(shape[0]), shape[1] * shape[2])
        self._systems.use(roots, of, np.repeat(sizes.ravel(), shape[2]))
        rhs = np.repeat(sides[:, :, None, :], shape[1], axis=2).reshape(len(sides), -1)
        name, verbose = self._told
        found, left = solve_by_gradients(
            self._systems, rhs, tolerance=tolerance, most_steps=most_steps, name=name, verbose=verbose
        )
        return means, found.reshape(-1, *shape) * roots.T[:, :, None, None], left.reshape(shape)
