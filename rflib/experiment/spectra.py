"""Step spectra: the measure that a method draws from, once for all seeds and numbers of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rflib.experiment.cells import Source
from rflib.experiment.names import Spec, build_kernel
from rflib.measures.construct import construct
from rflib.measures.domain import Domain
from rflib.measures.store import save


def run(source: Source, kernel: Spec, measure: dict[str, Any], output: Path) -> None:
    """Construct the measure on the training rows of repetition 0 and store it."""
    X = source.read(0).X_train
    function = build_kernel(kernel)
    function.check_rows(X)
    output.parent.mkdir(parents=True, exist_ok=True)
    save(construct(measure, function, Domain.of(X)), output)
