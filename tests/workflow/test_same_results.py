"""Another commit: the cells of quickstart and of luo2021's letter part, in smoke size, have the same bits.

`make same OLD=<commit>` runs this. It is for changes that should change no result.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from ..datasets.conftest import MIRROR
from .conftest import ROOT, Workspace, _copy

OLD = os.environ.get("RFLIB_OLD")
pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(OLD is None, reason="compares with another commit: make same OLD=<commit>"),
]
STUDIES = ["quickstart", *(["luo2021"] if MIRROR.is_dir() else [])]
# Of time and place, or of the code.
ELSEWHERE = ["seconds", "host", "versions", "peak_memory", "fingerprint", "warnings"]


@pytest.fixture(scope="module")
def both(fresh: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, Workspace]]:
    old, new = Workspace(tmp_path_factory.mktemp("old")), _copy(fresh, tmp_path_factory.mktemp("new"))
    archive = subprocess.run(["git", "archive", str(OLD)], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "x"], cwd=old.folder, input=archive.stdout, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFLIB_MIRRORS", str(MIRROR))
        for workspace in (old, new):
            for path in (workspace.folder / "workflow/studies").glob("*.yaml"):
                path.unlink()
            for name in STUDIES:
                text = yaml.safe_dump(_part(name), sort_keys=False)
                (workspace.folder / f"workflow/studies/{name}.yaml").write_text(text)
            tables = [f"results/{name}/cells.parquet" for name in STUDIES]
            workspace.snakemake("--config", "preset=smoke", "--", *tables, seconds=3600)
        yield old, new


def _part(name: str) -> dict[str, Any]:
    """A study of the project; of luo2021 the part on letter."""
    study: dict[str, Any] = yaml.safe_load((ROOT / f"workflow/studies/{name}.yaml").read_text())
    study = {key: value for key, value in study.items() if key not in ("tables", "figures", "claims")}
    if name != "luo2021":
        return study
    study["datasets"] = [dataset for dataset in study["datasets"] if dataset["name"] == "letter"]
    for spec in (*study["kernels"].values(), *study["methods"].values()):
        spec.pop("datasets", None)
    grids = [grid for grid in study.get("grids", [{}]) if "letter" in grid.get("datasets", ["letter"])]
    study["grids"] = [{key: value for key, value in grid.items() if key != "datasets"} for grid in grids]
    return study


@pytest.mark.parametrize("study", STUDIES)
def test_every_cell_has_the_same_bits(study: str, both: tuple[Workspace, Workspace]) -> None:
    old, new = (_cells(workspace.folder / f"results/{study}/cells.parquet") for workspace in both)
    assert len(old) > 1000
    pd.testing.assert_frame_equal(old, new, check_exact=True, check_like=True)


def _cells(path: Path) -> pd.DataFrame:
    table = pd.read_parquet(path)
    table = table[~table["metric"].str.endswith("seconds")].drop(columns=ELSEWHERE)
    keys = [name for name in sorted(table) if name != "value"]
    return table.sort_values(keys).reset_index(drop=True)
