"""From `rflib new-method` to a page where the method stands beside all others, by the commands that it prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable

import pandas as pd
import pytest

from .conftest import ROOT, Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]

# The smallest data set in reduced size, and half of the methods.
REDUCED = ("--config", "preset=smoke", "datasets=[diabetes]")
LEFT_OUT = r"^  (RFF phase|QMC|\w*LeverageRFF|SRF|DIGMM|RandomMaclaurin|TensorSketch|CRAFT): .*\n"


def test_a_new_method_beside_all_others(fresh: Workspace, copy_of: Callable[[Workspace], Workspace]) -> None:
    home = copy_of(fresh)
    quickstart = (ROOT / "workflow/studies/quickstart.yaml").read_text()
    (home.folder / "workflow/studies/quickstart.yaml").write_text(
        re.sub(LEFT_OUT, "", quickstart, flags=re.M)
    )
    said = python(home, "-m", "rflib", "new-method", "Paired", "--all")
    test, run = re.findall(r": ((?:python|snakemake) .*)$", said, re.M)

    assert "1 passed" in python(home, *shlex.split(test)[1:], "-p", "no:cacheprovider")
    home.snakemake(*shlex.split(run)[3:], *REDUCED)
    cells = pd.read_parquet(home.folder / "results/paired/cells.parquet")
    assert {"Paired", "RFF", "ORF", "MVORF", "Nystroem"} <= set(cells["method"])
    assert set(cells.loc[cells["method"] == "Paired", "kernel"]) == {"Gaussian"}
    report = (home.folder / "results/report/index.html").read_text()
    assert "Paired has a lower error than RFF" in report

    left = home.planned(*REDUCED, target="results/quickstart/cells.parquet")
    assert left == {"aggregate": 1}


def python(home: Workspace, *arguments: str) -> str:
    """What Python prints in the workspace."""
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=home.folder, env=home.environment, capture_output=True, text=True, check=True
    ).stdout
