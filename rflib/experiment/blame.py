"""Errors that name the place they are about."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def place(path: Path) -> str:
    """Return a path relative to the current folder."""
    return os.path.relpath(path)


@contextmanager
def within(place: str) -> Iterator[None]:
    """Prefix the message of a ValueError with the place it is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
