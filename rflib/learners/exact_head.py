"""Ridge classification with an exact kernel, where rows are also predicted by the rows before them."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.utils.validation import check_consistent_length, validate_data

from rflib.kernels.base import Kernel
from rflib.learners.class_weight import ClassWeight, check_class_weight, class_weights
from rflib.learners.conjugate_gradients import Columns, solve_by_gradients
from rflib.learners.kernel_products import SingleKernel
from rflib.learners.logistic_head import SoftmaxHead
from rflib.learners.one_vs_rest import encode_labels
from rflib.learners.values import as_labels
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_number

# The share of the rows that are predicted by those before them, and the range of the factor of their scores.
_LATER, _FACTORS = 4, (1e-2, 1e3)
_HEIGHT = 512
# From so many rows, and so many more for each column of targets, conjugate gradients are faster.
_FEWEST, _FEWEST_A_COLUMN = 4000, 400
# Landmarks of the preconditioner, and the share of the trace that is added to their matrix. The residuals, as
# shares of the targets, at which accuracy and log loss no longer change, and steps, at most.
_LANDMARKS, _ROUNDING, _TOLERANCE, _STEPS = 1000, 1e-6, 0.02, 200


class ExactHead(SoftmaxHead):
    """Classify by kernel ridge regression of +1 and -1, in single precision, with probabilities.

    With K + c I = L L^T for rows in random order, the solution of L z = y has L_ii z_i = y_i minus the prediction
    of row i by the fit to the rows before it (Dawid, Present position and potential developments, 1984). So one
    factorisation gives errors of the last quarter of the rows as if they were held out. Of more than some thousand
    rows, conjugate gradients are faster. They solve for three quarters, which predict the last one, and go
    on from there for all rows; the preconditioner is the Nystroem approximation of K (Frangella, Tropp and Udell,
    Randomized Nystroem preconditioning, 2023). The probabilities are softmax(s f), with the factor s that has the
    least log loss in the last quarter. Memory: n^2 numbers of 4 bytes.

    Parameters
    ----------
    kernel : Kernel
        Radial and positive definite.
    alpha : float, default=1e-6
        Ridge as a share of the weights of the rows.
    class_weight : dict or "balanced", optional
        As for `KRRClassifier`.
    seed : int, default=0
        Seed of the order of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Rows.
    dual_coef_, intercept_ : ndarray of shape (n_samples, n_classes) and (n_classes,)
        The function of each class.
    error_ : float
        Mean squared error of the last quarter of the rows, predicted by those before, summed over the classes.
    factor_ : float
        That of the scores.
    """

    def __init__(
        self, kernel: Kernel, alpha: float = 1e-6, *, class_weight: ClassWeight = None, seed: int = 0
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.class_weight = class_weight
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X (n_samples, n_features) and labels y (n_samples,).

        If the matrix is singular in single precision, the ridge is made ten times larger, and again.
        """
        check_number(self, "alpha", above=0)
        check_class_weight(self)
        rows, labels = validate_data(self, X, dtype=np.float32), as_labels(self, y)
        check_consistent_length(rows, labels)
        weights = class_weights(self, labels, sample_weight)
        order = np.random.default_rng(self.seed).permutation(len(rows))
        order = order if weights is None else order[weights[order] > 0]
        self.classes_, codes = encode_labels(self, labels, weights)
        self.X_fit_, codes = rows[order], codes[order]
        own = np.ones(len(order)) if weights is None else weights[order]
        targets = 2 * np.eye(len(self.classes_))[codes] - 1
        self.intercept_ = own @ targets / own.sum()
        ridge = (self.alpha * own.sum() / own).astype(np.float32)
        rest, later = targets - self.intercept_, slice(len(order) - len(order) // _LATER, None)
        rest = rest[:, 1:] if len(self.classes_) == 2 else rest
        by_steps = len(order) > _FEWEST + _FEWEST_A_COLUMN * rest.shape[1]
        solved = self._by_gradients(ridge, rest, later) if by_steps else None
        found, left = solved or self._by_cholesky(ridge, rest, later)
        if len(self.classes_) == 2:
            found, left = np.hstack([-found, found]), np.hstack([-left, left])
        self.dual_coef_ = found
        self.error_ = float(np.average((left**2).sum(axis=1), weights=own[later]))
        self.factor_ = best_factor(targets[later] - left, codes[later], own[later])[0]
        return self

    def values(self, X: NDArray) -> NDArray[np.float64]:
        """Return the function of each class at rows X, (n_samples, n_classes)."""
        kernel = SingleKernel(self.kernel, self.X_fit_)
        parts = [kernel(*kernel.placed(X[part])) @ self.dual_coef_ for part in row_blocks(len(X), _HEIGHT)]
        return np.float64(np.concatenate(parts)) + self.intercept_

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.factor_ * self.values(validate_data(self, X, dtype=np.float32, reset=False))

    def _by_cholesky(self, ridge: NDArray, sides: NDArray, later: slice) -> tuple[NDArray, NDArray]:
        """Return the solutions, and the errors of later rows, by a factorisation."""
        while (info := self._factor(ridge))[1]:
            ridge = 10 * ridge
        factor, solve = info[0], linalg.get_lapack_funcs("trtrs", info[:1])
        z = solve(factor, sides, lower=1)[0]
        left = factor.diagonal()[later, None] * z[later].astype(np.float64)
        return solve(factor, z, lower=1, trans=1)[0], left

    def _factor(self, ridge: NDArray) -> tuple[NDArray, int]:
        """Return the Cholesky factor of the kernel matrix and the ridge, in its lower triangle, and its state."""
        matrix = self._matrix()
        np.fill_diagonal(matrix, 1 + ridge)
        done: tuple[NDArray, int] = linalg.get_lapack_funcs("potrf", (matrix,))(
            matrix.T, lower=1, clean=0, overwrite_a=1
        )
        return done

    def _by_gradients(self, ridge: NDArray, sides: NDArray, later: slice) -> tuple[NDArray, NDArray] | None:
        """Return the solutions, and the errors of later rows, by conjugate gradients, or None if these fail."""
        K, first, sides = self._matrix(), later.start, sides.astype(np.float32)
        for part in row_blocks(len(K), _HEIGHT):
            K[part.start :, part] = K[part, part.start :].T
        begun, begin = np.zeros_like(sides), slice(first)
        try:
            begun[begin] = _solution(K[begin, begin], ridge[begin], sides[begin], begun[begin])
            left = (sides[later] - K[later] @ begun).astype(np.float64)
            return _solution(K, ridge, sides, begun), left
        except (ValueError, linalg.LinAlgError):
            return None

    def _matrix(self) -> NDArray:
        """Return the kernel matrix in its upper triangle."""
        kernel, n = SingleKernel(self.kernel, self.X_fit_), len(self.X_fit_)
        (rows, norms), matrix = kernel.fixed, np.zeros((n, n), dtype=np.float32)
        for part in row_blocks(n, _HEIGHT):
            matrix[part, part.start :] = kernel(rows[part], norms[part], slice(part.start, n))
        return matrix


class _Ridge:
    """The systems (K + diag(ridge)) x = b, all in single precision, for `solve_by_gradients`."""

    has_single = False  # what is called double precision there is that of the matrix

    def __init__(self, K: NDArray, ridge: NDArray, n_sides: int):
        self._K, self._ridge = K, ridge[:, None]
        self.sizes: NDArray = np.zeros(n_sides, dtype=np.float32)  # the ridge is in the product
        m = min(_LANDMARKS, len(K))
        corner = K[:m, :m] + _ROUNDING * m * np.eye(m, dtype=np.float32)
        root = linalg.cholesky(corner, lower=True)
        self._columns = linalg.solve_triangular(root, K[:m], lower=True, check_finite=False)
        small = np.eye(m, dtype=np.float32) + (self._columns / ridge) @ self._columns.T
        self._factor = linalg.cho_factor(small, check_finite=False)

    def product(self, V: NDArray, columns: Columns, *, single: bool) -> NDArray:
        """Return (K + diag(ridge)) V."""
        product: NDArray = self._K @ V + self._ridge * V
        return product

    def precondition(self, V: NDArray, columns: Columns) -> NDArray:
        """Return about the inverse of that, by Woodbury's formula."""
        V = V / self._ridge
        solved = linalg.cho_solve(self._factor, self._columns @ V, check_finite=False)
        nearly: NDArray = V - (self._columns.T @ solved) / self._ridge
        return nearly


def _solution(K: NDArray, ridge: NDArray, sides: NDArray, start: NDArray) -> NDArray:
    """Return about (K + diag(ridge))^-1 sides, from a first guess.

    Raises
    ------
    ValueError
        If rounding makes the matrix indefinite, or there are too many steps.
    """
    n_sides = sides.shape[1]
    systems, units = _Ridge(K, ridge, n_sides), np.linalg.norm(sides, axis=0)
    rest = sides - systems.product(start, np.arange(n_sides), single=True)
    limit = 2 * _TOLERANCE  # a run ends at half of it
    more, left = solve_by_gradients(
        systems, rest, units, tolerance=limit, most_steps=_STEPS, name="ExactHead", verbose=False
    )
    if (left > limit).any():
        raise ValueError("Conjugate gradients made too many steps.")
    return start + more


def best_factor(
    scores: NDArray[np.float64], codes: NDArray, weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the factor of scores (n, n_classes) with the least mean log loss of their softmax, and this loss."""
    own, shares = scores[np.arange(len(scores)), codes], weights / weights.sum()

    def loss(logarithm: float) -> Any:
        factor = np.exp(logarithm)
        return shares @ (logsumexp(factor * scores, axis=1) - factor * own)

    found = minimize_scalar(loss, bounds=np.log(_FACTORS), method="bounded")
    return float(np.exp(found.x)), float(found.fun)
