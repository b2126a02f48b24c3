"""The raw columns of a data set as a DataFrame, read back from its prepared numbers: categories, missing values.

The file of an entry says in ``RAW_COLUMNS`` what the raw columns of its data sets are, unless all are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from rflib.datasets.preprocess import Rows


class Numbers(NamedTuple):
    """Columns of numbers, which are prepared as they are."""

    names: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of prepared columns."""
        return len(self.names)


class Grades(NamedTuple):
    """An ordered category, which is prepared as the places of its levels, from 0."""

    name: str
    levels: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of prepared columns."""
        return 1


class OneHot(NamedTuple):
    """A category, which is prepared as a column of 0 or 1 for each level. The level ``unknown`` means missing."""

    name: str
    levels: tuple[str, ...]
    unknown: str | None = None

    @property
    def width(self) -> int:
        """Number of prepared columns."""
        return len(self.levels)


RawColumns = Sequence[Numbers | Grades | OneHot]


def as_table(X: Rows, columns: RawColumns = ()) -> pd.DataFrame:
    """Return prepared rows as a DataFrame of the raw columns.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        Rows that were not preprocessed.
    columns : sequence of Numbers, Grades or OneHot
        The raw columns, in the order of the prepared ones. Without any, all are numbers, named x0, x1, ...

    Returns
    -------
    DataFrame of shape (n, number of raw columns)
        Numbers as doubles, categories as pandas has them, with all levels of the data set, those of `Grades`
        ordered. A missing value is NaN.

    Raises
    ------
    ValueError
        If X has another number of columns than the raw columns are prepared as.
    """
    import pandas as pd
    from scipy.sparse import issparse

    X = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
    if not columns:
        return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    widths = [column.width for column in columns]
    if sum(widths) != X.shape[1]:
        raise ValueError(
            f"The raw columns are prepared as {sum(widths)} columns of numbers, but X has {X.shape[1]}."
        )
    found: dict[str, Any] = {}
    for column, part in zip(columns, np.split(X, np.cumsum(widths)[:-1], axis=1), strict=True):
        if isinstance(column, Numbers):
            found |= dict(zip(column.names, part.T, strict=True))
        elif isinstance(column, Grades):
            places = part[:, 0].astype(np.intp)
            found[column.name] = pd.Categorical.from_codes(places, pd.Index(column.levels), ordered=True)
        else:
            known = [level for level in column.levels if level != column.unknown]
            codes = np.array([known.index(level) if level in known else -1 for level in column.levels])
            found[column.name] = pd.Categorical.from_codes(codes[part.argmax(axis=1)], pd.Index(known))
    return pd.DataFrame(found)
