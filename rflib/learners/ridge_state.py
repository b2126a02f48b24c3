"""Ridge regression of rows that come in parts: what they add is merged, stored and solved for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, beside, to_numpy
from rflib.learners.folds import folds_by_content
from rflib.learners.grid_edge import ALPHAS
from rflib.learners.moments import Blocks, Moments, add_to_folds
from rflib.learners.streaming_ridge import HeldOutModels, StreamingRidge
from rflib.learners.weight_posterior import WeightPosterior

# from alphas, their losses and the loss of the mean of the targets to the number of the best one
Choose = Callable[[NDArray, NDArray, float], int]
# a second pass over all rows, which `StreamingRidge.error_rates` asks for
Count = Callable[[HeldOutModels], NDArray[np.float64]]


@dataclass(frozen=True)
class RidgeSolution:
    """Coefficients (D, t), intercepts (t,), what chose the alpha, and where there are no signs the posterior.

    ``errors`` (n_alphas, n_folds) are held out, ``likelihoods`` (n_alphas,) marginal; what was not used is None.
    """

    alpha: float
    coef: NDArray
    intercept: NDArray[np.float64]
    posterior: WeightPosterior | None
    errors: NDArray[np.float64] | None = None
    likelihoods: NDArray[np.float64] | None = None


@dataclass
class RidgeState:
    """The rows seen so far: the moments of each fold, of targets less ``centre``, and how they are solved for.

    It knows nothing of estimators and of what makes the features. ``alphas`` are those to choose from by
    ``criterion``: the squared or another error of ``n_folds`` folds, to which ``seed`` deals rows by their
    numbers, or the marginal likelihood. ``gram_dtype`` is the precision of Gram matrices; None is that of the
    features. ``signs`` (D,) of the ridge are known once there are features. With ``has_all`` every fold must have
    rows.
    """

    centre: NDArray[np.float64]
    alphas: NDArray[np.float64]
    ridge: str
    criterion: str
    gram_dtype: str | None = None
    n_folds: int = 1
    seed: int = 0
    moments: list[Moments] = field(default_factory=list)
    signs: NDArray[np.float64] | None = None
    has_all: bool = False
    solved: bool = False

    def folds(self, X: Any) -> NDArray[np.intp]:
        """Return the fold of each row."""
        if self.n_folds == 1:
            return np.zeros(X.shape[0], dtype=int)
        return folds_by_content(X, self.n_folds, self.seed)

    def add(
        self, blocks: Blocks, targets: Callable[[slice], Array], folds: NDArray, weights: Array | None
    ) -> None:
        """Add rows with their folds and weights (n,), and the targets (n_rows, t) of a slice of them."""

        def centred(rows: slice) -> Array:
            found = targets(rows)
            return found - beside(self.centre, found)

        add_to_folds(self.moments, blocks, centred, folds, self.n_folds, self.gram_dtype, weights)

    def copy(self) -> "RidgeState":
        """Return a state to which rows can be added without a change of this one."""
        return replace(self, moments=[fold.copy() for fold in self.moments])

    def solver(self) -> StreamingRidge:
        """Return the solver for the folds that have rows, or for all."""
        seen = self.moments if self.has_all else [fold for fold in self.moments if fold.n]
        return StreamingRidge(seen, self.ridge, self.signs)

    def solve(
        self, choose: Choose, errors: NDArray[np.float64] | None = None, count: Count | None = None
    ) -> RidgeSolution:
        """Choose an alpha, where there are several, and solve for it.

        Held-out ``errors`` (n_alphas, n_folds) are taken as they are; else ``count`` makes the second pass for
        error rates, and squared errors follow from the moments.
        """
        solver, alphas, likelihoods, best = self.solver(), self.alphas, None, 0
        if len(alphas) > 1:
            if self.criterion == "marginal_likelihood":
                likelihoods = solver.log_marginal_likelihoods(alphas)
                losses = -likelihoods
            else:
                if errors is None:
                    errors = (
                        solver.squared_errors(alphas) if count is None else solver.error_rates(alphas, count)
                    )
                losses = errors.mean(axis=1)
            if np.array_equal(alphas, ALPHAS):
                losses = np.where(solver.resolved(alphas), losses, np.inf)
            best = choose(alphas, losses, solver.error_of_mean())
        alpha = float(alphas[best])
        coef, offset, posterior = solver.solve(alpha)
        intercept = self.centre + to_numpy(offset)
        return RidgeSolution(alpha, to_numpy(coef), intercept, posterior, errors, likelihoods)

    def settled(self, alphas: NDArray[np.float64]) -> "RidgeState":
        """Return the state of all rows together, solved, to which others are added for these alphas."""
        return replace(self, moments=[self.solver().total], alphas=alphas, n_folds=1, solved=True)

    def state(self) -> dict[str, NDArray]:
        """Return what the rows have changed, for `restore`."""
        found = {"centre": self.centre}
        for i, fold in enumerate(self.moments):
            found |= {f"{name} {i}": array for name, array in fold.state().items()}
        return found

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Go on from the rows that `state` knew."""
        self.centre = state["centre"]
        by_fold: list[dict[str, NDArray]] = [{} for _ in range(self.n_folds)]
        for key in state.keys() - {"centre"}:
            name, fold = key.split()
            by_fold[int(fold)][name] = state[key]
        self.moments = [*map(Moments.restored, by_fold)]


def merged(parts: Iterable[list[Moments]]) -> list[Moments]:
    """Return the sums of the folds' moments of several parts, of which some may have no rows."""
    first, *others = [part for part in parts if part] or [[]]
    if not others:
        return first
    return [fold.copy().merge(rest) for fold, *rest in zip(first, *others, strict=True)]
