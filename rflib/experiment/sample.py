"""Step sample: draw the features of a block of cells and store what defines them."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rflib.experiment.cells import read_rows, seed_of
from rflib.experiment.specs import build_kernel, build_map
from rflib.experiment.warned import COLUMN, recorded
from rflib.files import write_arrays

if TYPE_CHECKING:
    from rflib.experiment.jobs import SampleJob


def run(job: SampleJob, results: Path, output: Path) -> None:
    """Fit the map for every number of columns and seed on that repetition's training rows.

    The random state depends on the path of the unit (data, kernel, method), n_components and the seed. A measure
    that the step spectra constructed is read from its file. A parameter ``task`` that is "auto" gets the task of
    the data. The arrays are named n_components/seed/array.
    """
    unit = job.unit
    constructed = {"measure": unit.measure(results)} if unit.spectra else {}
    arrays: dict[str, NDArray] = {}
    told: set[str] = set()
    for seed in range(*job.seeds):
        data = read_rows(results, unit.data, seed)
        for n in job.n_components:
            feature_map = build_map(
                {**unit.method, **constructed},
                build_kernel(unit.kernel),
                n_components=n,
                random_state=seed_of(unit.path, n, seed),
            )
            parameters = feature_map.get_params().items()
            tasks = [name for name, v in parameters if name.split("__")[-1] == "task" and v == "auto"]
            feature_map.set_params(**dict.fromkeys(tasks, data.task))
            start = perf_counter()
            with recorded(told) as warnings:
                feature_map.fit(data.X_train, data.y_train)
            seconds = perf_counter() - start
            about = {"seconds": np.array(seconds), COLUMN: np.array(warnings, dtype=np.str_)}
            state = feature_map.state() | about
            arrays |= {f"{n}/{seed}/{name}": array for name, array in state.items()}
    write_arrays(output, arrays)
