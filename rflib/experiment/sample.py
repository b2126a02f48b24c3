"""Step sample: draw the features of a block's cells and store what defines them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from rflib.experiment.cells import Source, seed_of
from rflib.experiment.names import Spec, build_kernel, build_map
from rflib.experiment.warned import COLUMN, recorded
from rflib.files import write_arrays
from rflib.measures.base import SpectralMeasure


def run(
    source: Source,
    identity: str,
    kernel: Spec,
    method: Spec,
    measure: SpectralMeasure | None,
    n_components: Sequence[int],
    seeds: range,
    output: Path,
) -> None:
    """Fit the map for every number of columns and seed on that repetition's training rows.

    The random state comes from ``identity`` (data, kernel, method), n_components and seed. ``measure``
    is what the spectra step constructed, for methods that have one. A parameter ``task`` that is "auto" becomes
    that of the data. The arrays are named n_components/seed/array.
    """
    constructed = {"measure": measure} if measure else {}
    arrays: dict[str, NDArray] = {}
    told: set[str] = set()
    for seed in seeds:
        data = source.read(seed)
        for n in n_components:
            feature_map = build_map(
                {**method, **constructed},
                build_kernel(kernel),
                n_components=n,
                random_state=seed_of(identity, n, seed),
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
