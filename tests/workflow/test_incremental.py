"""What runs again after a change, counted in dry runs: just the cells that it can alter."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from rflib.experiment.pipeline import Pipeline

from .conftest import TABLE, TINY, Workspace

pytestmark = pytest.mark.workflow
Copy = Callable[[Workspace], Workspace]
ONE_CELL_JOB_EACH = {"features": 1, "errors": 1, "scores": 1, "aggregate": 1}


def test_a_fresh_run_plans_every_step(fresh: Workspace) -> None:
    assert fresh.planned() == {
        "prepare": 1,
        "spectra": 1,
        "features": 3,
        "errors": 3,
        "scores": 3,
        "aggregate": 1,
    }


def test_nothing_runs_twice(finished: Workspace) -> None:
    assert finished.planned() == {}


def test_editing_a_method_reruns_its_cells_only(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    workspace.append("rflib/maps/gorf.py", "\nEDITED = True\n")
    assert workspace.planned() == ONE_CELL_JOB_EACH


def test_editing_what_a_method_imports_reruns_its_cells(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    workspace.append("rflib/maps/fourier.py", "\nEDITED = True\n")
    assert {k: workspace.planned()[k] for k in ("features", "errors", "scores")} == {
        "features": 3,
        "errors": 3,
        "scores": 3,
    }


def test_editing_a_learner_reruns_scores_only(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    workspace.append("rflib/learners/svm.py", "\nEDITED = True\n")
    assert workspace.planned() == {"scores": 3, "aggregate": 1}


def test_editing_a_data_set_reruns_its_cells_whichever_study_prepares_it(
    finished: Workspace, copy_of: Copy
) -> None:
    """A run of one study, or one that was interrupted, has prepared the data; other cells are still old."""
    workspace = copy_of(finished)
    reader = 'getattr(datasets, f"load_{name}")(return_X_y=True)'
    workspace.edit("rflib/datasets/entries/bundled.py", f"*{reader}", f"-{reader}[0], {reader}[1]")
    workspace.snakemake("results/data/digits/meta.json")
    cells = {"spectra": 1, "features": 3, "errors": 3, "scores": 3, "aggregate": 1}
    assert workspace.planned() == cells
    workspace.edit("rflib/datasets/entries/bundled.py", f"-{reader}[0], {reader}[1]", f"*{reader}")
    assert workspace.planned() == {"prepare": 1, **cells}


def test_comments_and_docstrings_rerun_nothing(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    for path in sorted((workspace.folder / "rflib").rglob("*.py")):
        text = path.read_text()
        path.write_text(text.replace('"""', '"""Edited. ', 1) + "\n# a comment\n")
    assert workspace.planned() == {}


def test_a_new_method_of_the_package_reruns_nothing(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    (workspace.folder / "rflib/maps/new.py").write_text("class New: ...\n")
    workspace.append("rflib/maps/__init__.pyi", "from .new import New as New\n")
    assert workspace.planned() == {}


def test_a_new_s_adds_a_block(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    workspace.study(s=[4, "d/8"])
    assert workspace.planned() == {"features": 3, "errors": 3, "scores": 3, "aggregate": 1}


def test_a_new_method_in_a_study_adds_its_cells(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    workspace.study(methods={**TINY["methods"], "frame": {"type": "GORF", "directions": "frame"}})  # type: ignore[dict-item]
    assert workspace.planned() == ONE_CELL_JOB_EACH


def test_another_label_or_a_default_written_out_reruns_no_cell(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    methods = {**TINY["methods"]}  # type: ignore[dict-item]
    methods["mine"] = {**methods.pop("GORF"), "directions": "orthogonal"}
    workspace.study(methods=methods)
    assert workspace.planned() == {"aggregate": 1}


def test_another_study_shares_cells_and_disturbs_none(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    (workspace.folder / "workflow/studies/tiny.yaml").rename(workspace.folder / "workflow/studies/two.yaml")
    workspace.edit("workflow/studies/two.yaml", "rows: 50", "rows: 60")
    workspace.study()
    assert workspace.planned() == {}
    assert workspace.planned(target="results/two/cells.parquet") == {"errors": 3, "aggregate": 1}


def test_figures_tables_and_texts_rerun_no_cell(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    error = {"title": "Error", "metric": "relative_frobenius_error"}
    workspace.study(title="Another", figures=[{"type": "lines", **error}], tables=[{"type": "grid", **error}])
    assert workspace.planned() == {}


@pytest.mark.parametrize("file", ["templates/page.html", "templates/style.css", "methods.yaml"])
def test_the_page_is_made_again_with_other_templates(file: str, fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    before = Pipeline({}, workspace.folder / "workflow").assets
    assert Pipeline({}, workspace.folder / "workflow").assets == before
    workspace.append(f"rflib/report/{file}", "\n# edited\n")
    assert Pipeline({}, workspace.folder / "workflow").assets != before


def test_a_page_of_another_checkout_does_not_stand_for_cells(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    (workspace.folder / TABLE).unlink()
    page = workspace.folder / "results/report/index.html"
    page.parent.mkdir()
    page.write_text("an older page")
    shutil.rmtree(workspace.folder / ".snakemake")
    assert workspace.planned(target="tiny")["aggregate"] == 1


def test_another_mirror_reruns_nothing(finished: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RFLIB_MIRRORS", "/nowhere")
    assert finished.planned() == {}
