"""Step exact: train a learner with the exact kernel, which is the reference for features."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse

from rflib.experiment.cells import exact_matrix, read_rows
from rflib.experiment.specs import build, build_kernel
from rflib.experiment.train import score
from rflib.experiment.warned import noted
from rflib.files import write_rows
from rflib.kernels.similarity import PRECOMPUTED

if TYPE_CHECKING:
    from rflib.experiment.jobs_on_rows import ExactJob


def run(job: ExactJob, results: Path, output: Path, **common: Any) -> None:
    """Train and score the learner for each seed; it gets the kernel matrices of sparse rows."""
    found: list[dict[str, Any]] = []
    for seed in noted(range(*job.seeds), found):
        data = read_rows(results, job.data, seed)
        start = perf_counter()
        kernel: Any = build_kernel(job.kernel)
        train, test = data.X_train, data.X_test
        if issparse(train):
            train, test, kernel = exact_matrix(kernel, train), exact_matrix(kernel, test, train), PRECOMPUTED
        estimator = build("learner", job.learner, kernel=kernel)
        predicted = estimator.fit(train, data.y_train).predict(test)
        found.append({"seed": seed, **score(data, predicted), "seconds": perf_counter() - start})
    write_rows(output, found, **common)
