"""Warnings of a job: each kind is logged once and is stored with the cells that raised it."""

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

COLUMN = "warnings"
_Cell = TypeVar("_Cell")


class FitWarning(UserWarning):
    """A warning of a map's ``fit``, from the earlier job in which the features of the cell were drawn."""


@contextmanager
def recorded(told: set[str]) -> Iterator[list[str]]:
    """Collect the distinct warnings of the body as ``Category: message``, and show the kinds not yet ``told``.

    Warnings that differ only in numbers are of one kind.
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
    """Yield the cells. Rows that are appended before the next cell get the warnings raised until then."""
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
    """Return the text of a warning without its numbers."""
    return re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", text)
