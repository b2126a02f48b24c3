"""How learners check rows, targets and names of columns: by scikit-learn's rules, and with the row of a fault."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_array, check_consistent_length, column_or_1d

from rflib.kernels.namespaces import Array, some_rows
from rflib.kernels.row_faults import is_frame, is_missing, validated
from rflib.learners.values import as_labels, as_numbers
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
        return validated(self, X, reset=reset, **how)

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
