"""Formats: text and array files to arrays, as data only, with errors that name file, row and column."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_CHUNK_ROWS = 50_000


def open_text(path: Path) -> IO[str]:
    """Open a text file, decompressed by its ending."""
    opener = _OPENERS.get(path.suffix, open)
    return cast(IO[str], opener(path, "rt", encoding="utf-8"))  # type: ignore[operator]


def read_csv(path: Path, *, header: bool = False, separator: str = ",") -> pd.DataFrame:
    """Read a delimited text file in chunks, so that the text never stands in memory whole.

    Raises
    ------
    ValueError
        If the file cannot be parsed.
    """
    try:
        chunks = pd.read_csv(
            path, header=0 if header else None, sep=separator, chunksize=_CHUNK_ROWS, engine="c"
        )
        return pd.concat(chunks, ignore_index=True)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} cannot be read as delimited text: {error}") from error


def read_arff(path: Path) -> pd.DataFrame:
    """Read the data of an ARFF file with numeric or nominal columns, named by its attributes."""
    with open_text(path) as file:
        names = _arff_header(path, file)
        try:
            return pd.read_csv(file, header=None, names=names)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path} cannot be read as ARFF: {error}") from error


def _arff_header(path: Path, lines: Iterator[str]) -> list[str]:
    names = []
    for line in lines:
        words = line.split()
        if words and words[0].lower() == "@attribute" and len(words) > 2:
            names.append(words[1])
        elif words and words[0].lower() == "@data":
            return names
    raise ValueError(f"{path} is not ARFF: it has no @DATA line.")


def read_libsvm(path: Path, columns: int | None = None) -> tuple[csr_matrix, NDArray[np.float64]]:
    """Read a LIBSVM file: sparse inputs (n, columns) and labels.

    Raises
    ------
    ValueError
        If the file is malformed or has an index beyond ``columns``.
    """
    try:
        opener = _OPENERS.get(path.suffix, open)
        with opener(path, "rb") as file:  # type: ignore[operator]
            X, y = load_svmlight_file(file, n_features=columns, zero_based=False)
    except (ValueError, EOFError, OSError, OverflowError) as error:
        raise ValueError(f"{path} cannot be read as LIBSVM data: {error}") from error
    return X, y


def checked(path: Path, X: NDArray, names: list[str] | None = None) -> NDArray[np.float64]:
    """Return X as doubles, or raise ValueError naming file, row and column of what is missing or not finite."""
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} has a value that is not a number: {error}") from error
    wrong = np.argwhere(~np.isfinite(X))
    if len(wrong):
        row, column = map(int, wrong[0])
        label = f"{names[column]!r}" if names else str(column)
        raise ValueError(
            f"{path}: row {row} (from 0), column {label} is missing or not finite ({len(wrong)} such values). "
            "Remove or impute them first."
        )
    return X
