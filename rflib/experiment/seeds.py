"""Which seeds run in which job: existing results are kept, and only missing seeds are run."""

from collections.abc import Collection
from typing import NamedTuple


class Demand(NamedTuple):
    """Seeds 0, 1, ..., ``repetitions`` - 1 that a study wants, and how many of them make one job."""

    repetitions: int
    seed_block: int


def ranges(demands: Collection[Demand], held: Collection[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Return adjacent ranges of seeds, from 0 on, that hold all seeds that are wanted.

    Where a range ends, the longest existing range that starts there follows, even if it holds more seeds than are
    wanted. The seeds between existing ranges are divided where the demand of a study ends and into jobs of
    ``seed_block`` seeds. The result does not change while its ranges are being computed.

    Parameters
    ----------
    demands : collection of Demand
        What the studies want of the same cells; at least one.
    held : collection of (first, stop)
        Ranges that have results.
    """
    longest: dict[int, int] = {}
    for first, stop in held:
        longest[first] = max(stop, longest.get(first, stop))
    found = []
    first, last = 0, max(demand.repetitions for demand in demands)
    while first < last:
        open_demands = [demand for demand in demands if demand.repetitions > first]
        stop = longest.get(first) or min(
            first + min(demand.seed_block for demand in open_demands),
            *(demand.repetitions for demand in open_demands),
            *(start for start in longest if start > first),
        )
        found.append((first, stop))
        first = stop
    return found
