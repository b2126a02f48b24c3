"""Cells of sparse rows are those of the same rows in a dense file, and no step makes the rows dense unasked."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse, random_array

from rflib.cli import main
from rflib.datasets import dense_rows
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.experiment.cost_job import CostJob
from rflib.experiment.data import Data
from rflib.experiment.jobs import EvaluateJob, Job, SampleJob, TrainJob, Unit
from rflib.experiment.jobs_on_rows import ExactJob
from rflib.files import read_table

GAUSSIAN = {"type": "Gaussian"}
RIDGE = {"type": "KRRClassifier", "alphas": [0.01]}
DATA = Data("mine", "unit_norm")


def step(job: Job, results: Path) -> Path:
    main([job.step, "--job", job.text, "--results", str(results)])
    return results / job.path


def write_and_prepare(folder: Path, n: int, d: int, density: float) -> None:
    """Prepare the same rows, of which none is zero, from a sparse and a dense file."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    X = random_array((n, d), density=density, rng=rng, format="lil")
    X[np.arange(n), rng.integers(0, d, n)] = 1
    y = np.asarray(X.sum(axis=1) > np.median(X.sum(axis=1))).astype(int)
    X = X.tocsr()
    lines = [
        " ".join(
            [str(label), *(f"{j + 1}:{x!r}" for j, x in zip(row.indices, row.data.tolist(), strict=True))]
        )
        for label, row in zip(y, (X[[i]] for i in range(n)), strict=True)
    ]
    (folder / "mine.svm").write_text("\n".join(lines))
    if n * d < 10**5:
        np.savez(folder / "mine.npz", X=X.toarray(), y=y)
    for form in ("svm", "npz"):
        if (path := folder / f"mine.{form}").exists():
            spec = {"name": "mine", "file": str(path), "task": "classification", "columns": d}
            prepare(spec, folder, folder / form / "data/mine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sparse")
    write_and_prepare(folder, 60, 80, 0.03)
    assert issparse(load(folder / "svm/data/mine").X_train)
    return folder


def jobs_of(kernel: dict[str, Any], method: dict[str, Any]) -> list[Job]:
    sample = SampleJob(Unit(DATA, kernel, method), (24,), (0, 1))
    return [
        sample,
        EvaluateJob(sample, rows=30, parts=True),
        TrainJob(sample, {"type": "LinearSVM", "row_norms": True}),
        TrainJob(sample, RIDGE, stream_above=1),
    ]


@pytest.mark.parametrize(
    ("kernel", "method"),
    [
        (GAUSSIAN, "RFF"),
        (GAUSSIAN, "Nystroem"),
        ({"type": "DeltaGaussian"}, "SRF"),
        ({"type": "Polynomial", "degree": 2, "coef0": 1.0}, "TensorSketch"),
        ({"type": "Cauchy"}, "Nystroem"),  # takes dense rows only
    ],
)
def test_cells_of_sparse_rows_are_those_of_dense_rows(
    kernel: dict[str, Any], method: str, folder: Path
) -> None:
    jobs = jobs_of(kernel, {"type": method})
    if spectra := jobs[0].unit.spectra:  # type: ignore[attr-defined]
        jobs.insert(0, spectra)
    for job in (*jobs, ExactJob(DATA, kernel, {"type": "ExactKRRClassifier"}, (0, 1))):
        ours, theirs = (step(job, folder / form) for form in ("svm", "npz"))
        if job.suffix == "parquet":
            tables = [read_table(path) for path in (ours, theirs)]
            measured = ~tables[0]["metric"].str.endswith("seconds")
            values = [table.loc[measured, "value"].to_numpy() for table in tables]
            np.testing.assert_allclose(values[0], values[1], rtol=1e-7, atol=1e-9)


def test_learners_and_costs_that_need_dense_rows_get_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = Unit(DATA, GAUSSIAN, {"type": "RFF"})
    sample = SampleJob(unit, (16,), (0, 1))
    step(sample, folder / "svm")
    step(sample, folder / "npz")
    gradients = TrainJob(sample, {"type": "DoublyStochasticClassifier", "n_blocks": 2})
    values = [read_table(step(gradients, folder / form))["value"].tolist() for form in ("svm", "npz")]
    assert values[0] == values[1]
    cost = CostJob(DATA, {"type": "Cauchy"}, ({"type": "Nystroem"}, {"type": "RFF"}), (8,), (0, 1))
    assert (read_table(step(cost, folder / "svm"))["value"] >= 0).all()
    monkeypatch.setattr(dense_rows, "DENSE_MEGABYTES", 0.01)
    with pytest.raises(SystemExit):
        step(gradients, folder / "svm")


def test_steps_hold_no_dense_matrix(tmp_path: Path) -> None:
    """The rows would take 48 MB in all; a map's frequencies and landmarks take 1.3."""
    n, d = 300, 20_000
    write_and_prepare(tmp_path / "few", 30, 50, 0.1)
    write_and_prepare(tmp_path, n, d, 0.001)
    jobs: list[Job] = []
    for method in ("ORF", "Nystroem"):
        sample = SampleJob(Unit(DATA, GAUSSIAN, {"type": method}), (8,), (0, 1))
        learners = (TrainJob(sample, of) for of in ({"type": "LinearSVM"}, RIDGE))
        jobs += [sample, EvaluateJob(sample, rows=100), *learners]
    for job in (*jobs, ExactJob(DATA, GAUSSIAN, {"type": "ExactKRRClassifier"}, (0, 1))):
        step(job, tmp_path / "few/svm")  # what it imports stays in memory
        tracemalloc.start()
        try:
            step(job, tmp_path / "svm")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < n * d * 8 / 3, job.text
