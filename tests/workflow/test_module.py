"""Another workflow uses this one as a module."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from .conftest import TINY, Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]
OTHER = """
module rflib:
    snakefile:
        "{workflow}/Snakefile"
    config:
        {{"studies": ["mine.yaml"], "results": "features of mine"}}


use rule * from rflib as rflib_*


rule counted:
    default_target: True
    input:
        "features of mine/mine/cells.parquet",
    output:
        "size",
    shell:
        "wc -c < '{{input}}' > {{output}}"
"""


def test_a_module_runs_one_study_of_the_other_workflow(fresh: Workspace, tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(OTHER.format(workflow=fresh.folder / "workflow"))
    only = {"methods": {"GORF": {"type": "GORF"}}, "learners": {}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**TINY, **only}))
    other = Workspace(tmp_path, sources=fresh.folder)
    output = other.snakemake()
    assert "4 of 5 steps" in output or "5 of 5 jobs" in output
    cells = tmp_path / "features of mine/mine/cells.parquet"
    assert int((tmp_path / "size").read_text()) == cells.stat().st_size
    assert set(pd.read_parquet(cells)["method"]) == {"GORF"}
    assert "Nothing to be done" in other.snakemake()
