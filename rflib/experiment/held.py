"""Plans cut into jobs, beside the results that there are already."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath

from rflib.experiment.plan import Entry, ExactEntry, Seeds, StudyPlan
from rflib.experiment.seeds import ranges


def divided(plans: Sequence[StudyPlan], results: Path) -> list[StudyPlan]:
    """Return the plans with their entries cut into jobs that all of them share.

    Seeds of which there are results in the folder stay in the jobs that they were run in (`seeds.ranges`).
    """
    sharing: defaultdict[str, list[Entry | ExactEntry]] = defaultdict(list)
    for entry in chain.from_iterable(plan.wanted for plan in plans):
        sharing[_cells(entry)].append(entry)
    names = cache(lambda folder: _names(results / folder))
    found: dict[str, list[Seeds]] = {}
    for cells, entries in sharing.items():
        path = PurePosixPath(entries[0].stored)
        held = [
            seeds
            for name, seeds in names(str(path.parent))
            if _file(entries[0], seeds) == str(path.with_name(name))
        ]
        found[cells] = ranges({entry.demand for entry in entries}, held)
    return [
        plan.divided(lambda entry: [s for s in found[_cells(entry)] if s[0] < entry.demand.repetitions])
        for plan in plans
    ]


def _names(folder: Path) -> list[tuple[str, Seeds]]:
    """Return the names of files that end in a range of seeds, with that range."""
    found: list[tuple[str, Seeds]] = []
    with suppress(FileNotFoundError), os.scandir(folder) as files:
        for file in files:
            match = re.search(r"-r(\d+)_(\d+)\.\w+$", file.name)
            if match and int(match[1]) < int(match[2]):
                found.append((file.name, (int(match[1]), int(match[2]))))
    return found


def _file(entry: Entry | ExactEntry, seeds: Seeds) -> str:
    return entry.with_seeds(*seeds).stored


def _cells(entry: Entry | ExactEntry) -> str:
    """What entries of the same cells have in common, whatever their seeds."""
    return _file(entry, (0, 0))
