"""A CSV file with a header as a table of texts, each as the file has it: no type is inferred."""

from __future__ import annotations

import csv
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rflib.datasets.formats.checked import NO_UTF8, open_bytes, open_text, reading

if TYPE_CHECKING:
    import pyarrow as pa

# The longest row that can be read; an open quote makes one row of all that follows.
_ROW_BYTES = 1 << 24


def header(path: Path, separator: str = ",") -> list[str]:
    """Return the names in the first line that is not blank, without the blanks around them."""
    with reading(path, "delimited text"), TextIOWrapper(open_text(path), "utf-8", newline="") as file:
        try:
            for fields in csv.reader(file, delimiter=separator, strict=True):
                names = [name.strip() for name in fields]
                if len(names) > 1 or any(names):
                    return names
        except UnicodeDecodeError as error:
            raise ValueError(NO_UTF8) from error
        raise ValueError("it is empty")


def text_table(path: Path, separator: str = ",") -> pa.Table:
    """Return the rows below the header; blank lines are none.

    Raises
    ------
    ValueError
        If the file is no text in UTF-8, a quote stays open, or a row has not as many values as the header has
        names; the message names the file and the row.
    """
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    names = header(path, separator)
    numbered = [str(number) for number in range(len(names))]
    blank = 0
    wrong = ""

    def other_width(row: Any) -> str:
        nonlocal blank, wrong
        if row.actual_columns == 1 and not row.text.strip():
            blank += 1
            return "skip"
        wrong = (
            f"row {row.number - 2 - blank} (from 0) has {row.actual_columns} values, but the header has "
            f"{len(names)} names. Each row must have a value, which may be empty, for each name"
        )
        return "error"

    with reading(path, "delimited text"), open_text(path) as file:
        try:
            table = read_csv(
                file,
                ReadOptions(column_names=numbered, block_size=_ROW_BYTES, use_threads=False),
                ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=other_width),
                ConvertOptions(column_types=dict.fromkeys(numbered, pa.string())),
            )
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                wrong = f"a row has more than {_ROW_BYTES:,} bytes. Is a quote never closed?"
            if "invalid UTF8" in str(error):
                wrong = NO_UTF8
            raise ValueError(wrong or str(error)) from error
        if _ends_in_quotes(path, table):
            raise ValueError("a quote in the last row is never closed")
    return table.slice(1).rename_columns(names)


def _ends_in_quotes(path: Path, table: pa.Table) -> bool:
    """Return whether the last value goes on over lines and the file ends before its quote does."""
    if "\n" not in table.column(table.num_columns - 1)[-1].as_py():
        return False
    with open_bytes(path) as file:
        last = [line for line in file if line.strip()][-1]
    return not last.rstrip().endswith(b'"')
