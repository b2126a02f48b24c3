"""Step spectra: what a method computes from kernel and data once, whatever the seed and the columns."""

from __future__ import annotations

from pathlib import Path

from rflib.experiment.cells import Source
from rflib.experiment.names import Spec, build_kernel, build_map
from rflib.measures.store import save


def run(source: Source, kernel: Spec, method: Spec, output: Path) -> None:
    """Construct the measure on the training rows of repetition 0 and store it."""
    measure = build_map(method, build_kernel(kernel)).spectrum(source.read(0).X_train)
    output.parent.mkdir(parents=True, exist_ok=True)
    save(measure, output)
