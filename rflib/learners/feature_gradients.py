"""`KRR` by conjugate gradients: its features are kept or made again, and a ridge is chosen and solved."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rflib.kernels.namespaces import is_foreign
from rflib.learners.checked_rows import rows_at
from rflib.learners.conjugate_gradients import warn_unless_solved
from rflib.learners.feature_systems import FeatureSystems
from rflib.learners.folds import fold_numbers
from rflib.learners.gradient_fits import GradientFits
from rflib.learners.kept_blocks import KeptBlocks
from rflib.learners.leave_one_out import held_out_errors
from rflib.learners.memory import machine_memory
from rflib.learners.passes import PROBED_ROWS

if TYPE_CHECKING:
    from rflib.learners.feature_ridge import FeatureRidge

# Features are kept up to this share of the machine's memory, else made again in each step, in blocks of at most so
# many numbers.
_KEPT_SHARE = 1 / 8
_BLOCK_NUMBERS = 1 << 24


def fit_by_gradients(
    learner: "FeatureRidge",
    X: Any,
    y: NDArray,
    alphas: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    groups: Any,
) -> None:
    """Fit a learner, whose parameters and rows are checked, without a Gram matrix."""
    if is_foreign(X):
        raise learner._needs_gram("an array of another library than numpy")
    (_, features), *_ = learner._used_blocks(rows_at(X, slice(PROBED_ROWS)))
    n, D, name = X.shape[0], features.shape[1], type(learner).__name__
    height = max(1, min(learner.block_size, _BLOCK_NUMBERS // D))
    blocks = KeptBlocks(
        lambda: learner._used_blocks(X, height),
        lambda Z: n * D * Z.itemsize <= _KEPT_SHARE * machine_memory(),
    )
    targets, own = learner._targets(y), np.ones(n) if weights is None else weights
    seed = check_random_state(learner.random_state).randint(2**31 - 1)
    systems = FeatureSystems(blocks, D, own, np.random.default_rng(seed))
    fits = GradientFits(systems, targets, weights, learner.ridge, name=name, verbose=learner.verbose)
    best = 0
    if learner._cross_validates:
        folds = fold_numbers(learner, y, weights, groups)
        learner.cv_errors_ = np.full((len(alphas), folds.max() + 1), np.inf)
        for i, fold, values in fits.held_out(alphas, folds):
            test = folds == fold
            residuals = (targets - values)[None, test]
            learner.cv_errors_[i, fold] = held_out_errors(
                residuals, targets[test], own[test], learner.criterion
            )[0]
        means = np.average(targets, axis=0, weights=weights)
        error = np.average(((targets - means) ** 2).mean(axis=1), weights=weights)
        best = learner._best(alphas, learner.cv_errors_.mean(axis=1), error, means)
    learner.alpha_ = float(alphas[best])
    means, solution, left = fits.solve(learner.alpha_)
    warn_unless_solved(left, learner.alpha_, name)
    learner._keep_solution(solution.astype(features.dtype), means, None)
