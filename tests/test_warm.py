"""The warm interpreter: commands run in it as by themselves, and it ends with the run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from rflib.warm import VARIABLE

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="forks are watched with pidfd_open")
START = "import os, rflib.warm; rflib.warm.start(); print(os.environ['RFLIB_WARM'], flush=True); input()"
FULL = Path("/dev/full")
COMMAND = [sys.executable, "-m", "rflib"]

Run = tuple[subprocess.Popen[str], dict[str, str]]


@pytest.fixture
def run() -> Iterator[Run]:
    """A process that began a run, and the environment of its commands."""
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", START], env=environment, text=True, **pipes) as process:  # type: ignore[call-overload]
        address = process.stdout.readline().strip()
        yield process, {**environment, VARIABLE: address}
        process.kill()


def interpreter(process: subprocess.Popen[str]) -> psutil.Process:
    (child,) = psutil.Process(process.pid).children()
    return child


@contextmanager
def waiting(folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that waits: it reads a study from a pipe into which nobody writes."""
    os.mkfifo(folder / "study.yaml")
    words = [
        "tables",
        "--study",
        folder / "study.yaml",
        "--cells",
        folder,
        "--published",
        folder,
        "--out",
        folder,
    ]
    process = subprocess.Popen([*COMMAND, *map(str, words)], env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_command_has_its_own_folder_environment_and_files(run: Run, tmp_path: Path) -> None:
    missing = ["export", "--study", "none", "--results", "none", "--out", "none"]
    for words, status in ((["fingerprint", "rflib.maps.gorf"], 0), (["export"], 2), (missing, 1)):
        forked, alone = (
            subprocess.run([*COMMAND, *words], env=environment, cwd=tmp_path, capture_output=True, text=True)
            for environment in (run[1], {**run[1], VARIABLE: ""})
        )
        logs = [re.sub(r"^done in .*$", "done", ended.stderr, flags=re.M) for ended in (forked, alone)]
        assert (forked.returncode, forked.stdout, logs[0]) == (status, alone.stdout, logs[1])
    told = {**run[1], "RFLIB_SOURCES": "other sources"}
    refused = subprocess.run([*COMMAND, "fingerprint", "rflib"], env=told, capture_output=True, text=True)
    assert "were edited after this run began" in refused.stderr


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
def test_an_error_is_not_lost_with_a_log_that_has_no_room(run: Run) -> None:
    for environment in (run[1], {**run[1], VARIABLE: ""}):
        with FULL.open("w") as log:
            command = [*COMMAND, "fingerprint", "rflib"]
            ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        assert ended.returncode != 0
        assert "cannot write the job's log: No space left on device. Make room" in ended.stdout


def test_it_ends_with_the_run_and_its_forks_too(run: Run, tmp_path: Path) -> None:
    process, environment = run
    warm = interpreter(process)
    with waiting(tmp_path, environment) as command:
        until(warm.children)
        (fork,) = warm.children()
        os.kill(process.pid, signal.SIGKILL)
        assert command.wait(120) != 0
        until(lambda: not warm.is_running() or warm.status() == psutil.STATUS_ZOMBIE)
        until(lambda: not fork.is_running() or fork.status() == psutil.STATUS_ZOMBIE)


def test_the_fork_of_a_killed_command_is_killed(run: Run, tmp_path: Path) -> None:
    process, environment = run
    warm = interpreter(process)
    with waiting(tmp_path, environment) as command:
        until(warm.children)
        command.kill()
        until(lambda: not warm.children())
    assert warm.is_running()


def test_a_killed_fork_is_told(run: Run, tmp_path: Path) -> None:
    process, environment = run
    warm = interpreter(process)
    with waiting(tmp_path, environment) as command:
        until(warm.children)
        warm.children()[0].kill()
        assert command.wait(120) == 128 + signal.SIGKILL


def test_without_it_commands_run_by_themselves(tmp_path: Path) -> None:
    for address in ("", str(tmp_path / "nobody")):
        words = [*COMMAND, "--version"]
        found = subprocess.run(words, env={**os.environ, VARIABLE: address}, capture_output=True, text=True)
        assert found.stdout.startswith("rflib ")
