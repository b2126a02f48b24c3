"""Warnings of a job: in its log once, with the rows of the cells that raised them, and from fit to the results."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib.experiment import evaluate, sample, train
from rflib.experiment.cells import read_rows
from rflib.experiment.data import Data
from rflib.experiment.jobs import EvaluateJob, SampleJob, TrainJob, Unit
from rflib.experiment.warned import COLUMN, noted
from rflib.files import read_table
from rflib.maps.gorf import GORF


class RangeWarning(UserWarning):
    pass


@pytest.mark.filterwarnings("default")
def test_rows_hold_the_warnings_of_their_cell_and_the_log_each_kind_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows: list[dict[str, Any]] = []
    for cell in noted(range(3), rows):
        for count in range(cell):
            warnings.warn(f"{count} rows lie 1.5e{cell} beyond", RangeWarning, stacklevel=1)
        rows += [{"cell": cell}, {"cell": cell}]
    said = {row["cell"]: row[COLUMN] for row in rows}
    assert said == {
        0: "",
        1: "RangeWarning: 0 rows lie 1.5e1 beyond",
        2: "RangeWarning: 0 rows lie 1.5e2 beyond\nRangeWarning: 1 rows lie 1.5e2 beyond",
    }
    assert capsys.readouterr().err == "warning: RangeWarning: 0 rows lie 1.5e1 beyond\n"


def test_outside_of_cells_warnings_are_as_ever() -> None:
    rows: list[dict[str, Any]] = []
    list(noted(range(2), rows))
    with pytest.warns(RangeWarning):
        warnings.warn("again", RangeWarning, stacklevel=1)


@pytest.mark.filterwarnings("default")
def test_what_fit_and_transform_warn_of_reaches_the_results(
    monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    def warning(name: str, message: str) -> None:
        original = getattr(GORF, name)

        def method(self: GORF, *arguments: Any) -> Any:
            warnings.warn(message, RangeWarning, stacklevel=1)
            return original(self, *arguments)

        monkeypatch.setattr(GORF, name, method)

    warning("fit", "of fit")
    warning("transform", "of transform")
    data = Data("digits", "unit_norm", max_train=30, max_test=20)
    job = SampleJob(Unit(data, {"type": "DeltaGaussian"}, {"type": "GORF"}), (8,), (0, 2))
    sample.run(job, results, results / job.path)
    evaluate.run(EvaluateJob(job, rows=20), results, results / "e.parquet")
    rows = read_table(results / "e.parquet")
    assert set(rows[COLUMN]) == {"RangeWarning: of fit\nRangeWarning: of transform"}
    assert np.isfinite(rows["value"]).all()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["Nystroem", "OptimizedMaclaurin"])
def test_rows_unlike_the_training_rows_are_counted(
    name: str, monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    """In the steps of errors and scores, from test rows that are farther out than the training rows."""
    data = Data("digits", "unit_norm", max_train=60, max_test=40)
    unit = Unit(data, {"type": "Gaussian"}, {"type": name})
    job = SampleJob(unit, (8,), (0, 1))
    sample.run(job, results, results / job.path)

    def farther(*arguments: Any) -> Any:
        read = read_rows(*arguments)
        return replace(read, X_test=9 * read.X_test)

    for step in (evaluate, train):
        monkeypatch.setattr(step, "read_rows", farther)
    evaluate.run(EvaluateJob(job, rows=20, held_out=True), results, results / "errors.parquet")
    train.run(TrainJob(job, {"type": "KRRClassifier"}), results, results / "scores.parquet")
    for step in ("errors", "scores"):
        (text,) = set(read_table(results / f"{step}.parquet")[COLUMN])
        assert text.startswith(f"RangeWarning: {name}: ")
        assert "are outside the range of the training rows" in text
        assert text.count("RangeWarning") == 1


@pytest.fixture
def results(tmp_path: Path) -> Path:
    from rflib.datasets.prepare import prepare

    prepare("digits", tmp_path, tmp_path / "data/digits")
    return tmp_path
