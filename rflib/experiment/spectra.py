"""Step spectra: construct the measure that a method draws from, for all seeds and numbers of columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rflib.experiment.cells import read_rows
from rflib.experiment.specs import build_kernel
from rflib.measures.construct import construct
from rflib.measures.domain import Domain
from rflib.measures.store import save

if TYPE_CHECKING:
    from rflib.experiment.jobs import SpectraJob


def run(job: SpectraJob, results: Path, output: Path) -> None:
    """Construct the measure on the training rows of repetition 0 and store it."""
    X = read_rows(results, job.data.for_fit, 0).X_train
    kernel, X = build_kernel(job.kernel).isotropic(X)
    kernel.check_rows(X)
    output.parent.mkdir(parents=True, exist_ok=True)
    save(construct(job.measure, kernel, Domain.of(X)), output)
