"""Delimited text of official files, whose checksums are known, as tables; pandas infers the types."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rflib.datasets.formats.checked import open_bytes, reading

if TYPE_CHECKING:
    import pandas as pd

_BLOCK_ROWS = 20_000


def csv_blocks(
    path: Path, *, header: bool = False, separator: str = ",", **options: Any
) -> Iterator[pd.DataFrame]:
    """Yield a delimited text file as tables of some rows, so that it never stands in memory whole.

    Types are inferred for each table by itself, so give ``dtype=str`` where a column holds labels.

    Raises
    ------
    ValueError
        If the file cannot be parsed, or its rows differ in length.
    """
    import pandas as pd

    with reading(path, "delimited text"), open_bytes(path) as file:
        options |= {"header": 0 if header else None, "sep": separator, "index_col": False}
        blocks = pd.read_csv(file, chunksize=_BLOCK_ROWS, low_memory=False, **options)
        while True:
            with warnings.catch_warnings():
                # values beyond the names in the header or the options
                warnings.simplefilter("error", pd.errors.ParserWarning)
                table = next(blocks, None)
            if table is None:
                return
            yield table


def read_csv(path: Path, *, header: bool = False, separator: str = ",", **options: Any) -> pd.DataFrame:
    """Return a delimited text file as one table."""
    import pandas as pd

    return pd.concat(csv_blocks(path, header=header, separator=separator, **options), ignore_index=True)
