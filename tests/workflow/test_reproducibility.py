"""Two threads of linear algebra in place of one change results by rounding only, within RTOL."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from .conftest import TABLE, TINY, Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.reliability]
RTOL = 1e-10
STEPS = ("spectra", "features", "errors", "scores")


def test_one_and_two_threads_agree(fresh: Workspace, copy_of: Callable[[Workspace], Workspace]) -> None:
    workspace = copy_of(fresh)
    workspace.study(
        datasets=[{"name": "digits", "preprocess": "unit_norm", "max_train": 1000, "max_test": 500}],
        methods={name: TINY["methods"][name] for name in ("GRFF", "GORF")},
        s=[64],
        kernel_error={"rows": 1000},
    )
    workspace.snakemake(TABLE)
    one = workspace.results()
    workspace.snakemake(
        TABLE.replace("results", "two"),
        "--forceall",
        "--set-threads",
        *(f"{step}=2" for step in STEPS),
        "--config",
        "results=two",
    )
    pd.testing.assert_frame_equal(workspace.results("two"), one, rtol=RTOL, atol=0)
