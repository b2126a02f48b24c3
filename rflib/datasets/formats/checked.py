"""Files are data only: damage and values that are not finite are errors that name file, row and column."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

NO_UTF8 = "it is not text in UTF-8. Save it in this encoding"


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


def open_text(path: Path) -> IO[bytes]:
    """Open a text behind the mark of UTF-8 that it may begin with, decompressed; UTF-16 is an error."""
    with open_bytes(path) as file:
        head = file.read(1024)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
        raise ValueError(NO_UTF8)
    file = open_bytes(path)
    file.seek(3 if head.startswith(b"\xef\xbb\xbf") else 0)
    return file


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
