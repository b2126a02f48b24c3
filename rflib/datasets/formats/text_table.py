"""A CSV file with a header as a table of texts, each as the file has it: no type is inferred."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rflib.datasets.formats.checked import NO_UTF8, open_text, reading

if TYPE_CHECKING:
    import pyarrow as pa

# The longest row that can be read; an open quote makes one row of all that follows.
_ROW_BYTES = 1 << 24


def header(path: Path, separator: str = ",") -> list[str]:
    """Return the names in the first line that is not blank, without the blanks around them."""
    with reading(path, "delimited text"):
        for names in _records(path, separator):
            return [name.strip() for name in names]
        raise ValueError("it is empty")


def text_table(path: Path, separator: str = ",") -> pa.Table:
    """Return the rows below the header; blank lines are none.

    Raises
    ------
    ValueError
        If the file is no text in UTF-8, a quote stays open or closes within a value, or a row has not as many
        values as the header has names; the message names the file and the row.
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
        _check_quotes(path, separator)
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
    return table.slice(1).rename_columns(names)


def _records(path: Path, separator: str, blanks_before: bool = False) -> Iterator[list[str]]:
    """Yield the values in each row that is not blank, by the strict rule for quotes.

    Blanks may stand behind quotes, and also before them if so said.
    """
    blank = " \t".replace(separator, "")
    blanks = re.compile(rf'"[{blank}]+(?=[{re.escape(separator)}\r\n]|$)')
    with TextIOWrapper(open_text(path), "utf-8", newline="") as file:
        lines = (blanks.sub('"', line) for line in file)
        try:
            for values in csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=blanks_before):
                if len(values) > 1 or any(value.strip() for value in values):
                    yield values
        except UnicodeDecodeError as error:
            raise ValueError(NO_UTF8) from error


def _check_quotes(path: Path, separator: str) -> None:
    """Raise ValueError for a quote that pyarrow, which is lenient, would let swallow rows or keep in a value."""
    with open_text(path) as file:
        if not any(b'"' in block for block in iter(lambda: file.read(1 << 20), b"")):
            return
    row = -1
    try:
        both = zip(_records(path, separator), _records(path, separator, separator != " "), strict=False)
        for row, (values, alike) in enumerate(both, -1):
            if row >= 0 and values != alike and [*map(str.strip, values)] != [*map(str.strip, alike)]:
                raise ValueError(
                    f"row {row} (from 0) has a blank before a quote, which makes the quote a part of the value. "
                    "Remove the blank"
                )
    except csv.Error as error:
        raise ValueError(
            f"row {row + 1} (from 0) has a quote that is never closed, or closed within its value ({error}). "
            "Write a quote in a value twice, and such a value in quotes"
        ) from error
