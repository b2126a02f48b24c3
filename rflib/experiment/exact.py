"""Step exact: train a learner with the exact kernel, which is the reference for features."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rflib.experiment.cells import read_rows
from rflib.experiment.specs import build, build_kernel
from rflib.experiment.train import score
from rflib.experiment.warned import noted
from rflib.files import write_rows

if TYPE_CHECKING:
    from rflib.experiment.jobs import ExactJob


def run(job: ExactJob, results: Path, output: Path, **common: Any) -> None:
    """Train and score the learner for each seed."""
    found: list[dict[str, Any]] = []
    for seed in noted(range(*job.seeds), found):
        data = read_rows(results, job.data, seed)
        start = perf_counter()
        estimator = build("learner", job.learner, kernel=build_kernel(job.kernel))
        predicted = estimator.fit(data.X_train, data.y_train).predict(data.X_test)
        found.append({"seed": seed, **score(data, predicted), "seconds": perf_counter() - start})
    write_rows(output, found, **common)
