"""A lock that dies with its process: clears the locks that a killed Snakemake left, and no others.

Snakemake's own locks are plain files, so one that is killed leaves its folder locked. Every run holds the
operating system's shared lock on one file as long as it lives; whoever can get it exclusively is alone.
"""

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO

BUSY = (
    "Another Snakemake is running in this folder. A dry run counts the jobs that it has not finished as to do; "
    "to run anything that both need, wait until it has ended."
)


def hold(folder: Path) -> tuple[IO[str] | None, bool]:
    """Take the lock in Snakemake's folder (``.snakemake``), clearing stale locks first if no other run is alive.

    Returns a file, which holds the lock as long as it is open (None if the folder cannot be written), and whether
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
