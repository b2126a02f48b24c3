"""Results do not depend on blocks, on interruptions, or on the order of jobs."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from .conftest import TABLE, TINY, Workspace

pytestmark = pytest.mark.workflow
Copy = Callable[[Workspace], Workspace]


def test_rows_carry_identity_and_provenance(finished: Workspace) -> None:
    table = pd.read_parquet(finished.folder / TABLE)
    assert set(table["method"]) == {"GRFF", "GORF", "SRF"}
    assert set(table["metric"]) >= {"relative_frobenius_error", "accuracy", "transform_seconds"}
    assert set(table["n_components"]) == {16}
    assert set(table["s"]) == {4}
    assert table["value"].notna().all()
    for column in ("seed", "seconds", "peak_memory", "fingerprint", "versions", "host"):
        assert table[column].notna().all(), column


def test_the_log_repeats_the_job_by_hand(finished: Workspace) -> None:
    logs = list((finished.folder / "results/logs").rglob("*.log"))
    assert logs
    assert all("rflib" in log.read_text().splitlines()[0] for log in logs)


def test_blocks_change_no_result(finished: Workspace, fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    workspace.study(methods={"GORF": TINY["methods"]["GORF"]})
    workspace.snakemake(TABLE, "--config", "seed_block=1")
    expected = finished.results().query("method == 'GORF'").reset_index(drop=True)
    pd.testing.assert_frame_equal(workspace.results(), expected, check_exact=True)


@pytest.mark.reliability
@pytest.mark.parametrize("step", ["sample", "train"])
def test_a_killed_job_leaves_nothing_partial(
    step: str, finished: Workspace, fresh: Workspace, copy_of: Copy
) -> None:
    workspace = copy_of(fresh)
    process = workspace.start(TABLE)
    _wait_for_job(process.pid, step).send_signal(signal.SIGKILL)
    output, _ = process.communicate(timeout=300)
    assert process.returncode != 0, output
    _assert_whole(workspace.folder / "results")
    assert not (workspace.folder / TABLE).exists()
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), finished.results(), check_exact=True)


@pytest.mark.reliability
def test_a_killed_run_is_resumed(finished: Workspace, fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    process = workspace.start(TABLE)
    _wait_for_job(process.pid, "evaluate")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    _assert_whole(workspace.folder / "results")
    done = len(list(workspace.folder.glob("results/features/**/*.npz")))
    assert done > 0
    assert workspace.planned()["features"] <= 3 - done + 1
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), finished.results(), check_exact=True)


def test_a_damaged_file_is_named_with_the_remedy(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    damaged = next((workspace.folder / "results/features").rglob("*.npz"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    output = workspace.snakemake(TABLE, "--forcerun", "errors", fails=True)
    assert "is damaged" in output
    assert damaged.name in output
    assert "delete it and run again" in output
    damaged.unlink()
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), finished.results(), check_exact=True)


def test_a_bit_of_prepared_data_that_changed_is_told(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    damaged = workspace.folder / "results/data/digits/X.npy"
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    output = workspace.snakemake(TABLE, "--config", "repetitions=3", fails=True)
    assert "X.npy is damaged" in output
    assert "delete the folder results/data/digits and run again" in output
    shutil.rmtree(damaged.parent)
    workspace.snakemake(TABLE)
    pd.testing.assert_frame_equal(workspace.results(), finished.results(), check_exact=True)


def _wait_for_job(pid: int, step: str) -> psutil.Process:
    """The first process of that step below a process; the steps before it have ended or run."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for child in psutil.Process(pid).children(recursive=True):
            try:
                words = child.cmdline()
            except psutil.NoSuchProcess:
                continue
            if "-m" in words and words[words.index("-m") + 1 :][:2] == ["rflib", step]:
                return child
        time.sleep(0.02)
    raise TimeoutError(step)


def _assert_whole(folder: Path) -> None:
    for path in folder.rglob("*.npz"):
        with np.load(path) as archive:
            dict(archive)
    for path in folder.rglob("*.parquet"):
        pd.read_parquet(path)
