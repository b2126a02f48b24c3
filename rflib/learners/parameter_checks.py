"""Checks of parameters that several learners have, in the style of `rflib.validation`."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from rflib.kernels.namespaces import Array, is_foreign, namespace, widest
from rflib.validation import refuse


def check_positive_numbers(owner: object, name: str) -> NDArray[np.float64]:
    """Return a parameter that is a positive number or a sequence of them as an array, or raise ValueError."""
    expected = "a positive number or a sequence of them"
    try:
        numbers = np.atleast_1d(np.asarray(getattr(owner, name), dtype=np.float64))
    except (TypeError, ValueError):
        refuse(owner, name, expected)
    if numbers.ndim != 1 or not numbers.size or not np.all((numbers > 0) & np.isfinite(numbers)):
        refuse(owner, name, expected)
    return numbers


def check_seed(owner: Any) -> None:
    """Raise ValueError unless ``random_state`` is what scikit-learn takes."""
    try:
        check_random_state(owner.random_state)
    except ValueError:
        refuse(owner, "random_state", "an integer of at least 0, a numpy.random.RandomState or None")


def check_n_jobs(owner: Any) -> None:
    """Raise ValueError unless ``n_jobs`` is a number of threads as joblib takes it."""
    n_jobs = owner.n_jobs
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        refuse(owner, "n_jobs", "a number of threads, -1 for one per core, -2 for one fewer, or None")


def check_weights(
    owner: object, sample_weight: ArrayLike | None, n_samples: int, *, only_zeros: bool = False
) -> Array | None:
    """Return the weights of the rows, (n_samples,), or None where there are none.

    Raises
    ------
    ValueError
        Unless they are one finite number of at least 0 a row, not all of them 0 (unless ``only_zeros``).
    """
    if sample_weight is None:
        return None
    if is_foreign(sample_weight):
        xp, weights = namespace(sample_weight), widest(sample_weight)
    else:
        xp, weights = np, np.array(sample_weight, dtype=np.float64)
    problem = None
    if weights.shape != (n_samples,):
        problem = f"got an array of shape {weights.shape}"
    elif not xp.all((weights >= 0) & xp.isfinite(weights)):
        problem = "some are negative or not finite"
    elif not (only_zeros or xp.any(weights > 0)):
        problem = "all are zero"
    if problem:
        raise ValueError(
            f"{type(owner).__name__}: sample_weight must have a weight of at least 0 for each of the "
            f"{n_samples} rows, but {problem}."
        )
    return weights
