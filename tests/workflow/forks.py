"""Runs of Snakemake that share their imports: one interpreter has made them, and forks for each run.

The imports of Snakemake, scikit-learn, pandas and numba take most of a dry run. Nothing of rflib is imported
before the fork, as each run has the sources of its own folder.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

IMPORTS = (
    *("snakemake.cli", "snakemake.report", "jinja2", "jsonschema", "requests", "smart_open", "tqdm", "yte"),
    *("numba", "pandas", "pyarrow.parquet", "scipy.stats", "sklearn.model_selection", "sklearn.pipeline"),
)
_LONGEST = 1 << 20


class Run:
    """A run of Snakemake in a session of its own, with what tests use of `subprocess.Popen`.

    A file of Python may be run first, in the run's process.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        first: Path | None = None,
    ) -> None:
        self.returncode: int | None = None
        self._output, written = os.pipe()
        self._state, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        run = {"arguments": arguments, "folder": str(folder), "environment": dict(environment)}
        run["first"] = first and str(first)
        with told:
            socket.send_fds(_interpreter(), [json.dumps(run).encode()], [written, told.fileno()])
        os.close(written)
        self.pid = int(self._state.recv(16))

    def communicate(self, timeout: float = 600) -> tuple[str, None]:
        """Wait for the end of the run and of all that write to its output, and return that."""
        deadline = time.monotonic() + timeout
        parts = [b""]
        while not parts[1:] or parts[-1]:
            if not select.select([self._output], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise subprocess.TimeoutExpired("snakemake", timeout, b"".join(parts))
            parts.append(os.read(self._output, 1 << 16))
        self.wait(max(0.0, deadline - time.monotonic()))
        os.close(self._output)
        return b"".join(parts).decode(), None

    def wait(self, timeout: float) -> int:
        if self.returncode is None:
            if not select.select([self._state], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("snakemake", timeout)
            with self._state:
                self.returncode = int(self._state.recv(16))
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Neither it nor what it started runs meanwhile."""
        os.killpg(self.pid, signal.SIGSTOP)
        yield
        os.killpg(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


@cache
def _interpreter() -> socket.socket:
    """The socket to the interpreter, which ends when this process does."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with its:
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(its.fileno())],
            cwd="/",
            env={**environment, **one_thread},
            pass_fds=[its.fileno()],
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _serve(requests: socket.socket) -> None:
    for name in IMPORTS:
        import_module(name)
    assert not any("rflib" in name for name in sys.modules)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        run, files, *_ = socket.recv_fds(requests, _LONGEST, 2)
        if not run:
            return
        if os.fork() == 0:
            requests.close()
            _watch(json.loads(run), *files)
        for file in files:
            os.close(file)


def _watch(run: dict[str, Any], output: int, state: int) -> None:
    """Fork for the run, and tell its number, and then its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(state)
        _run(output=output, **run)
    os.close(output)
    with socket.socket(fileno=state) as told, suppress(BrokenPipeError):
        told.send(str(pid).encode())
        told.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    os._exit(0)


def _run(
    arguments: list[str], folder: str, environment: dict[str, str], first: str | None, output: int
) -> NoReturn:
    """Be ``python -m snakemake``."""
    os.setsid()
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), output, output)):
        os.dup2(file, number)
    os.close(output)
    os.chdir(folder)
    sys.path[:0] = [folder, *environment["PYTHONPATH"].split(os.pathsep)]
    _become("snakemake", arguments, environment)
    _fork_warm_interpreter()
    if first:
        runpy.run_path(first, run_name="__main__")
    import_module("snakemake.cli").main()
    sys.exit()


def _fork_warm_interpreter() -> None:
    """Have `rflib.warm.start` take a fork of this process, made while it has no threads, for its interpreter."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        environment, files, *_ = socket.recv_fds(its, _LONGEST, 2)
        if environment:
            os.dup2(files[0], 0)
            _become("rflib.warm", [str(files[1])], json.loads(environment))
            runpy.run_module("rflib.warm", run_name="__main__")
        os._exit(0)
    its.close()
    warm = import_module("rflib.warm")
    start = warm.start

    def hand_over(_: list[str], *, env: Mapping[str, str], pass_fds: Sequence[int], **__: object) -> None:
        ends, _held_open = os.pipe()
        socket.send_fds(ours, [json.dumps(dict(env)).encode()], [ends, *pass_fds])
        os.close(ends)

    def start_fork() -> None:
        with mock.patch.object(subprocess, "Popen", hand_over):
            start()

    warm.start = start_fork


def _become(program: str, arguments: list[str], environment: Mapping[str, str]) -> None:
    # A command in the background of a script ignores Ctrl-C, and so do its children, unless told otherwise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [program, *arguments]
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
