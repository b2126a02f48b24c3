"""The choice from a grid of ridges or costs, and the warning that its best value lies at an edge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.warn import warn

# The ridges that are tried by default, in units of n for the default of ``ridge``. At the smallest the solution
# interpolates, and at the largest rows of unit norm predict hardly more than the mean.
ALPHAS = (*(float(f"{digit}e{k}") for k in range(-8, 1) for digit in (1, 3)), 10.0)
# Only if the largest of them explains this share of the variance is a larger one of use.
_EXPLAINED = 0.05


class GridEdgeWarning(UserWarning):
    """The best value of a grid is its smallest or its largest one, so that a better one may lie beyond."""


def about_alpha(cls: type, name: str, value: object) -> str | None:
    """Return what `Keywords._called_here` does for parameters of scikit-learn's ridge and Gaussian processes."""
    if name == "normalize_y":
        return "The means of the targets are taken off, and noise and deviations are in their units: leave it out."
    if name not in ("alpha", "lam", "lambda_", "reg"):
        return None
    return (
        f"Here it is alphas, in units of the number of rows: {cls.__name__}(alphas={value!r}). "
        f"scikit-learn's alpha is {cls.__name__}(alphas={value!r}, ridge='lambda')."
    )


def has_default_alphas(learner: Any) -> bool:
    """Return whether the ridges to choose from are those that nobody set."""
    return np.array_equal(learner.alphas, ALPHAS)


def unless_rounding(error: float, means: NDArray) -> float | None:
    """Return the error of predicting the means of targets, or None if it is no more than their rounding."""
    rounding = 8 * np.finfo(np.float64).eps * float(np.abs(means).max(initial=0))
    return error if error > rounding**2 else None


def chosen(
    learner: Any,
    name: str,
    grid: NDArray[np.float64],
    errors: NDArray[np.float64],
    baseline: float | None = None,
) -> int:
    """Return the index of the least of the errors (n_values,), the first of equals; NaN is no error.

    Parameters
    ----------
    learner : estimator
        The one that chooses.
    name : str
        Its parameter that holds the grid.
    grid, errors : ndarray of shape (n_values,)
        Values, in any order, and what is minimised over them.
    baseline : float, optional
        Error of the mean of the targets. If the grid is that of default ridges, a choice at its lower end is
        right, and one at its upper end is warned of only if it is better than that mean.

    Warns
    -----
    GridEdgeWarning
        If the best of several values is at an edge of the grid and better than all others.
    """
    best = int(np.argmin(np.where(np.isnan(errors), np.inf, errors)))
    others = grid != grid[best]
    if not others.any() or not errors[best] < errors[others].min():
        return best
    above = np.all(grid <= grid[best])
    if not above and np.any(grid < grid[best]):
        return best
    if name == "alphas" and has_default_alphas(learner):
        if not above or baseline is None or errors[best] > (1 - _EXPLAINED) * baseline:
            return best
        remedy = "Scale the features so that rows have about unit norm, or give larger alphas."
    else:
        further = [grid[best] * 10.0**k for k in ((1, 2, 3) if above else (-3, -2, -1))]
        remedy = (
            f"Add {'larger' if above else 'smaller'} values, such as {', '.join(f'{v:g}' for v in further)}"
        )
        remedy += ", or leave alphas at the default." if name == "alphas" else "."
    warn(
        f"{type(learner).__name__}: the best of {name} is the {'largest' if above else 'smallest'} one, "
        f"{grid[best]:g}, so that a {'larger' if above else 'smaller'} one may be better still. {remedy}",
        GridEdgeWarning,
        cause=type(learner).__name__,
    )
    return best
