"""The systems of ridge regression on features, for conjugate gradients without a Gram matrix."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rflib.kernels.namespaces import Array, is_single
from rflib.learners.conjugate_gradients import Columns, LowRank, Matrix
from rflib.learners.kept_blocks import KeptBlocks
from rflib.learners.memory import machine_memory
from rflib.learners.moments import Blocks

# Features are kept up to this share of the machine's memory, else made again in each step, in blocks of at most so
# many numbers.
_KEPT_SHARE = 1 / 8
_BLOCK_NUMBERS = 1 << 22
# Columns of the sketch for D features: so many times the root of D.
_RANK = 2


class FeatureSystems:
    """The systems (Z^T W Z + c I) x = Z^T W t, where W are weights of the rows, which may leave out some of them.

    The preconditioner is that of a Nystroem approximation, from a sketch of the Gram matrix of all rows
    (Frangella, Tropp, Udell, Randomized Nystroem preconditioning, SIAM Journal on Matrix Analysis and Applications
    2023, algorithm 2.1).

    Parameters
    ----------
    blocks : iterable of (slice, ndarray)
        The rows' places and their features Z (n, D), as often as it is iterated.
    n_columns : int
        D.
    is_single : bool
        Whether the features are of single precision, of which products are then too, while residuals are not.
    weights : ndarray of shape (n,)
        Weights of all rows.
    rng : Generator
        Draws the sketch.
    """

    def __init__(
        self,
        blocks: Iterable[tuple[slice, Array]],
        n_columns: int,
        is_single: bool,
        weights: NDArray[np.float64],
        rng: np.random.Generator,
    ):
        self._blocks, self._all, self.has_single = blocks, weights, is_single
        self._weights = weights[None, :]
        rank = min(n_columns, int(np.ceil(_RANK * np.sqrt(n_columns))))
        test, _ = np.linalg.qr(rng.standard_normal((n_columns, rank)))
        self._of = np.zeros(rank, dtype=np.intp)
        sketch = self.product(test, self._of, single=is_single)
        eps = float(np.finfo(np.float32 if is_single else np.float64).eps)
        shift = np.sqrt(n_columns) * eps * np.linalg.norm(sketch)
        sketch += shift * test
        root = linalg.cholesky(test.T @ sketch, lower=True)
        self._factor = linalg.solve_triangular(root, sketch.T, lower=True).T

    def use(self, weights: Matrix, of: Columns, sizes: NDArray[np.float64]) -> None:
        """Choose the systems by weights (n_weights, n), and for each column the number of its weights and c."""
        self._weights, self._of, self.sizes = weights, of, sizes
        share = weights.sum(axis=1) / self._all.sum()
        self._low_rank = LowRank(self._factor, np.sqrt(share)[:, None] * np.ones(len(self._factor)))

    def product(self, V: Matrix, columns: Columns, *, single: bool) -> Matrix:
        """Return Z^T W Z v for each column v of V, whose systems are these."""
        of, total = self._of[columns], np.zeros_like(V)
        right = V.astype(np.float32) if single else V
        for rows, Z in self._blocks if single else self._wide_blocks():
            total += Z.T @ (self._weights[of][:, rows].T * (Z @ right)).astype(right.dtype, copy=False)
        return total

    def precondition(self, V: Matrix, columns: Columns) -> Matrix:
        """Return about (Z^T W Z + c I)^-1 v for each column v of V, whose systems are these."""
        return self._low_rank(V, self._of[columns], self.sizes[columns])

    def sides(self, targets: Matrix) -> Matrix:
        """Return the right-hand sides (D, n_weights, t) for targets (n, n_weights, t)."""
        weighted = self._weights.T[:, :, None] * targets
        total = np.zeros((len(self._factor), weighted[0].size))
        for rows, Z in self._wide_blocks():
            total += Z.T @ weighted[rows].reshape(len(Z), -1)
        return total.reshape(-1, *weighted.shape[1:])

    def units(self) -> NDArray[np.float64]:
        """Return what `WeightedSystems` says: Z (Z^T Z + c I)^-1 has norms of at most 1 / (2 sqrt(c))."""
        return 2 * np.sqrt(self.sizes)

    def coefficients(self, solutions: Matrix) -> Matrix:
        """Return what `values` takes, for solutions of all systems."""
        return solutions

    def values(self, coefficients: Matrix) -> Matrix:
        """Return the values (n, k) at all rows of coefficients (D, k)."""
        return np.concatenate([Z @ coefficients for _, Z in self._wide_blocks()])

    def _wide_blocks(self) -> Iterable[tuple[slice, Matrix]]:
        return ((rows, Z.astype(np.float64, copy=False)) for rows, Z in self._blocks)


def feature_systems(
    blocks: Callable[[int], Blocks],
    first: Array,
    height: int,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> FeatureSystems:
    """Return the systems of rows with weights (n,), whose blocks of a height are made when they are asked for.

    ``first`` are the features of a few rows, and ``height`` is the largest one.
    """
    n, D = len(weights), first.shape[1]
    kept = KeptBlocks(
        lambda: blocks(max(1, min(height, _BLOCK_NUMBERS // D))),
        lambda Z: n * D * Z.itemsize <= _KEPT_SHARE * machine_memory(),
    )
    return FeatureSystems(kept, D, is_single(first), weights, rng)
