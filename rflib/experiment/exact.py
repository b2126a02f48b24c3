"""Step exact: a learner with the exact kernel, the reference that features approach."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from rflib.experiment.cells import Source
from rflib.experiment.names import Spec, build, build_kernel
from rflib.experiment.train import score
from rflib.experiment.warned import noted
from rflib.files import write_rows


def run(source: Source, kernel: Spec, learner: Spec, seeds: range, output: Path, **common: Any) -> None:
    """Train and score the learner on every repetition."""
    found: list[dict[str, Any]] = []
    for seed in noted(seeds, found):
        data = source.read(seed)
        start = perf_counter()
        estimator = build("learner", learner, kernel=build_kernel(kernel)).fit(data.X_train, data.y_train)
        predicted = estimator.predict(data.X_test)
        found.append({"seed": seed, **score(data, predicted), "seconds": perf_counter() - start})
    write_rows(output, found, **common)
