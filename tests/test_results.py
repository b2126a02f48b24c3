"""The pages of docs/results say which code made them, and whether it has changed since."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import results  # noqa: E402

from rflib.report.export import code  # noqa: E402

KEPT = sorted(file.stem for file in results.KEPT.iterdir())
LARGE = ("frontier", "oblivious")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if name in LARGE else name for name in KEPT]
)
def test_a_study_says_which_cells_were_made_by_older_code(name):
    page = (results.OUT / f"{name}.md").read_text(encoding="utf-8")
    assert code(results.planned(name)[1], results.kept_cells(name)) in page, "make results"


@pytest.mark.parametrize("name", results.MEASURED)
def test_a_measurement_says_whether_its_code_has_changed(name):
    page = (results.OUT / f"{name}.md").read_text(encoding="utf-8")
    assert results.restated(name, page) == page, "make results"


def test_changed_code_is_noticed(monkeypatch):
    page = results.measured("bench", "# Title\n", "abc")
    assert page.endswith(f"of commit abc, with the fingerprint {results.code_of('bench')}.\n")
    assert results.restated("bench", page) == page
    monkeypatch.setattr(results, "code_of", lambda name: "other")
    assert results.restated("bench", page) == page.replace(".\n", ". It has changed since.\n")
    assert results.measured("bench", results.restated("bench", page), "def").count("fingerprint") == 1


def test_pages_drawn_before_are_no_change_of_the_code(monkeypatch):
    changed = ["README.md", "docs/cluster.md", "docs/results.md", "docs/results/bench.md"]

    def git(*arguments):
        excluded = [word.removeprefix(":(exclude)") for word in arguments if word.startswith(":(exclude)")]
        left = [file for file in changed if not any(file.startswith(part) for part in excluded)]
        return "\n".join(left) if arguments[0] == "status" else "abc"

    monkeypatch.setattr(results, "_git", git)
    assert results.head() == "abc"
    changed.append("rflib/maps/mvorf.py")
    assert results.head() == "abc with changes"


def test_the_studies_with_kept_cells_are_listed():
    _, studies, _ = re.split(r"```\{toctree\}", (ROOT / "docs/results.md").read_text(encoding="utf-8"))
    assert sorted(re.findall(r"^results/(\w+)$", studies, re.MULTILINE)) == KEPT
    assert all((results.OUT / f"{name}.md").exists() for name in KEPT)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly) if name == "what a study needs" else name
        for name in results.MADE
    ],
)
def test_parts_of_the_documentation_are_made_from_the_kept_cells(name):
    page, make = results.MADE[name]
    text = (ROOT / page).read_text(encoding="utf-8")
    assert results.with_made(text, name, "\n") != text
    assert results.with_made(text, name, make()) == text, "make results"


@pytest.fixture
def pages_of_today(monkeypatch, tmp_path):
    for name in LARGE:
        page = (results.OUT / f"{name}.md").read_text(encoding="utf-8")
        (tmp_path / f"{name}.md").write_text(page.replace("**Older code.**", ""), encoding="utf-8")
    monkeypatch.setattr(results, "OUT", tmp_path)
    return tmp_path


def test_maps_within_seconds_and_memory_and_mvorf_are_told_once_their_cells_are_of_today(pages_of_today):
    said = results.which_wins()
    assert re.search(r"sets\): MVORF [\d.]+ \([\d.]+\), Nystroem", said)
    assert re.search(r"[\d.]+ times with `MVORF` and", said)
    assert re.search(r"within 0.3 seconds, .* is that of `\w.*` in \d+.* of \d+ pairs", said)
    assert re.search(r"for a million rows, that of `\w.*` in \d+.* of \d+\.\n- Within 30 MB .* in \d", said)
    assert said.count("\n- ") == 4


def test_maps_of_different_ages_are_not_compared(pages_of_today):
    for name in LARGE:
        page = pages_of_today / f"{name}.md"
        old = (
            "**Older code.** The code that decides 1 of 2 cells has changed since they were made: RFF, MVORF."
        )
        page.write_text(f"{old}\n\n{page.read_text(encoding='utf-8')}", encoding="utf-8")
    said = results.which_wins()
    assert "MVORF" not in said
    assert "within 0.3 seconds" not in said
