"""The guide's new setting of a step: three places, and what runs again."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from .conftest import ROOT, TABLE, TINY, Workspace

pytestmark = pytest.mark.workflow


def test_a_new_setting_touches_three_places(
    finished: Workspace, copy_of: Callable[[Workspace], Workspace]
) -> None:
    guide = (ROOT / "docs/add-a-kernel-data-set-or-study.md").read_text()
    (patch,) = re.findall(r"```diff\n(.*?)```", guide, re.DOTALL)
    assert len(re.findall(r"^\+\+\+ ", patch, re.MULTILINE)) == 3
    workspace = copy_of(finished)
    subprocess.run(["git", "apply", "-"], cwd=workspace.folder, input=patch, text=True, check=True)
    assert workspace.planned() == {"errors": 3, "aggregate": 1}
    workspace.study(kernel_error={"rows": 50, "trace": True}, methods={"GORF": TINY["methods"]["GORF"]})  # type: ignore[index]
    workspace.snakemake(TABLE)
    cells = pd.read_parquet(workspace.folder / TABLE)
    errors = cells.loc[cells["metric"] == "trace_error", "value"]
    assert len(errors) == 2
    assert np.isfinite(errors).all()
