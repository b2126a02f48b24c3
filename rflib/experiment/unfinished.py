"""What a run leaves undone when jobs fail: the failed jobs, their errors, and the files that are out of date."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_SHOWN = 20
_SILENT = (
    "It ended without a message. It was probably killed, for example for lack of memory, or the disk is full."
)


def unfinished(workflow: Any, path: str | Path) -> dict[str, Any]:
    """Return ``failed`` (job, log and message of each) and ``files``, and write them as JSON.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        After its jobs have ended.
    path : path-like
        The JSON file. If it cannot be written, as on a full disk, there is none.
    """
    failed = [
        {"job": job.rule.name, "log": str(log), "message": last_words(Path(log))}
        for job in _failed(workflow.scheduler.failed)
        for log in job.log[:1]
    ]
    files = [str(file) for job in workflow.dag.needrun_jobs() for file in job.output]
    state = {"failed": sorted(failed, key=lambda about: about["log"]), "files": sorted(files)}
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(state, indent=1), encoding="utf-8")
    except OSError:
        pass
    return state


def interrupted(command: Sequence[str]) -> str:
    """Return what a user can do after Ctrl-C, for the console; the command writes a page of what is there."""
    return f"Finished jobs stay: the same command goes on. A page of them: {shlex.join(command)}"


def _failed(jobs: Any) -> Iterator[Any]:
    """Yield the failed jobs. In a group that was submitted as one, these have a log but not all of their files."""
    for job in jobs:
        for part in job if job.is_group() else [job]:
            made = all(Path(file).exists() for file in part.output)
            if not job.is_group() or (not made and all(Path(log).exists() for log in part.log)):
                yield part


def last_words(log: Path) -> str:
    """Return the error in a job's log: the first line of the last one, with the next line if it ends in a colon.

    Without an error, it is the last line of the log, or the likely cause if only the command is logged.
    """
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return "The job has no log."
    said = [line.strip() for line in lines if line.strip() and not line.startswith("rflib ")]
    errors = [number for number, line in enumerate(said) if line.startswith("error: ")]
    if not errors:
        return said[-1] if said else _SILENT
    words = said[errors[-1]]
    return " ".join([words, *said[errors[-1] + 1 :][:1]]) if words.endswith(":") else words


def told(state: Mapping[str, Any]) -> str:
    """Return a text about the failed jobs for the console."""
    failed = state["failed"]
    lines = [f"{about['job']}: {about['message']}\n    {about['log']}" for about in failed[:_SHOWN]]
    more = len(failed) - _SHOWN
    return "\n".join(["", f"Failed jobs: {len(failed)}", *lines, *([f"and {more} more"] if more > 0 else [])])
