"""Code edited while it runs: no job mixes it in, and the next run ends with the results of the new code alone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pandas as pd
import pytest

from rflib.cli import main
from rflib.experiment import sources

from .conftest import TABLE, Workspace

pytestmark = pytest.mark.workflow


@pytest.mark.nightly
def test_an_edit_during_a_run_is_refused(
    fresh: Workspace, finished: Workspace, copy_of: Callable[[Workspace], Workspace]
) -> None:
    workspace = copy_of(fresh)
    process = workspace.start(TABLE)
    prepared = workspace.folder / "results/data/digits/meta.json"
    deadline = time.monotonic() + 120
    while not prepared.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    workspace.append("rflib/maps/gorf.py", "\nEDITED = True\n")
    output, _ = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "were edited after this run began" in output
    assert not (workspace.folder / TABLE).exists()
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), finished.results())
    assert workspace.planned() == {}


def test_an_edit_during_a_job_is_refused_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sources.VARIABLE, sources.digest())
    with pytest.raises(ValueError, match="edited after this run began"), sources.unchanged():
        monkeypatch.setattr(sources, "digest", lambda: "0" * 16)


def test_other_sources_are_refused_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(sources.VARIABLE, "0" * 16)
    with pytest.raises(SystemExit, match=r"^1$"):
        main(["fingerprint", "rflib.maps.gorf"])
    said = capsys.readouterr()
    assert re.search(r"edited after this run began.*Start Snakemake again", said.err)
    assert said.out == ""


def test_outside_a_run_nothing_is_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(sources.VARIABLE, raising=False)
    main(["fingerprint", "rflib.maps.gorf"])
    assert len(capsys.readouterr().out.strip()) == 16
