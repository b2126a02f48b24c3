"""The provenance of cells: commands, fingerprints, versions, hosts, seconds and warnings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.kept import row_of
from rflib.experiment.plan import StudyPlan
from rflib.experiment.warned import COLUMN, kind
from rflib.report.cell_table import CELL, number_of_cells

_SAME = 1e-6
_VARYING = ("seconds", "megabytes")
_UNIT = ["dataset", "kernel", "method", "data", "kernel_id", "method_id"]


@dataclass(frozen=True)
class Unit:
    """A method for a kernel on a data set, with the study's labels, and the commands that made its first block."""

    dataset: str
    kernel: str
    method: str
    fingerprints: str
    seconds: float
    peak_memory: float
    commands: tuple[str, ...]


def units(cells: pd.DataFrame, results: Path) -> list[Unit]:
    """Return the units of a study's cells, in their order."""
    found = []
    for keys, group in cells[cells["method_id"] != "exact"].groupby(_UNIT, sort=False):
        dataset, kernel, method, data, kernel_id, method_id = map(str, keys)
        one_row_a_cell = group.drop_duplicates(["n_components", "seed", "learner"])
        found.append(
            Unit(
                dataset,
                kernel,
                method,
                ", ".join(sorted(group["fingerprint"].unique())),
                float(one_row_a_cell["seconds"].sum()),
                float(group["peak_memory"].max()),
                tuple(_commands(results / "logs", data, kernel_id, method_id)),
            )
        )
    return found


def _commands(logs: Path, data: str, kernel_id: str, method_id: str) -> Iterator[str]:
    """Yield the commands of one block: they draw features, measure their error and train, or fit an estimator."""
    unit = f"{data}/{kernel_id}/{method_id}"
    patterns = {
        "features": f"{unit}/*.log",
        "errors": f"{unit}/*/*.log",
        "scores": f"{unit}/*/*.log",
        "fits": f"{data}/{method_id}-r*.log",
    }
    for step, pattern in patterns.items():
        blocks = sorted((logs / step).glob(pattern))
        for log in blocks:
            if log.parent == blocks[0].parent and (step not in ("features", "fits") or log == blocks[0]):
                with log.open(encoding="utf-8", errors="replace") as file:
                    line = file.readline().strip()
                if line.startswith("rflib "):
                    yield f"python -m {line}"


def core_hours(cells: pd.DataFrame) -> float:
    """Return the hours of CPU time of the jobs of kept cells; of others, the hours in features and learners."""
    if "job_seconds" in cells:
        return float(cells.drop_duplicates(row_of(cells))["job_seconds"].sum()) / 3600
    return float(cells.drop_duplicates([*CELL, "learner", "seconds"])["seconds"].sum()) / 3600


def fingerprints(cells: pd.DataFrame) -> pd.DataFrame:
    """Return for each method the fingerprints of the code that made its cells."""
    found = cells.groupby("method", sort=False)["fingerprint"].agg(
        lambda column: " ".join(sorted(set(column)))
    )
    return found.reset_index().rename(columns={"fingerprint": "fingerprints"})


def older(plan: StudyPlan, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that were not made by the code of today. Those that are not planned are left out."""
    today: set[tuple[str, ...]] = set()
    for wanted in plan.wanted:
        names = {"method_id": wanted.method_id, **wanted.job.names}
        labels = (names["data"], names["kernel_id"], names["method_id"], wanted.learner or "")
        today.add((*labels, fingerprint(*wanted.job.sources)))
    planned = {made[:-1] for made in today}
    rows = (
        cells[["data", "kernel_id", "method_id", "learner", "fingerprint"]].fillna("").itertuples(index=False)
    )
    return cells[[tuple(row[:-1]) in planned and tuple(row) not in today for row in rows]]


def run_again(cells: pd.DataFrame, old: pd.DataFrame) -> tuple[int, int]:
    """Return how many cells of the code of the old ones today's code has made anew, and how many are the same.

    Cells are the same if no value has changed by more than a millionth; times and memory do not count.
    """
    if "before" not in cells:
        return 0, 0
    new = cells.drop(index=old.index)
    new = new[new["before"].isin(set(old["fingerprint"])) & ~new["metric"].str.endswith(_VARYING)]
    changed = new[~(new["change"] <= _SAME)]
    return number_of_cells(new), number_of_cells(new) - number_of_cells(changed)


def machines(cells: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the hosts that made the cells, with their versions of software."""
    pairs = cells[["host", "versions"]].drop_duplicates().sort_values(["host", "versions"])
    return [(str(host), str(versions)) for host, versions in pairs.itertuples(index=False)]


def warned(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each kind of warning: an example, the number of cells that raised it, and their labels.

    Warnings are of one kind if they differ only in their numbers.
    """
    names = {"dataset": "data sets", "kernel": "kernels", "method": "methods"}
    if COLUMN not in cells:
        return pd.DataFrame(columns=["warning", "cells", *names.values()])
    found = cells[cells[COLUMN].fillna("") != ""]
    found = found.assign(**{COLUMN: found[COLUMN].str.split("\n")}).explode(COLUMN)
    rows = []
    for _, group in found.groupby(found[COLUMN].map(kind), sort=False):
        rows.append(
            (
                group[COLUMN].iloc[0],
                number_of_cells(group),
                *(", ".join(dict.fromkeys(group[key])) for key in names),
            )
        )
    return pd.DataFrame(rows, columns=["warning", "cells", *names.values()])
