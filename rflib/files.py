"""Files of results: written under a temporary name, renamed when complete, and checked when read.

Parquet's footer and npz's directory have no checksum of their own, so each file holds the digest of its whole
content, computed with zeros in the digest's place. Other programs read the files as ever.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import platform
import resource
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

_SEAL = b"rflib.sha256:"
_ZEROS = b"0" * 64
_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open ``path`` for writing; it changes only if the block ends well, then all at once.

    Raises
    ------
    OSError
        With the file and a remedy, if the disk is full or the folder cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def explained(path: str | Path) -> Iterator[None]:
    """Name the file and a remedy where the block fails for want of room or permission to write ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        raise OSError(
            error.errno,
            f"cannot write {path}: {error.strerror}. Make room or give write permission, then run again; finished "
            "results are kept",
        ) from error


def write_rows(path: str | Path, rows: Iterable[Mapping[str, Any]], **common: Any) -> None:
    """Write the rows of one job as Parquet, with what they share: its identity, where and with what it ran."""
    import pandas as pd

    where = {
        "host": platform.node(),
        "versions": " ".join(
            f"{name}={version(name)}" for name in ("rflib", "numpy", "scipy", "scikit-learn")
        ),
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    write_table(path, pd.DataFrame([{**common, **row, **where} for row in rows]))


def write_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as Parquet."""
    import pyarrow
    from pyarrow import parquet

    content = pyarrow.Table.from_pandas(table, preserve_index=False)
    with replacing(path) as file:
        with parquet.ParquetWriter(file, content.schema) as writer:
            writer.write_table(content)
            writer.add_key_value_metadata({"seal": _SEAL + _ZEROS})
        _seal(file)


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a Parquet table.

    Raises
    ------
    ValueError
        If the file is damaged; the message names it and the remedy.
    """
    import pandas as pd

    with _checked(path):
        return pd.read_parquet(path)


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray]) -> None:
    """Write named arrays as npz, without pickle."""
    with replacing(path) as file:
        # as numpy.savez, which refuses objects from numpy 2.1 on only
        with zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
            archive.comment = _SEAL + _ZEROS
        _seal(file)


def read_arrays(path: str | Path) -> dict[str, NDArray]:
    """Read named arrays.

    Raises
    ------
    ValueError
        If the file is damaged; the message names it and the remedy.
    """
    with _checked(path), np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def _seal(file: BinaryIO) -> None:
    """Put the digest of an open file's content into the place kept for it."""
    file.flush()
    with mmap.mmap(file.fileno(), 0) as content:
        place = content.rfind(_SEAL + _ZEROS) + len(_SEAL)
        content[place : place + len(_ZEROS)] = _digest(content, place)


def _digest(content: mmap.mmap, place: int) -> bytes:
    """The hexadecimal SHA-256 of a content with zeros in the digest's place."""
    with memoryview(content) as view, view[:place] as before, view[place + len(_ZEROS) :] as after:
        found = hashlib.sha256(before)
        found.update(_ZEROS)
        found.update(after)
    return found.hexdigest().encode()


@contextmanager
def _checked(path: str | Path) -> Iterator[None]:
    """Compare a file with its digest; what goes wrong in the block too is told with the file and the remedy."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            place = content.rfind(_SEAL) + len(_SEAL)
            if place < len(_SEAL):
                raise ValueError("it has no digest: cut short, or made by an older version")
            if content[place : place + len(_ZEROS)] != _digest(content, place):
                raise ValueError("its content is not the one that was written")
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{path} is damaged ({error}): delete it and run again.") from error
