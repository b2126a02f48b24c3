"""Columns of any type as doubles, by one declared rule; pyarrow is imported when the first one is read.

A number in a text is digits with an optional sign, decimal mark and exponent, such as ``-1.5e-3``, with blanks
around it: no TRUE, hexadecimal digits, ``1_000`` or marks between thousands. Its value is the nearest double.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.formats.checked import finite

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BLANKS = " \t\r\n\f\v"
_NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"


def is_number(text: str, decimal: str = ".") -> bool:
    """Return whether a text is a number by the rule above."""
    return re.fullmatch(_NUMBER.replace("[.]", f"[{decimal}]"), text.strip(BLANKS)) is not None


def numbers(
    path: Path,
    table: pd.DataFrame | pa.Table,
    first_row: int = 0,
    *,
    missing: Sequence[str] = (),
    decimal: str = ".",
) -> NDArray[np.float64]:
    """Return a table as doubles (n, columns).

    Parameters
    ----------
    path : path
        The file, for messages.
    table : DataFrame or pyarrow.Table
        Columns of numbers, booleans or texts of numbers.
    first_row : int
        Number of the table's first row in the file, for messages.
    missing : sequence of str
        Words that mean, as an empty text does, that a value is missing; a number stands for its value.
    decimal : {".", ","}
        Decimal mark of numbers in texts.

    Raises
    ------
    ValueError
        For the first value that is missing, not finite or no number; the message names file, row and column.
    """
    import pandas as pd

    columns: list[tuple[str, Any]]
    if isinstance(table, pd.DataFrame):
        columns = [(str(name), _arrow(column)) for name, column in table.items()]
    else:
        columns = list(zip(table.column_names, table.columns, strict=True))
    X = np.empty((len(table), len(columns)))
    marks = [float(word.replace(decimal, ".")) for word in missing if is_number(word, decimal)]
    for number, (name, encoded) in enumerate(columns):
        column = plain(encoded)
        if is_text(column.type):
            X[:, number], wrong = _parsed(column, missing, decimal)
        else:
            X[:, number], wrong = _converted(column)
        if len(wrong):
            value = column[int(wrong[0])].as_py()
            kind = "" if is_text(column.type) else f" of type {column.type}"
            raise ValueError(
                f"{path}: row {first_row + wrong[0]} (from 0), column {name!r} is {value!r}{kind}, not a number "
                f"({len(wrong)} such values). {_remedy(value, decimal)}"
            )
    if marks:
        X[np.isin(X, marks)] = np.nan
    return finite(path, X, [name for name, _ in columns], first_row)


def plain(column: Any) -> Any:
    """Return an arrow column without the encodings that its type may name: dictionaries and views of text."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type of pyarrow is one of its types of text."""
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind)


def present(texts: Any, missing: Sequence[str]) -> Any:
    """Return an arrow column of texts without the blanks around them, null where a value is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim(texts, characters=BLANKS)
    words = pa.array(["", *(word.strip(BLANKS) for word in missing)], texts.type)
    return pc.if_else(pc.is_in(texts, value_set=words), None, texts)


def _arrow(column: pd.Series) -> Any:
    import pyarrow as pa

    if column.dtype == object:
        column = column.astype(str).where(column.notna())
    return pa.array(column, from_pandas=True)


def _parsed(texts: Any, missing: Sequence[str], decimal: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return doubles, NaN where a text is missing, and the rows whose text is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def cast(texts: Any) -> NDArray[np.float64]:
        values: NDArray[np.float64] = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return values

    none = np.empty(0, np.intp)
    if decimal == "." and not missing:
        with suppress(pa.ArrowInvalid):  # for columns without blanks and missing values, which is faster
            return cast(texts), none
    texts = present(texts, missing)
    if decimal != ".":
        texts = pc.replace_substring(pc.replace_substring(texts, ".", "?"), decimal, ".")
    try:
        return cast(texts), none
    except pa.ArrowInvalid:
        wrong = pc.invert(pc.match_substring_regex(texts, f"^({_NUMBER})$"))
        return np.full(len(texts), np.nan), np.flatnonzero(wrong.fill_null(False))


def _converted(column: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return numbers or booleans as doubles, NaN where they are missing, and the rows that hold no number."""
    import pyarrow as pa
    from pyarrow import types

    kinds = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if not any(is_kind(column.type) for is_kind in kinds):
        return np.full(len(column), np.nan), np.flatnonzero(column.is_valid())
    if types.is_decimal(column.type):
        column = column.cast(pa.string())  # whose value is the nearest double
    if not types.is_floating(column.type):
        column = column.cast(pa.float64(), safe=False)
    values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return values, np.empty(0, np.intp)


def _remedy(value: object, decimal: str) -> str:
    other = "," if decimal == "." else "."
    plain = unicodedata.normalize("NFKC", str(value)).replace("\N{MINUS SIGN}", "-")
    if not str(value).isascii() and is_number(plain, decimal):
        return f"It is {value!a}, with characters that only look like those of {plain.strip()}: replace them."
    if isinstance(value, str) and is_number(value, other):
        return (
            f"If {other!r} is its decimal mark, say so in the study by decimal: {other!r}; marks between "
            "thousands must be removed."
        )
    return (
        "Encode the column as numbers, or drop it. If it means that the value is missing, remove or impute such "
        "rows first; missing: [...] in the study names such words."
    )
