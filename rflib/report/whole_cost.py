"""What a study would take in full, estimated from the CPU times of the jobs that were run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rflib.experiment.kept import identity, keep, restore, row_of
from rflib.experiment.pipeline import of_one_study
from rflib.experiment.plan import StudyPlan
from rflib.report.cell_table import read_cells
from rflib.report.page import reduced
from rflib.report.provenance import core_hours

_TINY = 1e-3
_KEYS = ["job", "method", "n_components"]


def whole_core_hours(cells: pd.DataFrame, plan: StudyPlan, absent: Collection[str] = ()) -> float:
    """Return the core-hours of a study in full, without what is absent.

    What was run counts with its own CPU time for each repetition. The time of the rest is estimated by power laws
    in the number of columns, one for each method and kind of job; a data set enters only by the number of columns.

    Parameters
    ----------
    cells : DataFrame
        Kept cells, with ``job`` and ``job_seconds`` (`rflib.experiment.kept`).
    plan : StudyPlan
        The plan of the study.
    absent : collection of str
        Names of data sets, and labels of estimators, that are left out.
    """
    return _hours(_expected(cells, plan, absent))


def estimate(study: Path) -> str:
    """Say what a study would take in full, from the jobs of which the results are there.

    The sizes of the study and the folder of the results are those of ``config.yaml`` in the current folder.

    Parameters
    ----------
    study : Path
        The study's file, or its name among those in ``workflow/studies``.

    Raises
    ------
    ValueError
        If nothing that the code of today measured is there, or if the study or the configuration has an error.
    """
    pipeline = of_one_study(study)
    plan = pipeline.whole(study.stem)
    with TemporaryDirectory() as name:
        table = Path(name, "cells.parquet")
        keep(plan, Path(pipeline.results), Path(name), "")
        if not restore(plan, Path(name), table):
            raise ValueError(
                f"{pipeline.results} holds no cells of {study.stem} that the code of today made. Run one "
                f"repetition first: snakemake {study.stem} --cores 2 --config repetitions=1"
            )
        cells = read_cells(table, plan.study)
    jobs = _expected(cells, plan, ())
    longest = (jobs["seconds"] * jobs["at_once"]).groupby(jobs["job"]).sum().max()
    largest = max(job.megabytes for job in pipeline.jobs.values())
    takes = f"{longest / 60:.2g} minutes" if longest > 60 else f"{longest:.2g} seconds"
    smaller = reduced(cells, plan, ())
    parts = [
        f"{study.stem} in full: roughly {_hours(jobs):.2g} core-hours (CPU time), "
        f"{core_hours(cells):.2g} of them done.",
        f"Its longest step takes roughly {takes}. Its largest declares {largest:,} MB of memory.",
        f"The time was measured on {smaller}." if smaller else "All of it was measured.",
    ]
    if unknown := jobs.loc[jobs["seconds"].isna(), "kind"].str.strip().unique().tolist():
        parts.append(f"Not counted, because no such step has ended: {', '.join(unknown)}.")
    if out := [
        name for name in dict.fromkeys(w.dataset for w in plan.wanted) if name not in set(cells["name"])
    ]:
        parts.append(
            f"The time on {', '.join(out)} is estimated by the number of columns D alone, whatever the number of "
            "rows. Where there are more, run one repetition of these too."
        )
    return "\n".join(parts)


def _hours(jobs: pd.DataFrame) -> float:
    return float((jobs["seconds"] * jobs["repetitions"]).sum()) / 3600


def _expected(cells: pd.DataFrame, plan: StudyPlan, absent: Collection[str]) -> pd.DataFrame:
    """Return each planned job, method and number of columns with the seconds of a repetition."""
    planned = pd.DataFrame(
        [
            (identity(w.job), w.method, n, f"{w.job.step} {w.learner or ''}", *w.demand)
            for w in plan.wanted
            if {w.dataset, w.method}.isdisjoint(absent)
            for n in sorted({n for _, _, n in w.s} or {0})
        ],
        columns=[*_KEYS, "kind", "repetitions", "at_once"],
    ).drop_duplicates(_KEYS)
    cells = cells.fillna({"n_components": 0})  # those of exact kernels have none
    runs = cells.drop_duplicates(row_of(cells)).groupby(_KEYS)
    measured = (runs["job_seconds"].sum() / runs["seed"].nunique()).rename("seconds")
    jobs = planned.join(measured, on=_KEYS)
    for by in (["kind", "method"], ["kind"]):
        for _, alike in jobs.groupby(by):
            new = alike.index[alike["seconds"].isna()]
            known = alike.drop(index=new)
            if len(new) and len(known):
                jobs.loc[new, "seconds"] = _power_law(known, alike.loc[new, "n_components"])
    return jobs


def _power_law(known: pd.DataFrame, n_components: pd.Series) -> NDArray:
    """Return seconds at these numbers of columns, by a fit in which errors count in seconds."""
    x, y = (np.log(np.maximum(part, _TINY)) for part in (known["n_components"], known["seconds"]))
    degree = min(known["n_components"].nunique() - 1, 1)
    power = np.polyfit(x, y, degree, w=np.maximum(known["seconds"], _TINY))
    return np.exp(np.polyval(power, np.log(np.maximum(n_components, _TINY))))
