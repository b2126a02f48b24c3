"""Warnings of a job: each kind goes to the job's log once, and to the rows of the cells that raised it."""

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

COLUMN = "warnings"
_Cell = TypeVar("_Cell")


class FitWarning(UserWarning):
    """What a map's ``fit`` warned of when the features of a cell were drawn, in an earlier job."""


@contextmanager
def recorded(told: set[str]) -> Iterator[list[str]]:
    """Collect the distinct warnings of the block as ``Category: message``; the kinds not yet ``told`` are shown.

    Warnings that differ only in their numbers are of one kind.
    """
    texts: list[str] = []

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message) if category is FitWarning else f"{category.__name__}: {message}"
        text = " ".join(text.split())
        if kind(text) not in told:
            told.add(kind(text))
            print(f"warning: {text}", file=sys.stderr, flush=True)
        if text not in texts:
            texts.append(text)

    with warnings.catch_warnings():
        warnings.showwarning = note
        yield texts


def noted(cells: Iterable[_Cell], rows: list[dict[str, Any]]) -> Iterator[_Cell]:
    """Yield the cells; the rows that are appended before the next one get the warnings raised until then."""
    told: set[str] = set()
    iterator = iter(cells)
    while True:
        first = len(rows)
        with recorded(told) as texts:
            try:
                cell = next(iterator)
            except StopIteration:
                return
            yield cell
        for row in rows[first:]:
            row[COLUMN] = "\n".join(texts)


def kind(text: str) -> str:
    """Return a warning's text with its numbers left out."""
    return re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", text)
