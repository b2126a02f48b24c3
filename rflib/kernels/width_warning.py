"""The warning that a kernel is nearly the identity or nearly constant on its training rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.base import Kernel
from rflib.kernels.similarity import Precomputed, Similarity
from rflib.kernels.sparse_rows import Rows
from rflib.kernels.width import KernelWithWidth, median
from rflib.warn import warn

# Fewer rows say too little. Of more, so many are compared; before a warning, so many.
_FEWEST = 10
_COMPARED = (100, 1500)
# Sparse rows are not looked at if they have more numbers than this, without columns of zeros.
_MOST_NUMBERS = 20_000_000
# All values are divided by those of equal rows. A kernel is nearly the identity if the median of the others is
# below the first, and the mean over rows of the sum of their squares below the second of these numbers.
_NO_VALUE = 1e-3
_NO_NEIGHBOURS = 0.05
# A kernel is nearly constant if no value is further from 1. Wider kernels still learn, with a small ridge.
_CONSTANT = 1e-6
# From this value on rows are equal. Rows that are repeated so often are discrete, and may well be told apart.
_EQUAL = 1 - 1e-9
_REPEATED = 4


# A kernel that is nearly constant is nearly linear, which a learner without regularisation can use.
_EFFECTS = {
    "the identity": "hardly anything can be learned",
    "constant": "only a tiny ridge or a large C learns anything",
}


class WidthWarning(UserWarning):
    """A kernel is nearly the identity or nearly constant on its training rows, from which it hardly learns."""


def warn_of_width(kernel: Kernel, X: Rows, matrix: NDArray | None = None) -> bool:
    """Issue a `WidthWarning` if a kernel without a rule for its width does not fit its training rows X (n, d).

    A fixed sample of rows is looked at. ``matrix`` (n, n) is that of the kernel where it is known; a function of
    two matrices of rows, which may be slow, is judged by it alone. Return whether a warning was issued.
    """
    if isinstance(kernel, Precomputed):
        matrix = X
    n, problem = X.shape[0], ""
    if n < _FEWEST or (matrix is None and isinstance(kernel, Similarity)):
        return False
    for size in _COMPARED:
        places = np.sort(np.random.default_rng(0).choice(n, min(n, size), replace=False))
        isotropic, rows = kernel.isotropic(X[places].astype(np.float64))
        if issparse(rows):
            rows = rows[:, np.unique(rows.indices)]  # columns of zeros change no kernel
            if rows.shape[0] * rows.shape[1] > _MOST_NUMBERS:
                return False
            rows = rows.toarray()
        if matrix is not None:
            values = matrix[np.ix_(places, places)]
        else:
            with np.errstate(all="ignore"):
                values = np.asarray(isotropic._matrix(rows, None))
        if not (problem := _problem(values, n) or ""):
            return False
    known = isinstance(kernel, Precomputed)
    if problem == "constant" and not known and abs(rows - rows[[0] * len(places)]).max() == 0:
        return False  # no width tells equal rows apart
    warn(
        f"{kernel!r} is nearly {problem} on the training rows, so that {_EFFECTS[problem]}."
        + ("" if known else f" {_remedy(kernel, rows)}"),
        WidthWarning,
        cause=problem,
    )
    return True


def _problem(values: NDArray, n: int) -> str | None:
    """Return what a kernel of n rows, of which some have these values (m, m), nearly is, or None."""
    with np.errstate(all="ignore"):
        roots = np.sqrt(np.diagonal(values))
    usable = np.flatnonzero(np.isfinite(roots) & (roots > 0))
    if len(usable) < _FEWEST:
        return None
    values = values[np.ix_(usable, usable)] / np.outer(roots[usable], roots[usable])
    others = values[~np.eye(len(usable), dtype=bool)]
    if not np.isfinite(others).all():
        return None
    if others.min() > 1 - _CONSTANT:
        return "constant"
    equal = others > _EQUAL
    sparse = (n - 1) * np.mean(np.where(equal, 0, others) ** 2) < _NO_NEIGHBOURS
    if sparse and np.median(np.abs(others)) < _NO_VALUE and (n - 1) * equal.mean() < _REPEATED:
        return "the identity"
    return None


def _remedy(kernel: Kernel, rows: Rows) -> str:
    """Return which width would serve; the rows are those of `Kernel.isotropic`."""
    if not isinstance(kernel, KernelWithWidth):
        return "Scale the rows, or change the parameters of the kernel."
    distance, name = median(rows, kernel.one_norm), kernel.width_parameter
    if not isinstance(width := getattr(kernel, name), float | int):
        return f"The median distance of the rows is {distance:.3g} in units of {name}, and should be about 1."
    number = 1 / distance if kernel.is_inverse else distance
    return (
        f"The median distance of the rows is {distance:.3g}: try {name}='median', which is {number:.3g} here, "
        f"instead of {width:.3g}."
    )
