"""Snakemake's console for this workflow (``--logger rflib``): a progress line, messages, and logs of failed jobs.

On a terminal, the line is rewritten in place; elsewhere, a new line is printed now and then. ``--verbose``,
``--printshellcmds`` and ``--debug-dag`` show Snakemake's own text. Its log file is complete in any case.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from logging import ERROR, INFO, WARNING, LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_rflib.groups import submitted
from snakemake_logger_plugin_rflib.messages import failure, is_cause, is_talk
from snakemake_logger_plugin_rflib.progress import Progress

_REDRAWN_EVERY = 0.5
# Without a terminal: a line for each tenth of the jobs, at least and at most so many seconds after the one before.
_SOONEST, _LATEST = 10, 60
_ERASE = "\r\x1b[K"
_RED, _YELLOW, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"
_LAST = (
    "Exiting because a job execution failed",
    "Terminating processes on user request",
    "Complete log(s)",
)
_SEE_ABOVE = "\n    (check individual jobs above for details)"
_DRY_RUN = "This was a dry run. Add --printshellcmds to list each job and its reason."


class LogHandler(LogHandlerBase):
    """Turns Snakemake's log records into lines on the console."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin to redraw the line."""
        settings = self.common_settings
        self._stream = sys.stdout if settings.stdout else sys.stderr
        self._terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._coloured = self._terminal and not settings.nocolor and not os.environ.get("NO_COLOR")
        self._as_snakemake = settings.verbose or settings.printshellcmds or settings.debug_dag
        self._progress = Progress()
        self._dag: Any = None
        self._status = ""
        self._drawn = self._table_shown = self._ended = False
        self._last_line, self._last_tenths = 0.0, 0
        self._stopped = threading.Event()
        threading.Thread(target=self._refresh_until_closed, daemon=True).start()

    def emit(self, record: LogRecord) -> None:
        """Show a record, or count what it says about a job."""
        try:
            self._show(self.format(record) if self._as_snakemake else self._text(record), record.levelno)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Print the summary, and erase the line so that the prompt does not follow it."""
        self._stopped.set()
        self.acquire()
        try:
            self._end(time.time())
            self._erase()
        finally:
            self.release()
        super().close()

    def refresh(self, now: float) -> None:
        """Redraw the line on a terminal; elsewhere, print one if it is due."""
        progress = self._progress
        running = progress.total > 0 and not self._ended
        if self._terminal:
            line = progress.line(now) if running else self._status
            if line:
                self._write(_ERASE + line[: self._columns() - 1])
                self._drawn = True
        elif running:
            tenths = progress.done * 10 // progress.total
            since = now - self._last_line
            if since >= _LATEST or (tenths > self._last_tenths and since >= _SOONEST):
                self._show(progress.line(now))
                self._last_line, self._last_tenths = now, tenths

    def _refresh_until_closed(self) -> None:
        while not (self._stopped.wait(_REDRAWN_EVERY) or self._as_snakemake):
            self.acquire()
            try:
                if not self._stopped.is_set():
                    self.refresh(time.time())
            finally:
                self.release()

    def _text(self, record: LogRecord) -> str:
        """Return what to print about a record, which may be nothing, and count jobs."""
        event, now = getattr(record, "event", None), record.created
        about: Any = record
        text = str(record.msg)
        if event == LogEvent.RUN_INFO:
            return self._plan(about.stats, text, now)
        if event == LogEvent.GROUP_INFO:
            self._dag = next(iter(about.jobs)).dag
        elif event == LogEvent.JOB_INFO:
            self._progress.start(about.jobid, about.rule_name, now)
        elif event == LogEvent.JOB_FINISHED:
            self._progress.finish(about.job_id, now)
            if self._progress.done == self._progress.total:
                self._end(now)
        elif event == LogEvent.JOB_ERROR:
            self._progress.stop(about.jobid, now)
            if self._ended or not is_cause(record):
                return ""
            self._progress.failed.add(about.jobid)
            return failure(record, self.common_settings.show_failed_logs)
        elif event == LogEvent.GROUP_ERROR:
            return failure(record, self.common_settings.show_failed_logs)
        elif text.startswith(_LAST):
            self._end(now)
        if is_talk(record, self.common_settings.quiet):
            self._status = "" if self._ended or self.common_settings.quiet else text.partition("\n")[0]
            return ""
        if text.startswith("This was a dry-run"):
            return f"{submitted(self._dag)}\n{_DRY_RUN}" if self._dag else _DRY_RUN
        return self.format(record).replace(_SEE_ABOVE, "")

    def _plan(self, stats: dict[str, int], table: str, now: float) -> str:
        if self.common_settings.dryrun:
            shown, self._table_shown = self._table_shown, True
            return "" if shown else table
        jobs = {rule: n for rule, n in stats.items() if rule != "total"}
        self._progress.plan(jobs, now)
        self._last_line = now
        return f"{self._progress.total} jobs: " + ", ".join(f"{n} {rule}" for rule, n in jobs.items())

    def _end(self, now: float) -> None:
        if self._progress.total and not self._ended:
            self._show(self._progress.summary(now))
        self._ended, self._status = True, ""

    def _show(self, text: str, level: int = INFO) -> None:
        """Write a message above the line."""
        if text in ("", "None"):
            return
        self._erase()
        colour = _RED if level >= ERROR else _YELLOW if level >= WARNING else ""
        self._write(f"{colour}{text}{_PLAIN}\n" if colour and self._coloured else f"{text}\n")

    def _erase(self) -> None:
        if self._drawn:
            self._write(_ERASE)
            self._drawn = False

    def _write(self, text: str) -> None:
        """Write and flush. A closed stream must not end the run."""
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            return 80
