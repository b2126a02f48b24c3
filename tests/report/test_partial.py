"""The page of a run in which jobs failed: what is damaged costs its own study only."""

import json
import shutil

import pytest
import yaml

from rflib.cli import main
from rflib.report.partial import write_partial

TINY = {
    "title": "Tiny",
    "datasets": [{"name": "digits", "preprocess": "unit_norm"}],
    "kernels": {"delta": {"type": "DeltaGaussian"}},
    "methods": {"GORF": {"type": "GORF"}},
    "s": [4],
    "repetitions": 2,
}
ERRORS = "errors/digits.unit_norm/DeltaGaussian/GORF/16-r0_2/rows=1000.parquet"


@pytest.fixture
def unfinished(results, tmp_path):
    """A complete study, and one of which the only file of results is damaged."""
    path, folder = results
    tiny = tmp_path / "tiny.yaml"
    tiny.write_text(yaml.safe_dump(TINY))
    file = folder / ERRORS
    file.parent.mkdir(parents=True)
    file.write_bytes(b"half of a file")
    (folder / "logs").mkdir(exist_ok=True)
    state = {"failed": [], "files": [str(folder / "tiny/cells.parquet")]}
    (folder / "logs/unfinished.json").write_text(json.dumps(state))
    return [path, tiny], folder


def partial(studies, folder, tmp_path):
    made = write_partial(studies, {}, folder, tmp_path / "published", tmp_path / "partial.html")
    return made and (tmp_path / "partial.html").read_text(encoding="utf-8")


def test_a_damaged_file_costs_its_study_only(unfinished, tmp_path):
    html = partial(*unfinished, tmp_path)
    assert "report of tiny" in html
    assert "rows=1000.parquet is damaged" in html
    assert 'id="made_up' in html
    assert 'id="tiny' not in html


def test_a_damaged_table_of_cells_costs_its_study_only(unfinished, tmp_path):
    studies, folder = unfinished
    shutil.copytree(folder / "made_up", folder / "copy")
    studies.append(shutil.copy(studies[0], studies[0].with_stem("copy")))
    (folder / "made_up/cells.parquet").write_bytes(b"half of a file")
    html = partial(studies, folder, tmp_path)
    assert "report of made_up" in html
    assert 'id="copy' in html


def test_without_complete_results_there_is_no_page_and_no_error(unfinished, tmp_path, capsys):
    (_, tiny), folder = unfinished
    assert partial([tiny], folder, tmp_path) is False
    assert not (tmp_path / "partial.html").exists()
    about = ["--results", str(folder), "--published", str(tmp_path), "--out", str(tmp_path / "partial.html")]
    main(["partial", "--studies", str(tiny), *about])
    said = capsys.readouterr()
    assert said.out == (
        "There is no partial report, because every study lacks results or has a damaged file.\n"
    )
    assert "error" not in said.err


def test_the_page_of_a_run_that_goes_on_reloads_itself(unfinished, tmp_path):
    studies, folder = unfinished
    state = {"failed": [], "files": [str(folder / "tiny/cells.parquet")], "running": True}
    (folder / "logs/unfinished.json").write_text(json.dumps(state))
    html = partial(studies[:1], folder, tmp_path)
    assert '<meta http-equiv="refresh" content="30">' in html
    assert "<title>Running: " in html
    assert "still to come" in html
    assert "jobs of this run failed" not in html
    state["running"] = False
    (folder / "logs/unfinished.json").write_text(json.dumps(state))
    assert "refresh" not in partial(studies[:1], folder, tmp_path)
