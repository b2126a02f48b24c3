"""Faults on one machine: after each, the next run completes and its results are the undisturbed ones to the bit.

A folder that is full or read-only is a mount, so those tests need root.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import TABLE, Workspace
from .faults import assert_next_run_completes, jobs

pytestmark = [pytest.mark.workflow, pytest.mark.reliability]
Copy = Callable[[Workspace], Workspace]
HOUR = 3600
root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")


@root
@pytest.mark.parametrize("share", [0.1, 0.5, 0.7])
def test_disk_full_then_given_room(
    share: float, fresh: Workspace, finished: Workspace, copy_of: Copy, tmpfs: Callable[..., None]
) -> None:
    workspace = copy_of(fresh)
    folder = workspace.folder / "results"
    needed = int(subprocess.check_output(["du", "-sk", finished.folder / "results"]).split()[0])
    tmpfs(folder, f"size={int(share * needed)}k")
    output = workspace.snakemake(TABLE, fails=True)
    told = r"cannot write (results/\S+|the job's log): No space left on device. Make room"
    assert re.search(told, output), output
    tmpfs(folder, "remount,size=64m")
    assert_next_run_completes(workspace, finished)


@root
def test_results_read_only_then_writable(
    fresh: Workspace, finished: Workspace, copy_of: Copy, tmpfs: Callable[..., None]
) -> None:
    workspace = copy_of(fresh)
    folder = workspace.folder / "results"
    tmpfs(folder, "size=64m,ro")
    output = workspace.snakemake(TABLE, fails=True)
    assert re.search(r"Read-only file system: '\S*results", output), output
    tmpfs(folder, "remount,rw")
    assert_next_run_completes(workspace, finished)


def test_a_second_run_at_once_is_refused(fresh: Workspace, finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    first = workspace.start(TABLE)
    deadline = time.monotonic() + 120
    while not jobs(first.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGSTOP)  # else it may end, and unlock, while the second one starts
    assert "cannot be locked" in workspace.snakemake(TABLE, fails=True)
    os.killpg(first.pid, signal.SIGCONT)
    output, _ = first.communicate(timeout=300)
    assert first.returncode == 0, output
    assert_next_run_completes(workspace, finished)


@pytest.mark.parametrize("hours", [-24, 24], ids=["behind", "ahead"])
def test_files_of_a_clock_a_day(hours: int, finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    when = time.time() + hours * HOUR
    for path in sorted((workspace.folder / "results/features").rglob("*.npz")):
        os.utime(path, (when, when))
    (workspace.folder / TABLE).unlink()
    assert_next_run_completes(workspace, finished)


# Steps whose files are damaged, and a step that is then forced, as it alone reads them.
READERS = {"spectra": "features", "features": "errors", "errors": None, "scores": None}


@pytest.mark.parametrize("damage", ["cut", "emptied", "a bit changed"])
@pytest.mark.parametrize("step", READERS)
def test_a_damaged_file_is_named_with_the_remedy(
    step: str, damage: str, finished: Workspace, copy_of: Copy
) -> None:
    workspace = copy_of(finished)
    files = (path for path in (workspace.folder / "results" / step).rglob("*") if path.is_file())
    path = min(files)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "emptied":
        content = bytearray()
    else:
        content[random.Random(step).randrange(len(content))] ^= 0x10
    path.write_bytes(content)
    (workspace.folder / TABLE).unlink()
    forced = ("--forcerun", READERS[step]) if READERS[step] else ()
    output = workspace.snakemake(TABLE, *forced, fails=True)
    assert f"{path.name} is damaged" in output
    assert "delete it and run again" in output
    path.unlink()
    assert_next_run_completes(workspace, finished)


@pytest.fixture
def tmpfs() -> Iterator[Callable[[Path, str], None]]:
    """Mount a small file system, or mount it again with other options; unmounted at the end."""
    mounted: set[Path] = set()

    def mount(folder: Path, options: str) -> None:
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
        mounted.add(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)
