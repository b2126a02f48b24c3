"""The guide's way to one number without Snakemake gives the pipeline's number."""

from __future__ import annotations

import re
import subprocess
import sys

import pandas as pd
import pytest

from .conftest import ROOT, Workspace, _copy

pytestmark = pytest.mark.workflow

BLOCK = (
    "results/errors/digits.unit_norm.max_train=600.max_test=400/DeltaGaussian-sigmas=0.5_5/GORF-measure=auto/"
    "64_128_256_512-r0_5/rows=500.parquet"
)


def test_one_number_by_hand(fresh: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    workspace = _copy(fresh, tmp_path_factory.mktemp("by_hand"))
    study = (ROOT / "workflow/studies/quickstart.yaml").read_text()
    (workspace.folder / "workflow/studies/quickstart.yaml").write_text(study)
    workspace.snakemake(BLOCK)
    guide = (ROOT / "docs/add-a-kernel-data-set-or-study.md").read_text()
    (program,) = re.findall(r"```python\n(from rflib\.datasets\.load.*?)```", guide, re.DOTALL)
    command = [sys.executable, "-c", program]
    printed = subprocess.check_output(command, cwd=workspace.folder, env=workspace.environment, text=True)
    cells = pd.read_parquet(workspace.folder / BLOCK)
    cell = cells[(cells["n_components"] == 128) & (cells["seed"] == 3)]
    (value,) = cell.loc[cell["metric"] == "relative_frobenius_error", "value"]
    assert float(printed) == pytest.approx(value, rel=1e-12)
