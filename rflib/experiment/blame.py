"""Errors that name the place that they are about."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def place(path: Path) -> str:
    """Return a path as it is from the folder that the user is in."""
    return os.path.relpath(path)


@contextmanager
def within(place: str) -> Iterator[None]:
    """Prefix the message of a ValueError with the place that it is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
