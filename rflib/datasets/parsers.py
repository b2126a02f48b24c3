"""Formats: files to tables and arrays, as data only, with errors that name file, row and column."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.datasets import load_svmlight_file

_OPENERS: dict[str, Callable[..., IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]
_BLOCK_ROWS = 20_000
_BLOCK_BYTES = 1 << 24


@contextmanager
def reading(path: Path, form: str) -> Iterator[None]:
    """Turn whatever a damaged file makes a parser raise into a ValueError that names the file.

    Whatever: one changed byte makes zipfile, zlib, pandas and pyarrow raise a dozen kinds of exception.
    """
    try:
        yield
    except Exception as error:
        raise ValueError(f"{path} cannot be read as {form}: {error}") from error


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed by its ending."""
    return _OPENERS.get(path.suffix, open)(path, "rb")


def csv_blocks(
    path: Path, *, header: bool = False, separator: str = ",", **options: Any
) -> Iterator[pd.DataFrame]:
    """Yield a delimited text file as tables of some rows, so that it never stands in memory whole.

    Raises
    ------
    ValueError
        If the file cannot be parsed, or its rows differ in length.
    """
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
    return pd.concat(csv_blocks(path, header=header, separator=separator, **options), ignore_index=True)


def csv_header(path: Path) -> list[str]:
    """Return the names in the first line of a delimited text file."""
    with reading(path, "delimited text"), open_bytes(path) as file:
        return [str(name) for name in pd.read_csv(file, nrows=0).columns]


def read_arff(path: Path) -> pd.DataFrame:
    """Return the data of an ARFF file with numeric or nominal columns, named by its attributes."""
    with reading(path, "ARFF"), open_bytes(path) as file:
        names = _arff_names(file)
        table = pd.read_csv(file, header=None, comment="%")
        if table.shape[1] != len(names):
            raise ValueError(
                f"it declares {len(names)} attributes, but its rows have {table.shape[1]} values"
            )
        return table.set_axis(names, axis=1)


def _arff_names(lines: Iterator[bytes]) -> list[str]:
    """Return the names of the attributes, and leave the lines at the data."""
    names = []
    for line in lines:
        words = line.decode().split()
        if words and words[0].lower() == "@attribute" and len(words) > 2:
            names.append(words[1])
        elif words and words[0].lower() == "@data":
            return names
    raise ValueError("it has no @DATA line")


def libsvm_blocks(
    path: Path, columns: int | None = None, zero_based: bool = False
) -> Iterator[tuple[csr_matrix, NDArray[np.float64]]]:
    """Yield a LIBSVM file as sparse inputs (n, columns) and labels (n,) of some rows.

    Parameters
    ----------
    columns : int or None
        Number of columns; None for the largest index of each block.
    zero_based : bool
        Whether the file counts columns from 0; by LIBSVM's rule it counts from 1.

    Raises
    ------
    ValueError
        If the file is malformed or has an index beyond ``columns``; the message names the first bad line.
    """
    start = 1
    with reading(path, "LIBSVM data"), open_bytes(path) as file:
        while lines := file.readlines(_BLOCK_BYTES):
            yield _libsvm_rows(lines, start, columns, zero_based)
            start += len(lines)


def read_libsvm(
    path: Path, columns: int | None = None, zero_based: bool = False
) -> tuple[csr_matrix, NDArray[np.float64]]:
    """Return a LIBSVM file whole: sparse inputs and labels."""
    blocks = list(libsvm_blocks(path, columns, zero_based))
    if not blocks:
        raise ValueError(f"{path} cannot be read as LIBSVM data: it is empty")
    width = max(X.shape[1] for X, _ in blocks)
    for X, _ in blocks:
        X.resize(X.shape[0], width)
    return vstack([X for X, _ in blocks], format="csr"), np.concatenate([y for _, y in blocks])


def _libsvm_rows(
    lines: Sequence[bytes], start: int, columns: int | None, zero_based: bool
) -> tuple[csr_matrix, NDArray[np.float64]]:
    try:
        X, y = load_svmlight_file(BytesIO(b"".join(lines)), n_features=columns, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        if len(lines) == 1:
            remedy = (
                ": if the file counts columns from 0, say zero_based: true"
                if "index 0 " in str(error)
                else ""
            )
            raise ValueError(f"line {start}: {error}{remedy}") from error
        middle = len(lines) // 2
        _libsvm_rows(lines[:middle], start, columns, zero_based)
        _libsvm_rows(lines[middle:], start + middle, columns, zero_based)
        raise
    return csr_matrix(X), y


def read_npz(path: Path, *names: str) -> list[NDArray]:
    """Return the arrays of these names of an .npz file, which may hold no pickled objects."""
    with reading(path, "npz without pickled objects"), path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is no archive of arrays")
        with archive:
            if missing := [name for name in names if name not in archive]:
                raise ValueError(f"it has no array {missing[0]}")
            return [archive[name] for name in names]


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


def finite(
    path: Path, X: NDArray[np.float64], names: Sequence[str] | None = None, first_row: int = 0
) -> NDArray[np.float64]:
    """Return X, or raise ValueError naming file, row and column of a value that is missing or not finite."""
    if np.isfinite(X).all():
        return X
    wrong = np.argwhere(~np.isfinite(X))
    row, column = map(int, wrong[0])
    raise ValueError(
        f"{path}: row {first_row + row} (from 0), column {repr(names[column]) if names else column} is missing "
        f"or not finite ({len(wrong)} such values). Remove or impute them first."
    )
