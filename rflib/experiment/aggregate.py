"""Step aggregate: collect the cells of a study in one table, with the study's labels, s and numbers of columns."""

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

import pandas as pd

from rflib.experiment.plan import StudyPlan, Wanted
from rflib.files import read_table, write_table

_ORDER = ["data", "kernel", "method", "metric", "n_components", "seed", "at"]


def run(plan: StudyPlan, results: Path, output: Path, *, available: Set[Path] | None = None) -> bool:
    """Read the files of the (divided) plan and write their cells with `write_cells`.

    With ``available``, only these files are read.
    """
    files = [(results / wanted.job.path, wanted) for wanted in plan.wanted]
    there = [(path, wanted) for path, wanted in files if available is None or path in available]
    return write_cells(plan.name, ((wanted, read_table(path)) for path, wanted in there), output)


def write_cells(study: str, measured: Iterable[tuple[Wanted, pd.DataFrame]], output: Path) -> bool:
    """Write one row for each cell, metric and learner, from what is wanted and the table of its job.

    A job may have more seeds than the study wants, if another study or an earlier run wanted them; these are left
    out. A cell that has several labels or values of s in the study has a row for each of them. A cell that is in
    several grids has one row. If a metric is a curve, ``at`` is the place on it: a rank of eigenvalues, or a
    number of examples. The result is False, and there is no table, if there are no cells.
    """
    tables, labels = [], []
    for number, (wanted, table) in enumerate(measured):
        table = table[table["seed"] < wanted.demand.repetitions]
        if wanted.method_id is not None:
            table = table[table["method_id"] == wanted.method_id]
        tables.append(table.assign(wanted=number))
        labels += _labels(wanted, number)
    if not any("n_components" in table for table in tables):
        return False
    table = pd.concat([pd.DataFrame({"at": pd.Series(dtype=float)}), *tables], ignore_index=True)
    table = table.drop(columns="method_id", errors="ignore")
    table = table.merge(pd.DataFrame(labels), on=["wanted", "n_components"]).drop(columns="wanted")
    table = table.assign(study=study).drop_duplicates([*_ORDER, "kernel_id", "learner", "s_label"])
    write_table(output, table.sort_values(_ORDER, kind="stable"))
    return True


def _labels(wanted: Wanted, number: int) -> list[dict[str, Any]]:
    """Return what a study calls the cells of a job, for each value of s. Exact learners have none."""
    about = {role: getattr(wanted, role) for role in ("dataset", "kernel", "method", "learner", "method_id")}
    return [
        {"wanted": number, "s_label": label, "s": s, "n_components": n, **about, **wanted.job.names}
        for label, s, n in wanted.s or [(None, None, float("nan"))]
    ]
