"""Files of the steps: written under a temporary name, renamed when complete, and checked when read."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray


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
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(
            error.errno,
            f"cannot write {path}: {error.strerror or error}. Make room or give write permission, then run "
            "again; finished results are kept",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_rows(path: str | Path, rows: Iterable[Mapping[str, Any]], **common: Any) -> None:
    """Write the rows of one job as Parquet, with what they share: its identity, where and with what it ran."""
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
    with replacing(path) as file:
        table.to_parquet(file, index=False)


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a Parquet table.

    Raises
    ------
    ValueError
        If the file is damaged; the message names it and the remedy.
    """
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{path} is damaged ({error}): delete it and run again.") from error


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray]) -> None:
    """Write named arrays as npz, without pickle."""
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_arrays(path: str | Path) -> dict[str, NDArray]:
    """Read named arrays.

    Raises
    ------
    ValueError
        If the file is damaged; the message names it and the remedy.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{path} is damaged ({error}): delete it and run again.") from error
