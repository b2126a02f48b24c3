"""Step cost: the seconds and the memory that maps take for the training rows, measured in turn."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rflib.experiment.cells import as_taken, read_rows, seed_of, unfitted_map
from rflib.experiment.copies import import_what_is_imported, in_a_copy
from rflib.experiment.specs import identity
from rflib.experiment.warned import noted
from rflib.files import write_rows

if TYPE_CHECKING:
    from rflib.datasets.load import Dataset
    from rflib.experiment.cost_job import CostJob
    from rflib.experiment.jobs import Unit
    from rflib.maps.base import RandomFeatureMap


def run(job: CostJob, results: Path, output: Path, **common: Any) -> None:
    """Fit every map and transform the training rows, once for each number of columns and seed.

    Each seed takes all maps in turn, in an order of its own, so that what else the machine does meets all of them
    alike; the median over the seeds is the map's time. Each measurement is made in a process of its own, a copy of
    this one, in which no map was fitted before, because maps keep things that would spare later fits work.
    The memory is the peak of that process beyond what it began with, in megabytes of 10^6 bytes.
    """
    found: list[dict[str, Any]] = []
    _load_what_fits_load(job, results)
    for seed in noted(range(*job.seeds), found):
        data = read_rows(results, job.data, seed)
        order = np.random.default_rng(seed_of("order", seed)).permutation(len(job.units))
        for n in job.n_components:
            for i in order:
                unit = job.units[i]
                values = in_a_copy(partial(_cost, unfitted_map(unit, data, n, seed), data))
                cell = {"method_id": identity(unit.method), "n_components": n, "seed": seed}
                took = {**cell, "seconds": values["map_seconds"]}
                found += [{**took, "metric": m, "value": v} for m, v in values.items()]
    write_rows(output, found, **common)


def _load_what_fits_load(job: CostJob, results: Path) -> None:
    """Fit every map once in a copy of this process, and import here what was imported there.

    The compiled cosines are called besides: maps use them only for more numbers than these fits have, and numba
    loads their code at the first call for each layout of the arrays, all columns of a matrix or some.
    """
    data, n = read_rows(results, job.data, job.seeds[0]), min(job.n_components)

    def fit(unit: Unit) -> None:
        feature_map = unfitted_map(unit, data, n, 0)
        [X] = as_taken(feature_map, data.X_train)
        feature_map.fit(X, data.y_train).transform(X)

    for unit in job.units:
        import_what_is_imported(partial(fit, unit))
    with suppress(ImportError):
        from rflib.maps.compiled_cosines import cosines

        matrix = np.zeros((2, 2))
        for phases in matrix, matrix[:, :1]:
            for out in np.empty_like(phases, order="C"), np.empty((2, 3))[:, : phases.shape[1]]:
                cosines(phases, np.ones(phases.shape[1]), out)


def _cost(feature_map: RandomFeatureMap, data: Dataset) -> dict[str, float]:
    """Return what the fit and the transform of the training rows take."""
    [X] = as_taken(feature_map, data.X_train)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    feature_map.fit(X, data.y_train)
    fitted = perf_counter()
    feature_map.transform(X)
    end = perf_counter()
    peak = getrusage(RUSAGE_SELF).ru_maxrss
    return {
        "fit_seconds": fitted - start,
        "row_microseconds": (end - fitted) * 1e6 / len(data.y_train),
        "map_seconds": end - start,
        "map_megabytes": (peak - before) * 1024 / 1e6,
    }
