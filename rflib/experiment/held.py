"""The division of plans into jobs, which depends on the results that exist already."""

import os
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from rflib.experiment.jobs import Seeds
from rflib.experiment.plan import StudyPlan, Wanted
from rflib.experiment.seeds import ranges


def divided(plans: Sequence[StudyPlan], results: Path) -> list[StudyPlan]:
    """Return the plans, divided into jobs that all of them share.

    Seeds that have results in the folder stay in the jobs in which they were run (`seeds.ranges`).
    """
    cells_of = [[_cells(wanted) for wanted in plan.wanted] for plan in plans]
    sharing: defaultdict[str, list[Wanted]] = defaultdict(list)
    for plan, each in zip(plans, cells_of, strict=True):
        for cells, wanted in zip(each, plan.wanted, strict=True):
            sharing[cells].append(wanted)
    names = cache(lambda folder: _names(results / folder))
    found: dict[str, list[Seeds]] = {}
    for cells, alike in sharing.items():
        path = PurePosixPath(alike[0].job.stored)
        held = [
            seeds
            for name, seeds in names(str(path.parent))
            if alike[0].job.with_seeds(seeds).stored == str(path.with_name(name))
        ]
        found[cells] = ranges({wanted.demand for wanted in alike}, held)
    return [
        plan.divided(
            [seeds for seeds in found[cells] if seeds[0] < wanted.demand.repetitions]
            for cells, wanted in zip(each, plan.wanted, strict=True)
        )
        for plan, each in zip(plans, cells_of, strict=True)
    ]


def _names(folder: Path) -> list[tuple[str, Seeds]]:
    """Return the names of files that end in a range of seeds, and these ranges."""
    found: list[tuple[str, Seeds]] = []
    with suppress(FileNotFoundError), os.scandir(folder) as files:
        for file in files:
            match = re.search(r"-r(\d+)_(\d+)\.\w+$", file.name)
            if match and int(match[1]) < int(match[2]):
                found.append((file.name, (int(match[1]), int(match[2]))))
    return found


def _cells(wanted: Wanted) -> str:
    """Return what jobs on the same cells have in common, whatever their seeds."""
    return wanted.job.with_seeds((0, 0)).stored
