"""Blocks of features that are gone over several times: kept where they are few, else made again."""

from collections.abc import Callable, Iterator
from itertools import chain

from rflib.kernels.namespaces import Array
from rflib.learners.moments import Blocks


class KeptBlocks:
    """Blocks that ``make`` makes, kept if ``keeps`` returns true for the features of the first one."""

    def __init__(self, make: Callable[[], Blocks], keeps: Callable[[Array], bool]):
        self._make, self._keeps = make, keeps
        self._kept: list[tuple[slice, Array]] | None = None

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        if self._kept is not None:
            yield from self._kept
            return
        blocks = iter(self._make())
        first = next(blocks)
        kept: list[tuple[slice, Array]] | None = [] if self._keeps(first[1]) else None
        for block in chain([first], blocks):
            if kept is not None:
                kept.append(block)
            yield block
        self._kept = kept
