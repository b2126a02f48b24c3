"""How learners check rows, targets and names of columns: by scikit-learn's rules, and with the row of a fault."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from rflib.kernels.namespaces import Array, is_foreign, some_rows
from rflib.learners.values import RowError, as_labels, as_numbers, is_missing, shown
from rflib.warn import of_the_user


class CheckedRows:
    """Mixin of a learner that checks its rows, of any container."""

    # what scikit-learn's validation takes as ``dtype``
    _row_types: ClassVar[Any] = "numeric"
    # whether y may have several columns
    _several_targets: ClassVar[bool] = False

    @property
    def _accepted_sparse(self) -> str | bool:
        """Return what scikit-learn's validation takes as ``accept_sparse``."""
        return False

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        """Return checked rows; ``reset`` keeps their names and their number of columns, which others must have.

        Raises
        ------
        ValueError
            As scikit-learn's validation, where it is the fault of a row with the row and the column.
        """
        return self._validated(X, reset=reset)

    def _validated(self, X: Any, *, reset: bool, **how: Any) -> Any:
        how = {"dtype": self._row_types, "accept_sparse": self._accepted_sparse} | how
        if not how.get("skip_check_array") and _holds_dates(X):  # which would become numbers
            raise ValueError(f"{type(self).__name__}: X must hold numbers, got dates. Convert them first.")
        try:
            return validate_data(self, X, reset=reset, **how)
        except (TypeError, ValueError, OverflowError) as error:
            strange_names = str(error).startswith("The feature names should match")
            if strange_names or (fault := _fault(X)) is None:
                raise
            row, column, value = fault
            raise RowError(
                type(self).__name__,
                row,
                f"Input X contains {shown(value)} in column {column!r}. Complete or encode it, or leave the row "
                "out.",
            ) from error

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        """Return checked rows, and their labels or targets as an array."""
        rows = self._rows(X, reset=reset)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if is_classifier(self):
            values = as_labels(self, y)
        else:
            values = check_array(as_numbers(self, y), ensure_2d=False, dtype=None, input_name="y")
            with of_the_user():
                values = values if self._several_targets else column_or_1d(values, warn=True)
        check_consistent_length(rows, values)
        return rows, values


def is_frame(X: object) -> bool:
    """Return whether X has columns with names, as a DataFrame has them."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def rows_at(X: Any, rows: slice) -> Any:
    """Return consecutive rows of an array, a sparse matrix or a DataFrame, whatever its index is."""
    return _safe_indexing(X, rows) if is_frame(X) else some_rows(X, rows)


def rows_with_gaps(X: Any) -> NDArray[np.intp]:
    """Return the places of rows of an array or a DataFrame in which a value is missing or infinite."""
    columns = [np.asarray(_safe_indexing(X, j, axis=1)) for j in range(X.shape[1])] if is_frame(X) else [X]
    gaps = np.zeros(X.shape[0], dtype=bool)
    for values in columns:
        if values.dtype.kind == "O":
            strange = np.frompyfunc(is_missing, 1, 1)(values).astype(bool)
        else:
            strange = (
                ~np.isfinite(values) if values.dtype.kind in "fc" else np.zeros(values.shape, dtype=bool)
            )
        gaps |= strange.reshape(len(gaps), -1).any(axis=1)
    return np.flatnonzero(gaps)


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
