"""Step aggregate: one table of a study's cells, with the study's own labels, s and columns."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import pandas as pd

from rflib.experiment.plan import Entry, ExactEntry, StudyPlan
from rflib.files import read_table, write_table

_ORDER = ["data", "kernel", "method", "metric", "n_components", "seed", "at"]


def run(plan: StudyPlan, results: Path, output: Path, *, available: Set[Path] | None = None) -> bool:
    """Read the files of the (divided) plan and write one row per cell, metric and learner.

    A file may hold more seeds than the study wants, if another study or an earlier run wanted them; those are
    left out.
    A cell that stands in the study under several labels or values of s has a row for each, one that is in several
    grids has one. Where a metric is a curve, ``at`` is the place on it: a rank of eigenvalues, or examples seen.
    With ``available``, only these files are read; False, and no table, if none of them holds a cell.
    """
    tables = []
    for entry in plan.entries:
        unit, block = entry.unit, entry.block
        if entry.error:
            path = results / f"errors/{unit.path}/{block.name}/{entry.error.id}.parquet"
            if available is None or path in available:
                tables.append(_labelled(read_table(path), entry, None))
        for label, score in entry.scores:
            path = results / f"scores/{unit.path}/{block.name}/{score.id}.parquet"
            if available is None or path in available:
                tables.append(_labelled(read_table(path), entry, label))
    if available is not None and not tables:
        return False
    for exact in plan.exact:
        path = results / f"exact/{exact.path}.parquet"
        if available is not None and path not in available:
            continue
        table = read_table(path)
        tables.append(
            _wanted(table, exact).assign(
                data=exact.data.id,
                dataset=exact.data.dataset,
                kernel=exact.kernel_label,
                kernel_id=exact.kernel,
                method="exact kernel",
                method_id="exact",
                learner=exact.learner_label,
            )
        )
    table = pd.concat([pd.DataFrame({"at": pd.Series(dtype=float)}), *tables], ignore_index=True)
    table = table.assign(study=plan.name).drop_duplicates([*_ORDER, "kernel_id", "learner", "s_label"])
    write_table(output, table.sort_values(_ORDER, kind="stable"))
    return True


def _wanted(table: pd.DataFrame, entry: Entry | ExactEntry) -> pd.DataFrame:
    return table[table["seed"] < entry.demand.repetitions]


def _labelled(table: pd.DataFrame, entry: Entry, learner: str | None) -> pd.DataFrame:
    of_s = pd.DataFrame(entry.s, columns=["s_label", "s", "n_components"])
    return (
        _wanted(table, entry)
        .merge(of_s, on="n_components")
        .assign(
            data=entry.unit.data.id,
            dataset=entry.unit.data.dataset,
            kernel=entry.kernel_label,
            kernel_id=entry.unit.kernel,
            method=entry.method_label,
            method_id=entry.unit.method,
            learner=learner,
        )
    )
