"""Warnings that point into the user's code, one for each cause, however often scikit-learn calls an estimator."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

# Code that calls an estimator for the user: a warning points to the first caller outside of these packages.
_INTERMEDIATE = ("rflib", "sklearn", "joblib", "dask", "distributed", "threading", "concurrent", "contextlib")
# What calls estimators several times for one call of the user: a search, or a learner with blocks of rows.
_REPEATING = ("sklearn.", "rflib.learners.")
# Its objects stay while scikit-learn's checks call one estimator after the other.
_OF_CHECKS = "sklearn.utils._testing"

_warned: WeakKeyDictionary[Any, set[tuple[Any, ...]]] = WeakKeyDictionary()


def warn(message: str, category: type[Warning] = UserWarning, *, cause: object = None) -> None:
    """Issue a warning that points to the line of the user's code from which rflib was called.

    If scikit-learn stands in between, such as a grid search or a pipeline, or a learner with blocks of rows, the
    calls of the outermost estimator for one line of the user's code issue a single warning of a category
    and a cause.

    Parameters
    ----------
    message : str
        What was found, what it does to the result, and the remedy.
    category : type of Warning
        A named class, which users can silence or turn into an error.
    cause : hashable
        What distinguishes warnings of the same category, such as the name of the estimator's class.
    """
    frames = list(_frames(sys._getframe(1)))
    user = frames[-1]
    if (outermost := _outermost_estimator(frames[:-1])) is not None:
        issued = _warned.setdefault(outermost, set())
        key = category, cause, user.f_code.co_filename, user.f_lineno
        if key in issued:
            return
        issued.add(key)
    warnings.warn_explicit(
        message,
        category,
        user.f_code.co_filename,
        user.f_lineno,
        module=user.f_globals.get("__name__", "<unknown>"),
        registry=user.f_globals.setdefault("__warningregistry__", {}),
    )


@contextmanager
def of_the_user() -> Iterator[None]:
    """Issue the warnings of scikit-learn's checks as `warn` does, because they would point to rflib."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for each in found:
        warn(str(each.message), each.category, cause=str(each.message))


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames from rflib's up to the first one of the user, or up to the last one if none is."""
    while frame is not None:
        yield frame
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _INTERMEDIATE:
            return
        frame = frame.f_back


def _outermost_estimator(frames: list[FrameType]) -> Any:
    """Return the estimator that calls others for the user, in a search or in blocks, or None if there is none."""
    for frame in reversed(frames):
        module, local = frame.f_globals.get("__name__", ""), frame.f_locals
        if module == "rflib.maps.dask_rows" and "estimator" in local:
            return local["estimator"]
        if module.startswith(_REPEATING) and module != _OF_CHECKS:
            found = next((local[name] for name in ("self", "estimator") if name in local), None)
            if found is not None and type(found).__module__.startswith(_REPEATING):
                return found
    return None
