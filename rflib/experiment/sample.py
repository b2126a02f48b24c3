"""Step sample: draw the features of a block of cells and store what defines them."""

from __future__ import annotations

import re
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rflib.experiment.cells import as_taken, read_rows, unfitted_map
from rflib.experiment.warned import COLUMN, recorded
from rflib.files import write_arrays

if TYPE_CHECKING:
    from rflib.experiment.jobs import SampleJob

# What a map has learned but does not compute its features with: measures are megabytes for each map.
_OF_THE_FIT = re.compile(r"(^|\.)(measure_)[.@]")


def run(job: SampleJob, results: Path, output: Path) -> None:
    """Fit the map for every number of columns and seed on that repetition's training rows.

    A measure that the step spectra constructed is read from its file. The arrays are named
    n_components/seed/array.
    """
    unit = job.unit
    measure = unit.measure(results) if unit.spectra else None
    arrays: dict[str, NDArray] = {}
    told: set[str] = set()
    for seed in range(*job.seeds):
        data = read_rows(results, unit.data.for_fit, seed)
        for n in job.n_components:
            feature_map = unfitted_map(unit, data, n, seed, measure)
            [X] = as_taken(feature_map, data.X_train)
            start = perf_counter()
            with recorded(told) as warnings:
                feature_map.fit(X, data.y_train)
            seconds = perf_counter() - start
            about = {"seconds": np.array(seconds), COLUMN: np.array(warnings, dtype=np.str_)}
            state = feature_map.state() | about
            kept = {name: array for name, array in state.items() if not _OF_THE_FIT.search(name)}
            arrays |= {f"{n}/{seed}/{name}": array for name, array in kept.items()}
    write_arrays(output, arrays)
