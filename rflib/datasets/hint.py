"""What may have been meant by a word that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def hint(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return the question whether the nearest known word was meant, after a space; empty if none is near."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=likeness)
    return f" Did you mean {near[0]!r}?" if near else ""
