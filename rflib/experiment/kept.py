"""Kept cells: what the jobs of a study measured, in one archive, from which its page is drawn again.

A repository keeps an archive for each study beside its pages, which can be drawn anew without a run. A kept row is
a row of a job's file, with the job's identity (whatever its seeds), the commit of its code, the number of cores of
the machine, and its share of the CPU seconds of the job and of the bytes of the job's files. Labels of the study
are not in it, so they may change. A row that has replaced one of older code has that code's fingerprint,
``before``, and the relative ``change`` of its value.

Git stores a changed archive as a whole, so an archive changes only if a run has cells that it does not have from
the same code, and its numbers are in single precision, of which reading gives the shortest decimals.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rflib.experiment.aggregate import write_cells
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.jobs import CellJob
from rflib.experiment.plan import StudyPlan, Wanted
from rflib.files import read_table, replacing

# What a job measures at once, and what tells its rows from each other. The place ``at`` of a row may be measured.
_RUN = ["job", "n_components", "seed"]
_ROW = [*_RUN, "method_id", "metric", "at"]

# Changes of smaller values, which may be mere rounding, are relative to this.
_ROUNDING = 1e-6

# Numbers in single precision, with the digits that are kept. No page shows more.
_SINGLE = {"value": 7, "seconds": 3, "change": 2, "job_seconds": 4, "bytes": 4}


def keep(plan: StudyPlan, results: Path, folder: Path, commit: str) -> None:
    """Merge the results of a plan into the kept cells of its study.

    Parameters
    ----------
    plan : StudyPlan
        The plan of the study, before its division.
    results : Path
        Folder of the results. Files of jobs that are missing, or that were made by other code than that of today,
        are left out.
    folder : Path
        Folder of the archives of all studies. The rows of a job with a number of columns and a seed replace those
        of other code. The archive stays as it is if there are none; otherwise, rows of jobs that the plan does not
        have are removed.
    commit : str
        The commit of the code, for people.
    """
    kept = _read(plan.name, folder)
    about = {"commit": commit, "cores": os.cpu_count()}
    tables = [
        table.assign(job=identity(wanted.job), **_shares(files, len(table)), **about)
        for wanted, table, files in _current(plan, results)
    ]
    if not tables:
        return
    fresh = pd.concat(tables, ignore_index=True)
    fresh = fresh.drop_duplicates(row_of(fresh))
    if kept is not None:
        fresh = _others(fresh, kept, [*_RUN, "fingerprint"])
        if fresh.empty:
            return
        fresh = pd.concat([_beside(fresh, kept), _others(kept, fresh, _RUN)], ignore_index=True)
    wanted_jobs = {identity(wanted.job) for wanted in plan.wanted}
    _write(fresh[fresh["job"].isin(wanted_jobs)], _archive(plan.name, folder))


def row_of(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of cells that tell a kept row from all others."""
    return [column for column in _ROW if column in table]


def _beside(fresh: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Return fresh rows with what changed where they replace rows of other code."""
    old = kept.reindex(columns=[*row_of(fresh), "fingerprint", "value", "before", "change"])
    old = old.drop_duplicates(row_of(fresh))
    both = fresh.merge(old, on=row_of(fresh), how="left", suffixes=("", "_old"), validate="many_to_one")
    other = both["fingerprint_old"].notna() & (both["fingerprint_old"] != both["fingerprint"])
    size = both[["value", "value_old"]].abs().max(axis=1).clip(lower=_ROUNDING)
    change = (both["value"] - both["value_old"]).abs() / size
    both["before"] = both["fingerprint_old"].where(other, both["before"])
    both["change"] = change.where(other, both["change"])
    return both.drop(columns=["fingerprint_old", "value_old"])


def _others(rows: pd.DataFrame, known: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the rows of which none of the known ones has the same values of some columns."""
    both = rows[by].merge(known[by].drop_duplicates(), how="left", indicator=True)
    return rows[(both["_merge"] == "left_only").to_numpy()]


def restore(plan: StudyPlan, folder: Path, output: Path) -> bool:
    """Write the table that ``rflib aggregate`` writes, from the kept cells; False if none is kept."""
    kept = _read(plan.name, folder)
    if kept is None:
        return False
    by_job = dict(iter(kept.groupby("job")))
    wanted = ((w, identity(w.job)) for w in plan.wanted)
    return write_cells(plan.name, ((w, by_job[job]) for w, job in wanted if job in by_job), output)


def identity(job: CellJob) -> str:
    """Return what names a job, whatever its seeds."""
    return job.with_seeds((0, 0)).path


def _current(plan: StudyPlan, results: Path) -> Iterator[tuple[Wanted, pd.DataFrame, list[Path]]]:
    """Yield what is wanted, the table of its job and the files of the job, where the code of today made it.

    The files of a job are its own, those that it reads unless an earlier job read them, and their logs.
    """
    (plan,) = divided([plan], results)
    counted: set[str] = set()
    for path, wanted in {wanted.job.path: wanted for wanted in plan.wanted}.items():
        if (results / path).exists():
            table = read_table(results / path)
            if len(table) and set(table["fingerprint"]) == {fingerprint(*wanted.job.sources)}:
                files = sorted({path, *(job.path for job in wanted.job.after)} - counted)
                counted.update(files)
                logs = [results / "logs" / Path(file).with_suffix(".log") for file in files]
                yield (
                    wanted,
                    table,
                    [file for file in (*(results / f for f in files), *logs) if file.exists()],
                )


def _shares(files: list[Path], n_rows: int) -> dict[str, float]:
    """Return the share of one of the rows in the CPU seconds of the jobs of these files, and in the bytes."""
    logs = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.suffix == ".log"]
    cpu_time = re.compile(r"^done in [\d.]+ s, ([\d.]+) s of CPU time$", re.MULTILINE)
    took = [float(seconds) for log in logs for seconds in cpu_time.findall(log)]
    size = sum(file.stat().st_size for file in files)
    return {"job_seconds": sum(took) / n_rows, "bytes": size / n_rows}


def _archive(study: str, folder: Path) -> Path:
    return folder / f"{study}.parquet"


def _read(study: str, folder: Path) -> pd.DataFrame | None:
    """Return the kept rows of a study; None if it has none."""
    if not _archive(study, folder).exists():
        return None
    table = pd.read_parquet(_archive(study, folder))
    single = {name: table[name].to_numpy().astype(np.str_) for name in _SINGLE if name in table}
    return table.assign(**{name: texts.astype(np.float64) for name, texts in single.items()})


def _write(table: pd.DataFrame, path: Path) -> None:
    """Write rows so that they take little room, in an order that does not depend on the runs."""
    rounded = {
        name: table[name].map(f"{{:.{digits}g}}".format).astype(np.float32)
        for name, digits in _SINGLE.items()
        if name in table
    }
    with replacing(path) as file:
        table.assign(**rounded).sort_values(["job", "n_components", "seed"], kind="stable").to_parquet(
            file,
            index=False,
            compression="zstd",
            use_dictionary=[name for name in table if name != "value"],
            column_encoding={"value": "BYTE_STREAM_SPLIT"},
        )
