"""The page of a run that goes on: what it is told, when it is written, and where it leads at the end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from rflib.experiment.running_page import RunningPage

# Stands for `rflib partial`: the page holds the state, and a file tells that it was written again.
WRITE = """import pathlib, sys
page, state, again = map(pathlib.Path, sys.argv[1:])
again.touch() if page.exists() else page.write_text(state.read_text())"""


def test_it_fills_up_and_then_leads_to_the_report(tmp_path: Path) -> None:
    page, state, again = tmp_path / "running.html", tmp_path / "logs/unfinished.json", tmp_path / "again"
    page.write_text("that of a run before")
    old, new, never = tmp_path / "old", tmp_path / "new", tmp_path / "never"
    old.touch()
    os.utime(old, (1, 1))
    said: list[str] = []
    command = [sys.executable, "-c", WRITE, *map(str, (page, state, again))]
    running = RunningPage(page, command, state, said.append, wait=0.01)
    running.start([old, new, never])
    assert not page.exists()
    new.touch()
    while not again.exists():
        pass
    report = tmp_path / "index.html"
    report.touch()
    running.end(report)
    assert [str(page) in text for text in said] == [True], "said once"
    assert json.loads(state.read_text()) == {"failed": [], "files": [str(old), str(never)], "running": True}
    assert page.read_text() == '<meta http-equiv="refresh" content="0; url=index.html">\n'


def test_a_writer_that_is_at_work_does_not_outlive_the_run(tmp_path: Path) -> None:
    """And without a report there is no page."""
    page, begun = tmp_path / "running.html", tmp_path / "begun"
    slow = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
    running = RunningPage(
        page, [sys.executable, "-c", slow, str(begun)], tmp_path / "state", print, wait=0.01
    )
    running.start([])
    while not begun.exists():
        pass
    page.touch()
    running.end(tmp_path / "partial.html")
    assert not page.exists()
