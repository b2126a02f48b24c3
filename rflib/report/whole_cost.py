"""What a study would take in full, estimated from the CPU times of the jobs that were run."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rflib.experiment.kept import identity, row_of
from rflib.experiment.plan import StudyPlan

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
    planned = pd.DataFrame(
        [
            (identity(w.job), w.method, n, f"{w.job.step} {w.learner or ''}", w.demand.repetitions)
            for w in plan.wanted
            if {w.dataset, w.method}.isdisjoint(absent)
            for n in sorted({n for _, _, n in w.s} or {0})
        ],
        columns=[*_KEYS, "kind", "repetitions"],
    ).drop_duplicates(_KEYS)
    runs = cells.drop_duplicates(row_of(cells)).groupby(_KEYS)
    measured = (runs["job_seconds"].sum() / runs["seed"].nunique()).rename("seconds")
    jobs = planned.join(measured, on=_KEYS)
    for by in (["kind", "method"], ["kind"]):
        for _, alike in jobs.groupby(by):
            new = alike.index[alike["seconds"].isna()]
            known = alike.drop(index=new)
            if len(new) and len(known):
                jobs.loc[new, "seconds"] = _power_law(known, alike.loc[new, "n_components"])
    return float((jobs["seconds"] * jobs["repetitions"]).sum()) / 3600


def _power_law(known: pd.DataFrame, n_components: pd.Series) -> NDArray:
    """Return seconds at these numbers of columns, by a fit in which errors count in seconds."""
    x, y = (np.log(np.maximum(part, _TINY)) for part in (known["n_components"], known["seconds"]))
    degree = min(known["n_components"].nunique() - 1, 1)
    power = np.polyfit(x, y, degree, w=np.maximum(known["seconds"], _TINY))
    return np.exp(np.polyval(power, np.log(np.maximum(n_components, _TINY))))
