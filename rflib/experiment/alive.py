"""A lock that ends with its process, by which a run can remove the locks that a killed Snakemake left.

It costs 0.02 ms at the start of a run. Without it, every run after a kill ends with an error until somebody types
``snakemake --unlock``, which would also unlock a folder in which another run is active.

Snakemake's own locks are plain files, so a killed Snakemake leaves its folder locked. Every run holds a shared
lock of the operating system on one file as long as it lives. A run that can lock this file exclusively is alone.
"""

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO

BUSY = (
    "Another Snakemake process is running in this folder. A dry run counts its unfinished jobs as jobs to do. "
    "Before you run anything that both runs need, wait until it has ended."
)


def hold(folder: Path) -> tuple[IO[str] | None, bool]:
    """Take the lock in Snakemake's folder (``.snakemake``), and first remove stale locks if no other run is alive.

    Returns a file that holds the lock as long as it is open, or None if the folder cannot be written, and whether
    no other run is alive.
    """
    try:
        folder.mkdir(exist_ok=True)
        file = (folder / "alive").open("a", encoding="utf-8")
    except OSError:
        return None, True
    alone = False
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone = True
        for lock in (folder / "locks").glob("*.lock"):
            lock.unlink(missing_ok=True)
    fcntl.flock(file, fcntl.LOCK_SH)
    return file, alone
