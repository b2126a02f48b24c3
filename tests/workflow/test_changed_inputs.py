"""Studies and users' files that change between runs: the results are those of a first run."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from .conftest import TABLE, Workspace
from .test_identity import MINE, SMALL, write_rows, write_study

pytestmark = [pytest.mark.workflow, pytest.mark.reliability]
Copy = Callable[[Workspace], Workspace]


@pytest.mark.parametrize("seed_block", [4, 10])
def test_3_then_5_then_20_repetitions(seed_block: int, fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    workspace.study(**{**SMALL, "seed_block": seed_block})
    for repetitions in (3, 5, 20):
        workspace.snakemake(TABLE, "--config", f"repetitions={repetitions}")
    for step, pattern in (("features", "*/*/*/*.npz"), ("exact", "*/*/*.parquet")):
        names = [path.stem for path in workspace.folder.glob(f"results/{step}/{pattern}")]
        ranges = [map(int, name.rpartition("-r")[2].split("_")) for name in names]
        assert sorted(seed for first, stop in ranges for seed in range(first, stop)) == list(range(20))
    workspace.snakemake("at_once/tiny/cells.parquet", "--config", "repetitions=20", "results=at_once")
    pd.testing.assert_frame_equal(workspace.results(), workspace.results("at_once"), check_exact=True)
    workspace.snakemake(TABLE, "--config", "repetitions=4")
    assert set(workspace.results()["seed"]) == {0, 1, 2, 3}


def test_two_studies_one_name_different_files(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    write_rows(workspace, "clean.csv", 40)
    write_rows(workspace, "noisy.csv", 40, noise=9.0)
    write_study(workspace, "aaa", datasets=[{**MINE, "file": "clean.csv"}])
    workspace.snakemake("results/aaa/cells.parquet")
    before = workspace.results(study="aaa")
    write_study(workspace, "bbb", datasets=[{**MINE, "file": "noisy.csv"}])
    for study in ("aaa", "bbb"):
        output = workspace.snakemake(study, fails=True)
        assert "data set 'mine' stands for different data" in output
        assert "workflow/studies/aaa.yaml: file clean.csv" in output
        assert "workflow/studies/bbb.yaml: file noisy.csv" in output
    workspace.snakemake(TABLE)
    write_study(workspace, "bbb", datasets=[{**MINE, "name": "other", "file": "noisy.csv"}])
    workspace.snakemake("results/bbb/cells.parquet")
    assert workspace.planned(target="results/aaa/cells.parquet") == {}
    pd.testing.assert_frame_equal(workspace.results(study="aaa"), before, check_exact=True)


def test_the_users_file_changed_between_two_runs(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    write_study(workspace, "tiny", datasets=[MINE])
    write_rows(workspace, "mine.csv", 40)
    workspace.snakemake(TABLE)
    first = workspace.results()
    write_rows(workspace, "mine.csv", 60)
    workspace.snakemake(TABLE)
    workspace.snakemake("alone/tiny/cells.parquet", "--config", "results=alone")
    pd.testing.assert_frame_equal(workspace.results(), workspace.results("alone"), check_exact=True)
    write_rows(workspace, "mine.csv", 40)
    assert set(workspace.planned()) == {"aggregate"}
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), first, check_exact=True)
