"""A check that rflib's source files were not edited after a run began.

Snakemake plans a run with the code as it is at the start, and a job imports the code minutes or, on a cluster,
hours later. If it was edited in between, results of the new code would be filed under the fingerprint of the old
code. The Snakefile therefore puts a digest of all source files into the environment, which jobs inherit, on a
cluster too, and each job compares it.
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
    """Raise ValueError, before or after the body, if the sources differ from those at the beginning of the run.

    Outside a run, where the variable is not set, nothing is checked.
    """
    _check()
    yield
    _check()


def _check() -> None:
    expected = os.environ.get(VARIABLE)
    if expected is not None and expected != (found := digest()):
        raise ValueError(
            f"the source files in {_PACKAGE} were edited after this run began ({expected} then, {found} now), so "
            "this job discards its result. Start Snakemake again. Results of unchanged code are kept."
        )
