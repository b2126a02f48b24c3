"""How rows are checked: by scikit-learn's rules, and a fault of one is named with its row, column and remedy."""

import reprlib
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from rflib.kernels.namespaces import is_foreign

_TABLES = "use KernelClassifier or KernelRegressor, which take"


class RowError(ValueError):
    """A fault of one row, which a pass over blocks tells with the place of the row."""

    def __init__(self, name: str, row: int, what: str):
        super().__init__(name, row, what)  # by which it is pickled

    def __str__(self) -> str:
        name, row, what = self.args
        return f"{name}: in row {row}: {what}"


def validated(estimator: Any, X: Any, *, reset: bool, **how: Any) -> Any:
    """Return rows that scikit-learn's ``validate_data`` takes.

    Raises
    ------
    ValueError
        As it does. RowError if a value is the fault, which ends with how to mend it.
    """
    if not how.get("skip_check_array") and _holds_dates(X):  # which would become numbers
        raise ValueError(f"{type(estimator).__name__}: X must hold numbers, got dates. Convert them first.")
    try:
        return validate_data(estimator, X, reset=reset, **how)
    except (TypeError, ValueError, OverflowError) as error:
        strange_names = str(error).startswith("The feature names should match")
        if strange_names or (fault := _fault(X)) is None:
            raise
        row, column, value = fault
        what = f"Input X contains {shown(value)} in column {column!r}. {_remedy(estimator, value)}"
        raise RowError(type(estimator).__name__, row, what) from error


def _remedy(estimator: Any, value: Any) -> str:
    """Return what a user can do about a value that an estimator does not take."""
    takes_gaps = estimator.__sklearn_tags__().input_tags.allow_nan
    if is_missing(value) and not takes_gaps:
        return f"Impute it (SimpleImputer), or {_TABLES} missing values."
    if isinstance(value, str) and takes_gaps:
        return "Texts are taken in columns of a DataFrame: give pandas.DataFrame(X)."
    if isinstance(value, str):
        return f"Encode it (OneHotEncoder), or {_TABLES} texts."
    return "Complete or encode it, or leave the row out."


def is_frame(X: object) -> bool:
    """Return whether X has columns with names, as a DataFrame has them."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number | np.generic) and bool(value != value)


def shown(value: Any) -> str:
    """Return how a message shows a value; NaN and infinity in scikit-learn's words."""
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        dtype = np.asarray(value).dtype
        return "NaN" if np.isnan(value) else f"infinity or a value too large for {dtype!r}"
    value = value.item() if isinstance(value, np.generic) else value
    return reprlib.repr(value) if isinstance(value, int) else repr(value)


def _holds_dates(X: Any) -> bool:
    types = X.dtypes if is_frame(X) and hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    return any(getattr(dtype, "kind", "") in ("M", "m") for dtype in types)


def _fault(X: Any) -> tuple[int, Any, Any] | None:
    """Return row, column and value of the first entry that is missing, not finite, a date, or text."""
    if is_foreign(X):
        return None
    if issparse(X):
        rows = X.tocsr()
        if not len(strange := np.flatnonzero(_are_bad(rows.data))):
            return None
        row = int(np.searchsorted(rows.indptr, strange[0], side="right")) - 1
        return row, int(rows.indices[strange[0]]), rows.data[strange[0]]
    try:
        entries = np.asarray(X)
    except ValueError:  # of rows of several lengths
        return None
    if entries.ndim != 2 or not len(places := np.argwhere(_are_bad(entries))):
        return None
    row, column = map(int, places[0])
    return row, X.columns[column] if is_frame(X) else column, entries[row, column]


def _are_bad(entries: NDArray) -> NDArray[np.bool_]:
    if entries.dtype.kind in "OSU":
        return np.frompyfunc(_is_bad, 1, 1)(entries).astype(bool)
    return ~np.isfinite(entries) if entries.dtype.kind == "f" else np.zeros(entries.shape, dtype=bool)


def _is_bad(value: Any) -> bool:
    if is_missing(value) or hasattr(value, "isoformat") or isinstance(value, complex | np.complexfloating):
        return True
    try:
        return not np.isfinite(float(value))
    except (ValueError, OverflowError):
        return True
    except TypeError:  # scikit-learn's own words say it
        return False
