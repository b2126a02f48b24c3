"""The source files of a run: a job refuses them when they were edited after the run began.

Snakemake plans a run with the code as it is at the start, and a job imports it minutes or, on a cluster, hours
later. An edit between the two would put results of the new code under the fingerprint of the old. So the Snakefile
leaves a digest of all source files in the environment, which jobs inherit, on a cluster too, and each compares.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "RFLIB_SOURCES"
_PACKAGE = Path(__file__).parents[1]
_SUFFIXES = {".py", ".pyi", ".yaml", ".html", ".css", ".js"}


def digest() -> str:
    """Return 16 hexadecimal digits for the names and contents of rflib's source files."""
    found = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.suffix in _SUFFIXES:
            found.update(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@contextmanager
def unchanged() -> Iterator[None]:
    """Raise ValueError, before or after what is done inside, if the sources are not those of the run's beginning.

    Does nothing outside a run, where the variable is not set.
    """
    _check()
    yield
    _check()


def _check() -> None:
    expected = os.environ.get(VARIABLE)
    if expected is not None and expected != (found := digest()):
        raise ValueError(
            f"the source files in {_PACKAGE} were edited after this run began ({expected} then, {found} now), so "
            "this job keeps nothing. Start Snakemake again: finished jobs of unchanged code stay."
        )
