"""The steps of the pipeline on a device: the results of the CPU, to rounding."""

from pathlib import Path

import numpy as np
import pytest

from rflib.cli import main
from rflib.datasets.prepare import prepare
from rflib.experiment.data import Data
from rflib.experiment.jobs import EvaluateJob, Job, SampleJob, TrainJob, Unit
from rflib.files import read_table

UNIT = Unit(
    Data("digits", "unit_norm", max_train=100, max_test=60), {"type": "DeltaGaussian"}, {"type": "GORF"}
)
BLOCK = SampleJob(UNIT, (16,), (0, 2))


def step(job: Job, results: Path) -> Path:
    main([job.step, "--job", job.text, "--results", str(results)])
    return results / job.path


def test_results_are_those_of_the_cpu(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    prepare("digits", tmp_path, tmp_path / "data/digits")
    step(BLOCK, tmp_path)
    for job in (
        lambda **where: EvaluateJob(BLOCK, rows=60, **where),
        lambda **where: TrainJob(BLOCK, {"type": "KRRClassifier", "alphas": [0.01]}, **where),
        lambda **where: TrainJob(BLOCK, {"type": "LinearSVM", "solver": "newton"}, **where),
    ):
        known, found = (read_table(step(job(**where), tmp_path)) for where in ({}, {"device": "cpu:0"}))
        known, found = (table[~table["metric"].str.contains("seconds")]["value"] for table in (known, found))
        np.testing.assert_allclose(found, known, rtol=1e-9)
