"""Checks of parameters that several learners have, in the style of `rflib.validation`."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

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
