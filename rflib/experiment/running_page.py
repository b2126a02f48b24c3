"""The page of a run that goes on: it is written anew from time to time, and leads to the report at the end."""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL
from threading import Event, Thread

from rflib.files import replacing

_FIRST = 20.0
# Times of files are those of a clock with coarse steps.
_TICK = 0.05
# The page is written anew after so many times as long as it took, so that it costs a few per cent of the run.
_PATIENCE = 8


class RunningPage:
    """Writes a page about the results that are there already, in the background of a run.

    Parameters
    ----------
    path : Path
        The page.
    command : sequence of str
        The command that writes the page, according to ``state``.
    state : Path
        The JSON file that tells the command which files are not there yet (:mod:`rflib.report.partial`).
    said : callable
        Function of the text that tells where the page is.
    """

    def __init__(
        self,
        path: Path,
        command: Sequence[str],
        state: Path,
        said: Callable[[str], None],
        wait: float = _FIRST,
    ) -> None:
        self._path, self._command, self._state, self._said, self._wait = path, command, state, said, wait
        self._ended = Event()
        self._writer: Thread | None = None

    def start(self, files: Sequence[Path]) -> None:
        """Begin, with all files that the run will make."""
        self._path.unlink(missing_ok=True)
        self._writer = Thread(target=self._write, args=(files, time.time()), daemon=True)
        self._writer.start()

    def stop(self) -> None:
        """Write no more; a page that is being written is given up."""
        self._ended.set()
        if self._writer:
            self._writer.join()

    def end(self, report: Path) -> None:
        """Stop, and make the page lead to a report in its folder; without one, there is no page."""
        self.stop()
        if not report.exists():
            self._path.unlink(missing_ok=True)
        elif self._path.exists():
            with replacing(self._path) as file:
                file.write(f'<meta http-equiv="refresh" content="0; url={report.name}">\n'.encode())

    def _write(self, files: Sequence[Path], began: float) -> None:
        wait, told = self._wait, False
        while not self._ended.wait(wait):
            start = time.monotonic()
            with suppress(OSError):  # a full disk, which jobs report
                self._write_once([str(file) for file in files if not _is_new(file, began)])
            if not told and self._path.exists():
                self._said(f"The report so far, which fills up as the run goes on: {self._path}")
                told = True
            wait = max(self._wait, _PATIENCE * (time.monotonic() - start))

    def _write_once(self, late: Sequence[str]) -> None:
        self._state.parent.mkdir(parents=True, exist_ok=True)
        self._state.write_text(json.dumps({"failed": [], "files": late, "running": True}))
        with subprocess.Popen(self._command, stdout=DEVNULL, stderr=DEVNULL) as writer:
            while writer.poll() is None:
                if self._ended.wait(0.1):
                    writer.terminate()


def _is_new(file: Path, began: float) -> bool:
    """Whether a file was made since then."""
    with suppress(OSError):
        return file.stat().st_mtime >= began - _TICK
    return False
