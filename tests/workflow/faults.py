"""What the tests of faults share: the jobs of a run, and the comparison with the undisturbed results."""

from __future__ import annotations

import pandas as pd
import psutil

from .conftest import TABLE, Workspace


def jobs(pid: int) -> list[psutil.Process]:
    """The steps of rflib below a process."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        try:
            words = child.cmdline()
        except psutil.NoSuchProcess:
            continue
        if words[1:3] == ["-m", "rflib"]:
            found.append(child)
    return found


def assert_next_run_completes(workspace: Workspace, finished: Workspace) -> None:
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), finished.results(), check_exact=True)
    assert workspace.planned() == {}
