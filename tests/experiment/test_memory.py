"""What jobs ask a cluster for grows with their rows."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from rflib.experiment.pipeline import Pipeline

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline(yaml.safe_load((ROOT / "config.yaml").read_text()), ROOT)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ("digits.unit_norm.max_train=600.max_test=400", (600, 400)),
        ("diabetes.standardize+unit_norm", (442, 0)),
        ("ijcnn1.unit_norm.max_train=3000", (3000, 141_691 - 3000)),
    ],
)
def test_exact_kernels_need_the_square_of_the_rows(data, rows, pipeline):
    train, test = rows
    megabytes = pipeline.exact_memory(SimpleNamespace(data=data))
    assert megabytes == 1000 + (24 * train + 16 * test) * train // 10**6


def test_features_need_rows_times_columns(pipeline):
    entries = pipeline.studies["quickstart"].entries
    entry = next(e for e in entries if e.method_label == "RFF" and e.unit.data.dataset == "digits")
    unit = {"data": entry.unit.data.id, "kernel": entry.unit.kernel, "method": entry.unit.method}
    found = pipeline.memory(SimpleNamespace(**unit, block=entry.block.name))
    assert found == 1000 + 1000 * max(entry.block.n_components) * 32 // 10**6
