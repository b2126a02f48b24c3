"""Functions as kernels: how many arrays they take, and how they are pickled."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from joblib import wrap_non_picklable_objects

from rflib.kernels.namespaces import namespace
from rflib.kernels.sparse_rows import dense

_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


def n_arrays(function: object) -> int:
    """Return how many arrays a function takes, 1 or 2, or 0 if it can be called with neither number.

    A second parameter counts as an array if it has no default or if its name is Y, as in ``k(X, Y=None)``. Other
    parameters with a default, as in ``profile(z, nu=1.5)``, are options.
    """
    if not callable(function) or isinstance(function, type):
        return 0
    if isinstance(function, np.ufunc):
        return function.nin if function.nin <= 2 else 0
    try:
        signature = inspect.signature(function)
    except ValueError:  # a compiled function may have no signature
        return 1
    positional = [p for p in signature.parameters.values() if p.kind in _POSITIONAL]
    second = any(p.default is p.empty or p.name in ("Y", "y") for p in positional[1:2])
    arrays = [np.empty(0)] * (1 + second)
    try:
        signature.bind(*arrays)
    except TypeError:
        return 0
    return len(arrays)


def called(function: Callable[..., Any], *arrays: Any) -> Any:
    """Return what a function makes of arrays, in their library, dense or sparse.

    Raises
    ------
    TypeError
        If the arrays are not numpy's, and the function does not take them or returns something else.
    """
    xp = namespace(arrays[0])
    if xp is np:
        return dense(function(*arrays))
    library = xp.__name__.removeprefix("array_api_compat.")
    remedy = (
        f"A function that is used as a kernel must compute with the arrays that it gets, here those of {library}, "
        "whose functions array_api_compat.array_namespace(z) has. Or give the rows as arrays of numpy."
    )
    try:
        values = function(*arrays)
    except (TypeError, AttributeError, RuntimeError) as error:
        raise TypeError(f"{function!r} failed: {error}. {remedy}") from error
    if not isinstance(values, type(arrays[0])):
        raise TypeError(f"{function!r} returned {type(values).__name__}. {remedy}")
    return values


def picklable(value: Any) -> Any:
    """Wrap a function that cannot be imported by its name, such as a lambda, so that it is pickled by value."""
    if isinstance(value, FunctionType) and "<" in value.__qualname__:
        return wrap_non_picklable_objects(value, keep_wrapper=False)
    return value
