"""Wrong configurations, studies and data: one clear message, no traceback, nothing lost.

What can be wrong in a study is tried in tests/experiment/test_plan.py; here, that it reaches the user.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import TABLE, Workspace

pytestmark = pytest.mark.workflow
Copy = Callable[[Workspace], Workspace]


def test_a_wrong_study(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    workspace.study(methods={"mine": {"type": "MVORFF"}})
    words = ("workflow/studies/tiny.yaml: method 'mine'", "'MVORF'?")
    _says(workspace.snakemake(TABLE, "--dry-run", fails=True), *words)
    _says(workspace.snakemake("--dry-run", fails=True), *words)


def test_what_needs_no_rows_is_checked_before_anything_is_run(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    (workspace.folder / "mine.csv").write_text("a,label\n1,0\n")
    mine = {"name": "mine", "file": "mine.csv", "target": "lable", "task": "classification"}
    workspace.study(datasets=[mine])
    _says(workspace.snakemake("tiny", "--dry-run", fails=True), "tiny.yaml: data set 'mine'", "'label'?")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("repetition=3", "unknown key 'repetition'. Did you mean 'repetitions'?"),
        (
            "datasets=[digits,digitss]",
            "datasets: no study has the data set 'digitss'. Did you mean 'digits'?",
        ),
        ("repetitions=-3", "repetitions: must be an integer of at least 1 or null, got -3"),
    ],
)
def test_a_wrong_configuration(change: str, words: str, fresh: Workspace) -> None:
    output = fresh.snakemake(TABLE, "--dry-run", "--config", change, fails=True)
    _says(output, "config.yaml", words)


def test_studies_without_the_chosen_data_sets_are_not_mentioned(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    text = (workspace.folder / "workflow/studies/tiny.yaml").read_text()
    (workspace.folder / "workflow/studies/other.yaml").write_text(text.replace("name: digits", "name: wine"))
    chosen = ("--dry-run", "--config", "datasets=[digits]")
    assert "left out" not in workspace.snakemake("tiny", *chosen)
    _says(workspace.snakemake("other", *chosen, fails=True), "other.yaml: the study has none", "It has wine.")


@pytest.mark.parametrize("key", ["tables", "figures", "claims"])
def test_what_a_study_shows_is_checked_before_anything_is_run(
    key: str, fresh: Workspace, copy_of: Copy
) -> None:
    workspace = copy_of(fresh)
    workspace.study(**{key: [{"type": "grit", "title": "T", "metric": "accuracy"}]})
    _says(workspace.snakemake("tiny", "--dry-run", fails=True), f"{key}[0] 'T'", "unknown type 'grit'")


@pytest.mark.nightly
def test_a_run_of_all_studies_fails_at_its_end_where_one_is_broken(
    finished: Workspace, copy_of: Copy
) -> None:
    workspace = copy_of(finished)
    (workspace.folder / "workflow/studies/draft.yaml").write_text("titel: Draft\n")
    message = "workflow/studies/draft.yaml: unknown key 'titel'. Did you mean 'title'?"
    for last in ("The report: ", "1 of 1 jobs done"):  # the second time, all results are there
        begin, end = workspace.snakemake(fails=True).split(last)
        _says(begin, f"One study is left out; the others go on. {message}")
        _says(end, f"One study was left out. {message}")
    assert (workspace.folder / "results/report/index.html").exists()
    assert "was left out" not in workspace.snakemake("tiny")
    workspace.study(kernels={"p": {"type": "SphericalPolynomial", "preprocess": "raw"}})
    _, end = workspace.snakemake(fails=True).split("Failed jobs: ")
    _says(end, "needs rows of unit norm", f"One study was left out. {message}")


def test_an_unknown_study(fresh: Workspace) -> None:
    _says(fresh.snakemake("tinny", "--dry-run", fails=True), "no study 'tinny'", "Did you mean 'tiny'?")


def test_rows_that_are_not_of_unit_norm(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    workspace.study(kernels={"p": {"type": "SphericalPolynomial", "preprocess": "raw"}})
    _says(workspace.snakemake(TABLE, fails=True), "needs rows of unit norm", "row 0 has norm")
    workspace.study()
    assert workspace.planned() == {}


def test_missing_values_in_a_users_file(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    (workspace.folder / "mine.csv").write_text("a,b,target\n1,2,0\n3,,1\n")
    mine = {"name": "mine", "file": "mine.csv", "target": "target", "task": "classification", "columns": 2}
    workspace.study(datasets=[mine])
    _says(workspace.snakemake(TABLE, fails=True), "mine.csv", "row 1", "'b'")


def test_a_wrong_checksum_and_no_network(
    fresh: Workspace, copy_of: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = copy_of(fresh)
    workspace.study(datasets=[{"name": "letter", "preprocess": "unit_norm"}])
    mirror = workspace.folder / "mirror"
    mirror.mkdir()
    (mirror / "letter-recognition.data").write_text("not the data\n")
    monkeypatch.setenv("RFLIB_MIRRORS", str(mirror))
    for proxy in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    _says(
        workspace.snakemake("results/data/letter/meta.json", fails=True),
        "letter-recognition.data could not be fetched",
        "expected 2b89f3602cf7",
        "https://archive.ics.uci.edu",
        "To place it by hand, get it",
    )


def _says(output: str, *words: str) -> None:
    assert "Traceback" not in output, output
    for word in words:
        assert word in output, output
