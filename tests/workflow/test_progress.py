"""The console of a run: a line rewritten on a terminal, plain lines in a pipe, messages and failures in full."""

from __future__ import annotations

import io
import logging
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import yte
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

import snakemake_logger_plugin_rflib
from snakemake_logger_plugin_rflib import LogHandler
from snakemake_logger_plugin_rflib.progress import Progress, clock

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "workflow/profiles/default"
TOY = """
from snakemake.logging import logger
logger.warning("A warning of the workflow.")
rule all:
    input: "1.done", "2.done"
rule step:
    output: "{n}.raw"
    log: "{n}.log"
    shell:
        "trap '' INT; echo 'step {wildcards.n}' > {log};"
        "for i in $(seq 600); do test -e go && break; sleep 0.1; done;"
        "test {wildcards.n} != $BAD 2>> {log}; touch {output}"
rule end:
    input: "{n}.raw"
    output: "{n}.done"
    shell: "touch {output}"
onsuccess: logger.info("The hook for success.")
onerror: logger.error("The hook for errors.")
"""


def test_the_time_left_follows_the_rules_and_what_runs_at_once() -> None:
    progress = Progress()
    progress.plan({"features": 4, "scores": 4, "page": 1}, now=0)
    progress.start(1, "features", 0)
    progress.start(2, "features", 0)
    progress.finish(1, 2)
    assert progress.seconds_left(2) is None  # five of the eight jobs left are of rules that are not known yet
    progress.start(3, "scores", 2)
    progress.finish(2, 2)
    progress.start(4, "features", 2)
    progress.finish(3, 12)
    progress.finish(4, 4)
    # Left are a job of 2 s, three of 10 s and a page of the mean, 4 s; jobs ran for 16 s in 12 s.
    assert progress.seconds_left(12) == pytest.approx((2 + 30 + 4) * 12 / 16)
    progress.start(5, "scores", 12)
    assert progress.seconds_left(14) == pytest.approx((2 + 30 + 4 - 2) * 14 / 18)


def test_the_line_and_the_summary() -> None:
    progress = Progress()
    progress.plan({"features": 300}, now=0)
    progress.start(1, "features", 0)
    assert progress.line(0) == "0 of 300 jobs (0%), 0.0 jobs/min, time left --, running: 1 features"
    progress.finish(1, 4)
    progress.start(2, "features", 4)
    progress.failed.add(7)
    assert (
        progress.line(4)
        == "1 of 300 jobs (0%), 1 failed, 15.0 jobs/min, time left 19:56, running: 1 features"
    )
    assert progress.summary(3600) == "1 of 300 jobs done in 1:00:00, 1 failed"
    assert [clock(seconds) for seconds in (0, 59.6, 3599)] == ["0:00", "1:00", "59:59"]


class Console:
    """The handler as Snakemake makes it, with a made-up stream, and records of its logger."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, terminal: bool = False, **settings: object) -> None:
        self.stream = io.StringIO()
        self.stream.isatty = lambda: terminal  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stderr", self.stream)
        monkeypatch.setattr(sys, "stdout", self.stream)
        monkeypatch.setattr(snakemake_logger_plugin_rflib, "_REDRAWN_EVERY", 1000)
        names = ("printshellcmds", "nocolor", "quiet", "debug_dag", "verbose", "stdout", "dryrun")
        common = dict.fromkeys(names, False) | {"show_failed_logs": True} | settings
        self.handler = LogHandler(SimpleNamespace(**common), None)
        self.handler.setFormatter(DefaultFormatter())

    def log(
        self, text: str = "", event: LogEvent | None = None, level: int = logging.INFO, **fields: object
    ) -> str:
        """What a record adds to the console."""
        before = len(self.stream.getvalue())
        record = logging.makeLogRecord(
            {"msg": text, "levelno": level, "event": event, "created": 0.0, **fields}
        )
        self.handler.handle(record)
        return self.stream.getvalue()[before:]

    def refresh(self, now: float) -> str:
        before = len(self.stream.getvalue())
        self.handler.refresh(now)
        return self.stream.getvalue()[before:]

    def job(self, number: int, begins: float, ends: float) -> None:
        self.log(event=LogEvent.JOB_INFO, jobid=number, rule_name="step", created=begins)
        self.log(event=LogEvent.JOB_FINISHED, job_id=number, created=ends)


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Console]]:
    made: list[Console] = []

    def make(**settings: object) -> Console:
        made.append(Console(monkeypatch, **settings))
        return made[-1]

    yield make
    for each in made:
        each.handler.close()


def test_without_a_terminal_a_line_follows_each_tenth_but_not_too_soon(
    console: Callable[..., Console],
) -> None:
    pipe = console()
    assert (
        pipe.log("Job stats: ...", LogEvent.RUN_INFO, stats={"step": 100, "total": 100})
        == "100 jobs: 100 step\n"
    )
    pipe.job(1, 0, 2)
    assert pipe.refresh(12) == ""
    for number in range(2, 11):
        pipe.job(number, 0, 2)
    assert pipe.refresh(9) == ""
    assert pipe.refresh(12).startswith("10 of 100 jobs (10%), ")
    assert pipe.refresh(71) == ""
    assert pipe.refresh(72).startswith("10 of 100 jobs (10%), ")
    for number in range(11, 101):
        pipe.job(number, 0, 80)
    assert pipe.refresh(100) == ""
    assert pipe.stream.getvalue().endswith("\n100 of 100 jobs done in 1:20\n")


def test_talk_is_left_out_and_what_is_not_known_is_shown(console: Callable[..., Console]) -> None:
    pipe = console()
    assert pipe.log("Building DAG of jobs...") == ""
    assert pipe.log("Job 3 has been submitted with SLURM jobid 7 (log: 7.log).") == ""
    assert pipe.log("Provided cores: 2", LogEvent.RESOURCES_INFO) == ""
    assert pipe.log("Nothing to be done (all requested files are present).") != ""
    assert pipe.log("A message of tomorrow's Snakemake.") == "A message of tomorrow's Snakemake.\n"
    assert console(quiet={"rules"}).log("RuleException:\nCalledProcessError in file", LogEvent.ERROR) != ""


FAILED = {
    "jobid": 3,
    "rule_name": "step",
    "rule_msg": None,
    "aux": {"external_jobid": "77"},
    "shellcmd": "the command",
    "indent": False,
}


def test_a_failed_job_is_shown_with_the_end_of_its_log(
    console: Callable[..., Console], tmp_path: Path
) -> None:
    log = tmp_path / "step.log"
    log.write_bytes(b"".join(b"line %d\n" % n for n in range(150)) + b"10%\r20%\ncaf\xe9\n")
    error = {"event": LogEvent.JOB_ERROR, "level": logging.ERROR, **FAILED}
    pipe = console()
    assert pipe.log("RuleException:\nCalledProcessError in file 'Snakefile'", LogEvent.ERROR) == ""
    text = pipe.log(output=["a", "b"], log=[str(log)], **error)
    lines = text.splitlines()
    assert lines[:3] == [
        "Error in rule step, job 3: a, b",
        "    external_jobid: 77",
        f"Log {log}, the last 100 of 153 lines",
    ]
    assert lines[-4:] == ["    line 149", "    10%", "    20%", "    caf\ufffd"]
    assert len(lines) == 103
    assert "\r" not in text
    assert pipe.log(output=["a"], log=["none.log"], **error).endswith(
        "Log none.log cannot be read: No such file or directory\n"
    )
    assert pipe.log(output=["a"], log=[], **error).endswith(
        "The job has no log. Its command was: the command\n"
    )
    assert "line" not in console(show_failed_logs=False).log(output=["a"], log=[str(log)], **error)


def test_of_a_group_only_the_job_that_failed_is_shown(
    console: Callable[..., Console], tmp_path: Path
) -> None:
    log, made = tmp_path / "step.log", tmp_path / "made"
    log.write_text("why\n")
    made.touch()
    pipe = console()
    error = {"event": LogEvent.JOB_ERROR, **FAILED, "indent": True}
    group = pipe.log("Error in group cells", LogEvent.GROUP_ERROR, aux_logs=[str(log)], job_error_info=[])
    assert group == f"Error in group cells\nLog {log}\n    why\n"
    assert pipe.log(output=[str(made)], log=[str(log)], **error) == ""
    assert pipe.log(output=["later"], log=["none.log"], **error) == ""
    assert pipe.log(output=["missing"], log=[str(log)], **error) != ""


def test_a_dry_run_says_what_it_would_do_once(console: Callable[..., Console]) -> None:
    pipe = console(dryrun=True, stdout=True)
    table = {"event": LogEvent.RUN_INFO, "stats": {"step": 2, "total": 2}}
    assert pipe.log("Job stats:\nstep 2\n", **table) == "Job stats:\nstep 2\n\n"
    assert pipe.log(event=LogEvent.JOB_INFO, jobid=1, rule_name="step") == ""
    assert pipe.log("Job stats:\nstep 2\n", **table) == ""
    reasons = "Reasons:\n    (check individual jobs above for details)\n    code has changed:\n        step"
    assert pipe.log(reasons) == "Reasons:\n    code has changed:\n        step\n"
    assert "--printshellcmds" in pipe.log("This was a dry-run (flag -n). The order of jobs does not ...")


def test_colours_are_for_terminals_that_want_them(
    console: Callable[..., Console], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    warning = {"text": "Careful", "level": logging.WARNING}
    assert console(terminal=True).log(**warning) == "\x1b[33mCareful\x1b[0m\n"
    assert console(terminal=True, nocolor=True).log(**warning) == "Careful\n"
    assert console().log(**warning) == "Careful\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert console(terminal=True).log(**warning) == "Careful\n"
    monkeypatch.setenv("TERM", "dumb")
    assert console(terminal=True).refresh(0) == ""


def test_while_it_plans_a_terminal_shows_what_snakemake_does(
    console: Callable[..., Console], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen = console(terminal=True)
    screen.log("Building DAG of jobs...")
    assert screen.refresh(1) == "\r\x1b[KBuilding DAG of jobs..."
    assert screen.log("A message") == "\r\x1b[KA message\n"


def test_snakemakes_own_text_is_shown_to_those_who_ask_for_it(console: Callable[..., Console]) -> None:
    verbose = console(verbose=True)
    assert verbose.log("Building DAG of jobs...") == "Building DAG of jobs...\n"
    assert verbose.log(event=LogEvent.PROGRESS, done=1, total=2) == "1 of 2 steps (50%) done\n"


def test_a_console_that_is_gone_does_not_end_the_run(console: Callable[..., Console]) -> None:
    pipe = console()
    pipe.stream.flush = lambda: (_ for _ in ()).throw(BrokenPipeError())  # type: ignore[method-assign]
    pipe.log("A message")


@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_a_profile_names_the_logger_only_where_it_is_installed(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (PROFILE.with_name(profile) / "config.yaml").read_text()
    assert yte.process_yaml(text, require_use_yte=True)["logger"] == "rflib"
    monkeypatch.setattr(LoggerPluginRegistry(), "plugins", {})
    assert "logger" not in yte.process_yaml(text, require_use_yte=True)


def start(folder: Path, stream: int, bad: str = "none") -> subprocess.Popen[bytes]:
    (folder / "Snakefile").write_text(TOY)
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", "--workflow-profile", str(PROFILE)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "BAD": bad, "TERM": "xterm", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # A command in the background of a script ignores Ctrl-C, and so do its children, unless told otherwise.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.workflow
def test_a_run_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    process = start(tmp_path, subprocess.PIPE, bad="2")
    output, _ = process.communicate(timeout=120)
    text = re.sub(r"in \d:\d\d", "in 0:00", re.sub(r"/\S*\.snakemake/log/\S+", "LOG", output.decode()))
    text = re.sub(r"job \d:", "job N:", text)
    assert process.returncode == 1
    assert [line for line in text.splitlines()[1:] if not re.match(r"\d of 5 jobs \(", line)] == [
        "A warning of the workflow.",
        "5 jobs: 2 step, 2 end, 1 all",
        "Error in rule step, job N: 2.raw",
        "Log 2.log",
        "    step 2",
        "2 of 5 jobs done in 0:00, 1 failed",
        "The hook for errors.",
        "Complete log(s): LOG",
    ]


@pytest.mark.workflow
@pytest.mark.parametrize("interrupted", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_a_run_on_a_terminal(tmp_path: Path, interrupted: bool) -> None:
    outside, inside = pty.openpty()
    termios.tcsetwinsize(inside, (24, 50))
    process = start(tmp_path, inside)
    os.close(inside)
    written, drawn_while_running = b"", 0
    while data := _read(outside):
        written += data
        drawn_while_running += b"%" in data and {"1.log", "2.log"} <= set(os.listdir(tmp_path))
        if drawn_while_running == 3:
            drawn_while_running += 1
            if interrupted:
                os.killpg(process.pid, signal.SIGINT)
            else:
                (tmp_path / "go").touch()
        if b"Terminating" in written:  # If the jobs died of Ctrl-C, Snakemake could see that before its own.
            (tmp_path / "go").touch()
    os.close(outside)
    assert process.wait(timeout=60) == int(interrupted)
    drawn = [line for line in re.findall(r"\r\x1b\[K([^\r\n]+)", written.decode()) if "%" in line]
    assert "0 of 5 jobs (0%), 0.0 jobs/min, time left --, runn"[:49] in drawn
    assert max(map(len, drawn)) <= 49
    shown = [re.sub(r".*\x1b\[K", "", line) for line in written.decode().replace("\r\n", "\n").split("\n")]
    assert [re.sub(r"\d:\d\d|/\S+", "...", line) for line in shown[1:]] == [
        "A warning of the workflow.",
        "5 jobs: 2 step, 2 end, 1 all",
        *(
            ["0 of 5 jobs done in ...", "Terminating processes on user request, this might take some time."]
            if interrupted
            else ["5 of 5 jobs done in ..."]
        ),
        "The hook for errors." if interrupted else "The hook for success.",
        "Complete log(s): ...",
        "",
    ]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that all have closed the other side
        return b""


GROUPED = """
rule all:
    input: expand("{n}.done", n=range(20))
    localrule: True
rule alone:
    output: "alone"
    resources: mem_mb=9000, runtime=5
    shell: "touch {output}"
rule first:
    input: "alone"
    output: "{n}.raw"
    resources: mem_mb=1000, runtime=60
    shell: "touch {output}"
rule second:
    input: "{n}.raw"
    output: "{n}.done"
    resources: mem_mb=3000, runtime=120
    shell: "touch {output}"
"""


def test_a_dry_run_says_what_the_jobs_of_a_cluster_ask_for(tmp_path: Path) -> None:
    """Eight pairs make a group. Four run at once: the memory of four, and twice the time of both steps."""
    (tmp_path / "Snakefile").write_text(GROUPED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    groups = ["--groups", "first=cells", "second=cells", "--group-components", "cells=8"]
    command = [sys.executable, "-m", "snakemake", "-n", "--logger", "rflib", "--cores", "4", *groups]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (
        "On a cluster: 4 jobs, of which 3 are groups of up to 16 steps. The most that a job asks for: "
        "4 cores, 12,000 MB of memory, 360 minutes." in run.stdout + run.stderr
    )
    run = subprocess.run(
        command[: -len(groups)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "This was a dry run" in run.stdout + run.stderr
    assert "On a cluster" not in run.stdout + run.stderr
