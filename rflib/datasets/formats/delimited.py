"""Delimited text as tables, and tables as numbers; pandas is imported when the first one is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.formats.checked import finite, open_bytes, reading

if TYPE_CHECKING:
    import pandas as pd

_BLOCK_ROWS = 20_000


def csv_blocks(
    path: Path, *, header: bool = False, separator: str = ",", **options: Any
) -> Iterator[pd.DataFrame]:
    """Yield a delimited text file as tables of some rows, so that it never stands in memory whole.

    Raises
    ------
    ValueError
        If the file cannot be parsed, or its rows differ in length.
    """
    import pandas as pd

    with reading(path, "delimited text"), open_bytes(path) as file:
        for table in pd.read_csv(
            file,
            header=0 if header else None,
            sep=separator,
            chunksize=_BLOCK_ROWS,
            low_memory=False,
            **options,
        ):
            if not isinstance(table.index, pd.RangeIndex):
                raise ValueError("its rows have more values than its header has names")
            yield table


def read_csv(path: Path, *, header: bool = False, separator: str = ",", **options: Any) -> pd.DataFrame:
    """Return a delimited text file as one table."""
    import pandas as pd

    return pd.concat(csv_blocks(path, header=header, separator=separator, **options), ignore_index=True)


def csv_header(path: Path) -> list[str]:
    """Return the names in the first line of a delimited text file."""
    import pandas as pd

    with reading(path, "delimited text"), open_bytes(path) as file:
        return [str(name) for name in pd.read_csv(file, nrows=0).columns]


def numbers(path: Path, table: pd.DataFrame, first_row: int = 0) -> NDArray[np.float64]:
    """Return a table as doubles (n, columns).

    Raises
    ------
    ValueError
        For the first value that is missing, not finite or no number; the message names file, row and column.
    """
    columns = {name: _as_number(path, column, first_row) for name, column in table.items()}
    X = np.column_stack(list(columns.values())) if columns else np.empty((len(table), 0))
    return finite(path, X, [str(name) for name in columns], first_row)


def _as_number(path: Path, column: pd.Series, first_row: int) -> NDArray[np.float64]:
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    parsed = pd.to_numeric(column.astype(str).where(column.notna()), errors="coerce")
    wrong = np.flatnonzero(parsed.isna() & column.notna())
    if len(wrong):
        raise ValueError(
            f"{path}: row {first_row + wrong[0]} (from 0), column {column.name!r} is {column.iloc[wrong[0]]!r}, "
            f"not a number ({len(wrong)} such values). Encode the column as numbers, or drop it."
        )
    return parsed.to_numpy(dtype=np.float64, na_value=np.nan)
