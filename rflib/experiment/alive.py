"""A lock that dies with its process: clears the locks that a killed Snakemake left, and no others.

Snakemake's own locks are plain files, so one that is killed leaves its folder locked. Every run holds the
operating system's shared lock on one file as long as it lives; whoever can get it exclusively is alone.
"""

from __future__ import annotations

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO


def hold(folder: Path) -> IO[str] | None:
    """Take the lock in Snakemake's folder (``.snakemake``), clearing stale locks first if no other run is alive.

    It is held as long as the file that is returned is open; None if the folder cannot be written.
    """
    try:
        folder.mkdir(exist_ok=True)
        file = (folder / "alive").open("a", encoding="utf-8")
    except OSError:
        return None
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for lock in (folder / "locks").glob("*.lock"):
            lock.unlink(missing_ok=True)
    fcntl.flock(file, fcntl.LOCK_SH)
    return file
