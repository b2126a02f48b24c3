"""Sampling tells a map what the data's task is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rflib.experiment import sample
from rflib.experiment.cells import seed_of
from rflib.experiment.data import Data
from rflib.experiment.jobs import SampleJob, Unit
from rflib.files import read_arrays
from rflib.kernels.gaussian import Gaussian
from rflib.maps.leverage import SurrogateLeverageRFF

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = np.repeat([1, 2, 7, 9], 10)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("said", [{}, {"task": "regression"}])
def test_a_map_with_a_task_gets_the_data_s_unless_the_study_says_another(
    task: str, said: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = SimpleNamespace(X_train=X, y_train=Y if task == "classification" else Y.astype(float), task=task)
    monkeypatch.setattr(sample, "read_rows", lambda *_: data)
    method = {"type": "SurrogateLeverageRFF", "pool": 30, **said}
    unit = Unit(Data("any"), {"type": "Gaussian"}, method)
    sample.run(SampleJob(unit, (8,), (0, 1)), tmp_path, tmp_path / "features.npz")
    expected = SurrogateLeverageRFF(
        Gaussian(), 8, pool=30, task=said.get("task", task), random_state=seed_of(unit.stream, 8, 0)
    ).fit(X, Y)
    stored = read_arrays(tmp_path / "features.npz")
    np.testing.assert_array_equal(stored["8/0/waves_.weights"], expected.weights_)
