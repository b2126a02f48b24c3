"""What jobs ask a cluster for grows with their rows."""

from dataclasses import replace

import pytest

from rflib.datasets.dense_rows import DENSE_MEGABYTES
from rflib.experiment.cost_job import CostJob
from rflib.experiment.data import Data
from rflib.experiment.jobs import SampleJob, TrainJob, Unit
from rflib.experiment.jobs_on_rows import ExactJob

KERNEL, LEARNER = {"type": "Gaussian"}, {"type": "LinearSVM"}


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (Data("digits", max_train=600, max_test=400), (600, 400)),
        (Data("diabetes"), (442, 0)),
        (Data("ijcnn1", max_train=3000), (3000, 141_691 - 3000)),
        (Data("a_file_of_a_user"), (20_000, 0)),
    ],
)
def test_exact_kernels_need_the_square_of_the_rows(data: Data, rows: tuple[int, int]) -> None:
    train, test = rows
    job = ExactJob(data, KERNEL, LEARNER, (0, 10))
    made_dense = DENSE_MEGABYTES * (data.folder == "a_file_of_a_user")
    assert job.megabytes == 1000 + made_dense + (24 * train + 16 * test) * train // 10**6


def test_features_need_rows_times_columns() -> None:
    unit = Unit(Data("digits", max_train=600, max_test=400), KERNEL, {"type": "RFF"})
    job = TrainJob(SampleJob(unit, (64, 512), (0, 10)), LEARNER)
    assert job.megabytes == 1000 + 1000 * 512 * 32 // 10**6


def test_features_in_blocks_need_the_square_of_the_columns() -> None:
    """The largest fit of docs/results/large.md, whose peak was 5.9 GB in float32, half of what float64 takes."""
    unit = Unit(Data("covtype"), KERNEL, {"type": "RFF"})
    job = TrainJob(SampleJob(unit, (13_824,), (0, 3)), {"type": "KRRClassifier"}, "cpu", 100_000)
    assert 2 * 5949 < job.megabytes < 15_000
    few_rows = TrainJob(
        replace(job.sample, unit=replace(unit, data=Data("digits"))), job.learner, "cpu", 100_000
    )
    assert few_rows.megabytes == replace(few_rows, stream_above=None).megabytes


def test_costs_need_the_features_and_the_landmarks() -> None:
    job = CostJob(Data("digits", max_train=600, max_test=400), KERNEL, ({"type": "RFF"},), (64, 512), (0, 3))
    assert job.megabytes == 1000 + 16 * (600 + 512) * 512 // 10**6
