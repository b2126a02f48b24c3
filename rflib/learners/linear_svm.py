"""Linear support vector machines without an estimator: losses, and the solvers that minimise them for one cost."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from rflib.learners.liblinear_problem import PRIMAL_SOLVERS, RAND_LOCK, LiblinearProblem
from rflib.learners.newton import MAX_ITER, NewtonProblem
from rflib.learners.one_vs_rest import values_to_codes
from rflib.warn import warn

# liblinear repeats the rows of weights that are whole numbers, as long as they are no more than this on average
MOST_REPEATS = 4
# iterations of scikit-learn's build of liblinear, where max_iter is not given
LIMIT = 1000

# from a cost and weights to start from to weights (n_features [+ 1 for the bias], n_vectors) and iterations
Solver = Callable[[float, NDArray | None], tuple[NDArray[np.float64], int]]


class Margins:
    """The losses of labels, one against the rest: a value of at least 1 has none, and of others at most -1."""

    # (loss, dual) -> liblinear's option -s; a loss whose primal is absent has a dual solver only
    numbers = {("squared_hinge", False): 2, ("squared_hinge", True): 1, ("hinge", True): 3}  # noqa: RUF012
    # scikit-learn's build of liblinear, which has a parameter max_iter
    limited = svm.LinearSVC
    # what it and liblinear know of the loss
    options: dict[str, float] = {}  # noqa: RUF012

    def targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return the classes that rows have and their labels: -1 and +1 if they are two, else their numbers."""
        labels, codes = np.unique(y, return_inverse=True)
        return 2 * codes - 1 if len(labels) == 2 else codes, labels

    def intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return where values have no loss, lower and upper ends, (n_samples, n_vectors) each."""
        return beyond(targets[:, None] == (1 if targets.min() == -1 else np.arange(targets.max() + 1)))

    def losses(self, y: NDArray, values: NDArray, labels: NDArray) -> NDArray:
        """Return what cross-validation minimises the mean of, for each row."""
        wrong: NDArray = labels[values_to_codes(values)] != y
        return wrong

    def is_trivial(self, targets: NDArray) -> bool:
        """Return whether there is one class, in a fold: it is predicted, whatever the weights are."""
        return not targets.any()


class Tube(Margins):
    """The losses of real targets: values within ``epsilon`` of them have none."""

    numbers = {  # noqa: RUF012
        ("squared_epsilon_insensitive", False): 11,
        ("squared_epsilon_insensitive", True): 12,
        ("epsilon_insensitive", True): 13,
    }
    limited = svm.LinearSVR

    def __init__(self, epsilon: float):
        self.options = {"epsilon": epsilon}

    def targets(self, y: NDArray) -> tuple[NDArray, NDArray]:
        """Return the targets, which have no labels."""
        return y, np.zeros(1)

    def intervals(self, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return where values have no loss, lower and upper ends, (n_samples, 1) each."""
        epsilon = self.options["epsilon"]
        return (targets - epsilon)[:, None], (targets + epsilon)[:, None]

    def losses(self, y: NDArray, values: NDArray, labels: NDArray) -> NDArray:
        """Return what cross-validation minimises the mean of, for each row."""
        squares: NDArray = (y - values[:, 0]) ** 2
        return squares

    def is_trivial(self, targets: NDArray) -> bool:
        """Return False: all targets are to be fitted."""
        return False


@dataclass(frozen=True)
class LinearMachine:
    """A linear machine: what it minimises, and by which solver. ``name`` is for messages."""

    name: str
    task: Margins
    loss: str
    solver: str
    dual: bool | str
    tol: float
    max_iter: int | None
    fit_intercept: bool
    verbose: bool

    def on(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, hashes: NDArray, seed: int
    ) -> tuple[Solver, NDArray]:
        """Return the solver for rows, without those of weight zero, and the labels of its weight vectors.

        Where liblinear stops depends on the order of the rows; they are ordered by their ``hashes``.
        """
        if sample_weight is not None and not sample_weight.all():
            kept = sample_weight > 0
            X, y, sample_weight, hashes = X[kept], y[kept], sample_weight[kept], hashes[kept]
        targets, labels = self.task.targets(y)
        return self._solver(X, targets, sample_weight, hashes, seed), labels

    def held_out_losses(
        self, solve: Solver, labels: NDArray, Cs: NDArray, X: NDArray, y: NDArray
    ) -> list[NDArray]:
        """Return the losses of other rows for each cost, from one solution to the next."""
        weights: NDArray | None = None
        losses = []
        for C in Cs:
            weights, _ = solve(C, weights)
            losses.append(self.task.losses(y, affine(X, *self.split(weights)), labels))
        return losses

    def split(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Split weights into coefficients (n_vectors, n_features) and intercepts (n_vectors,)."""
        if self.fit_intercept:
            return weights[:-1].T, weights[-1]
        return weights.T, np.zeros(weights.shape[1])

    def check_squared_loss(self) -> None:
        """Raise ValueError unless Newton's method minimises the loss."""
        if not self.loss.startswith("squared") or self.dual is True:
            raise ValueError(
                f"{self.name}: solver='newton' minimises a squared loss in the primal. Leave loss and dual at "
                "their defaults."
            )

    def _solver(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, hashes: NDArray, seed: int
    ) -> Solver:
        """Return the solver for targets as liblinear takes them."""
        if self.task.is_trivial(y):
            return lambda C, start: (np.zeros((X.shape[1] + self.fit_intercept, 1)), 0)
        if self.solver == "newton":
            self.check_squared_loss()
            bounds = self.task.intervals(y)
            problem = NewtonProblem(X, *bounds, fit_intercept=self.fit_intercept, weights=sample_weight)
            limit = self.max_iter or MAX_ITER
            return lambda C, start: problem.solve(
                C=C, start=start, tol=self.tol, max_iter=limit, verbose=self.verbose
            )
        numbers = self.task.numbers
        dual = (self.loss, False) not in numbers if self.dual == "auto" else bool(self.dual)
        if (self.loss, dual) not in numbers:
            raise ValueError(
                f"{self.name}: loss={self.loss!r} is solved in the dual only. Set dual=True or 'auto'."
            )
        whole = sample_weight is None or (
            np.all(sample_weight == np.round(sample_weight)) and sample_weight.mean() <= MOST_REPEATS
        )
        if self.max_iter is not None or not whole:
            return self._limited_liblinear(X, y, sample_weight, dual, seed)
        order = np.lexsort((y, hashes))
        if sample_weight is not None:
            order = np.repeat(order, sample_weight[order].astype(np.intp))
        return self._liblinear(X, y, order, numbers[self.loss, dual], seed)

    def _limited_liblinear(
        self, X: NDArray, y: NDArray, sample_weight: NDArray | None, dual: bool, seed: int
    ) -> Solver:
        limit = self.max_iter or LIMIT
        same = {name: getattr(self, name) for name in ("loss", "tol", "fit_intercept", "verbose")}
        machine = self.task.limited(**same, **self.task.options, dual=dual, random_state=seed, max_iter=limit)

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            with RAND_LOCK, warnings.catch_warnings():
                # scikit-learn's own warning, beside the one below
                warnings.filterwarnings("ignore", category=ConvergenceWarning, module=r"sklearn\.svm")
                machine.set_params(C=C).fit(X, y, sample_weight=sample_weight)
            if machine.n_iter_ >= limit:
                warn(
                    f"{self.name}: {limit} iterations did not reach tol={self.tol:g}. Raise max_iter or tol, or "
                    "lower C.",
                    ConvergenceWarning,
                    cause=self.name,
                )
            weights = np.atleast_2d(machine.coef_).T
            if self.fit_intercept:
                weights = np.vstack([weights, machine.intercept_])
            return weights, machine.n_iter_

        return solve

    def _liblinear(self, X: NDArray, y: NDArray, rows: NDArray, number: int, seed: int) -> Solver:
        problem = LiblinearProblem(X, y, fit_intercept=self.fit_intercept, rows=rows)
        epsilon = self.task.options.get("epsilon", 0.0)
        settings: dict[str, Any] = {
            "tol": self.tol,
            "epsilon": epsilon,
            "seed": seed,
            "verbose": self.verbose,
        }

        def solve(C: float, start: NDArray | None) -> tuple[NDArray[np.float64], int]:
            return problem.solve(number, C=C, start=start if number in PRIMAL_SOLVERS else None, **settings)

        return solve


def affine(X: NDArray, coef: NDArray, intercept: NDArray) -> NDArray:
    """Return X coef^T + intercept in the type of X, (n_samples, n_vectors)."""
    return X @ coef.T.astype(X.dtype) + intercept.astype(X.dtype)


def beyond(positive: NDArray[np.bool_]) -> tuple[NDArray, NDArray]:
    """Return the intervals of the squared hinge: from 1 for rows of the class, up to -1 for others."""
    return np.where(positive, 1.0, -np.inf), np.where(positive, np.inf, -1.0)
