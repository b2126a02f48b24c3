"""What the console prints about a record of Snakemake's log: failed jobs with their logs, no routine messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from logging import LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

# Beginnings of messages that add nothing to the progress line, the summary or the log of a failed job.
_TALK = (
    "Assuming unrestricted shared filesystem usage",
    "Building DAG of jobs",
    "Processed ",
    "Using shell",
    "Group jobs: inactive",
    "Conda environments: ignored",
    "Select jobs to execute",
    "Execute ",
    "Elapsed time",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete successfully",
    "Some jobs were triggered by provenance information",
)
_SUBMITTED = " has been submitted with SLURM jobid "
_SILENT = {
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.RUN_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_INFO,
    LogEvent.JOB_FINISHED,
    LogEvent.GROUP_INFO,
    LogEvent.PROGRESS,
    LogEvent.RULEGRAPH,
}
_LOG_LINES = 100


def is_talk(record: LogRecord, quiet: Collection[Any] | None) -> bool:
    """Whether a record is routine and gets no line of its own."""
    event, text = getattr(record, "event", None), str(record.msg)
    if event == LogEvent.ERROR and "\nCalledProcessError in file" in text:
        return not quiet  # the record of the failed job follows, with its log
    return event in _SILENT or text.startswith(_TALK) or _SUBMITTED in text


def is_cause(record: LogRecord) -> bool:
    """Whether the job of an error failed itself. Other jobs of its group are reported with it."""
    job: Any = record
    made = all(Path(file).exists() for file in job.output)
    return not job.indent or (not made and any(Path(log).exists() for log in job.log))


def failure(record: LogRecord, with_logs: bool) -> str:
    """Return the rule, the files and the end of each log of a failed job or group."""
    job: Any = record
    if job.event == LogEvent.GROUP_ERROR:
        return "\n".join([str(job.msg), *_logs(job.aux_logs, with_logs)])
    lines = [f"Error in rule {job.rule_name}, job {job.jobid}: {', '.join(job.output)}"]
    if job.rule_msg:
        lines.append(f"    {job.rule_msg}")
    lines += [f"    {name}: {value}" for name, value in job.aux.items()]
    lines += _logs(job.log, with_logs)
    if not job.log and job.shellcmd:
        lines.append(f"The job has no log. Its command was: {job.shellcmd}")
    return "\n".join(lines)


def _logs(paths: Iterable[str], with_logs: bool) -> Iterator[str]:
    for path in paths:
        try:
            lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines() if with_logs else []
        except OSError as error:
            yield f"Log {path} cannot be read: {error.strerror}"
            continue
        left_out = f", the last {_LOG_LINES} of {len(lines)} lines" if len(lines) > _LOG_LINES else ""
        yield f"Log {path}{left_out}"
        yield from (f"    {line}" for line in lines[-_LOG_LINES:])
