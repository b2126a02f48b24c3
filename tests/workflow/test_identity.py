"""What a result is of: the content of data files, and seeds; not what a study calls them, nor what ran before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import yaml

from .conftest import TABLE, TINY, Workspace

pytestmark = pytest.mark.workflow
Copy = Callable[[Workspace], Workspace]
SMALL = {
    "methods": {"GORF": {"type": "GORF"}},
    "learners": {"SVM": {"type": "LinearSVM", "C": 1, "exact": {"type": "ExactKernelSVC"}}},
    "seed_block": 10,
}
MINE = {"name": "mine", "file": "mine.csv", "target": "label", "task": "classification"}


def write_rows(workspace: Workspace, name: str, rows: int, noise: float = 0.0) -> None:
    rng = np.random.default_rng(rows)
    X = rng.standard_normal((rows, 3))
    label = np.where(X[:, 0] + noise * rng.standard_normal(rows) > 0, "yes", "no")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=label)
    frame.to_csv(workspace.folder / name, index=False)


def write_study(workspace: Workspace, name: str, **changes: object) -> None:
    study = {**TINY, **SMALL, "kernels": {"Gaussian": {"type": "Gaussian"}}, "repetitions": 1, **changes}
    (workspace.folder / f"workflow/studies/{name}.yaml").write_text(yaml.safe_dump(study))


@pytest.mark.nightly
def test_more_repetitions_run_the_new_seeds_only(fresh: Workspace, copy_of: Copy) -> None:
    """What 3, then 5, then 20 repetitions give to the bit is tried in `test_changed_inputs.py`."""
    workspace = copy_of(fresh)
    workspace.study(**{**SMALL, "learners": {}}, repetitions=3)
    workspace.snakemake(TABLE)
    assert workspace.planned("--config", "repetitions=5") == {"features": 1, "errors": 1, "aggregate": 1}
    workspace.snakemake(TABLE, "--config", "repetitions=5")
    assert workspace.planned("--config", "repetitions=20") == {"features": 2, "errors": 2, "aggregate": 1}
    assert workspace.planned("--config", "repetitions=3") == {"aggregate": 1}


def test_a_users_file_that_changed_is_read_again(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    write_rows(workspace, "mine.csv", 40)
    write_study(workspace, "tiny", datasets=[MINE], learners={})
    workspace.snakemake(TABLE)
    assert workspace.planned() == {}
    (workspace.folder / "mine.csv").touch()
    assert workspace.planned() == {}
    write_rows(workspace, "mine.csv", 60)
    assert workspace.planned() == {"prepare": 1, "features": 1, "errors": 1, "aggregate": 1}


def test_one_name_for_two_files(fresh: Workspace, copy_of: Copy) -> None:
    """Either study is refused, with both places; another one goes on, and says why they do not."""
    workspace = copy_of(fresh)
    for name, study, noise in (("clean.csv", "aaa", 0.0), ("noisy.csv", "bbb", 9.0)):
        write_rows(workspace, name, 40, noise)
        write_study(workspace, study, datasets=[{**MINE, "file": name}])
    for study in ("aaa", "bbb"):
        output = workspace.snakemake("--dry-run", study, fails=True)
        assert "workflow/studies/aaa.yaml" in output
        assert "workflow/studies/bbb.yaml" in output
        assert "'mine'" in output
        assert "Rename one of them" in output
    output = workspace.snakemake("--dry-run", "tiny")
    assert "workflow/studies/aaa.yaml" in output
    assert "features" in output


def test_a_users_file_under_a_name_of_the_registry(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    write_rows(workspace, "mine.csv", 40)
    write_study(workspace, "aaa", datasets=[{**MINE, "name": "wine"}])
    output = workspace.snakemake("--dry-run", "aaa", fails=True)
    assert "workflow/studies/aaa.yaml" in output
    assert "'wine'" in output
    assert "docs/data.md" in output


def test_a_broken_study_blocks_itself_only(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    (workspace.folder / "workflow/studies/draft.yaml").write_text("title: [\n")
    output = workspace.snakemake("--dry-run", "tiny")
    assert "workflow/studies/draft.yaml is not valid YAML" in output
    assert "features" in output
    assert "draft.yaml" in workspace.snakemake("--dry-run", "draft", fails=True)
