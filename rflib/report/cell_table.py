"""The table of a study's cells, as the report reads it: it keeps the study's order and counts each cell once."""

from pathlib import Path

import numpy as np

from rflib.experiment.grids import kernels_of, methods_of
from rflib.report.kind import DataFrame, Options, Series

EXACT = "exact kernel"
BLOCK = ["data", "kernel", "method", "n_components"]
_ONE_S = ["data", "kernel", "method", "learner", "metric", "s_label"]
_ONE_ROW = ["data", "kernel", "method", "learner", "metric", "n_components", "seed"]
CELL = ["data", "kernel_id", "method_id", "n_components", "seed"]


def read_cells(path: Path, study: Options) -> DataFrame:
    """Read the table that ``rflib aggregate`` wrote, with data sets, kernels and methods in the study's order.

    If a kernel gets a data set in several versions (preprocessing, rows), each version has its full name, so that
    they are not pooled.
    """
    import pandas as pd

    from rflib.files import read_table

    table = read_table(path).reset_index(drop=True)
    several = table.groupby(["dataset", "kernel"])["data"].transform("nunique") > 1
    order = {
        "dataset": [dataset["name"] for dataset in study["datasets"]],
        "kernel": kernels_of(study),
        "method": [*methods_of(study), EXACT],
    }
    ranks = [table[column].map({label: i for i, label in enumerate(order[column])}) for column in order]
    position = pd.concat([*ranks, table["data"], table["n_components"], table["seed"]], axis=1)
    table["name"] = table["dataset"]
    table["dataset"] = table["dataset"].where(~several, table["data"])
    return table.loc[position.sort_values(list(position.columns), kind="stable").index].reset_index(drop=True)


def select(cells: DataFrame, entry: Options, *, curves: bool = False) -> DataFrame:
    """Return the cells of an entry's metric, and of its learner, ridge, kernels, datasets and methods where given.

    With ``curves``, these are the points of the metric's curve in a cell, at the places in column ``at``; without,
    the metric has one value in a cell.

    Raises
    ------
    ValueError
        If several learners have the metric, or it is for several ridges, and the entry does not say which it is
        about.
    """
    chosen = cells[cells["metric"] == entry["metric"]]
    at = chosen["at"]
    chosen = chosen[np.isclose(at, entry["ridge"], atol=0) if "ridge" in entry else at.notna() == curves]
    learners = chosen["learner"].dropna().unique()
    if len(at) and at.notna().all() and not curves and "ridge" not in entry:
        raise ValueError(
            f"{entry['title']!r}: ridge: the study has {entry['metric']} for several ridges; give one of them."
        )
    if "learner" in entry:
        chosen = chosen[chosen["learner"] == entry["learner"]]
    elif len(learners) > 1:
        raise ValueError(
            f"{entry['title']!r}: learner: {' and '.join(learners)} have the metric {entry['metric']}; give one "
            "of them."
        )
    for key, column in (("kernels", "kernel"), ("datasets", "name"), ("methods", "method")):
        if key in entry:
            reference = (chosen["method"] == EXACT) & (key == "methods")
            chosen = chosen[chosen[column].isin(list(entry[key])) | reference]
    return chosen


def number_of_cells(cells: DataFrame) -> int:
    """Return how many cells there are, whatever was measured in each."""
    return len(cells.drop_duplicates(CELL))


def repetitions_by_size(cells: DataFrame) -> dict[int, int]:
    """Return how many repetitions there are of each number of columns, ascending; with no method, of 0."""
    of_methods = cells[(cells["method"] != EXACT) & cells["n_components"].notna()]
    counts = of_methods.groupby("n_components")["seed"].nunique()
    found = dict(zip(counts.index.astype(int).tolist(), counts.tolist(), strict=True))
    return found or {0: int(cells["seed"].nunique())}


def at_s(cells: DataFrame) -> DataFrame:
    """Keep the cells in which each method has the number of columns that the paper gives it at a value of s.

    In a study with ``budget: both``, that is the smaller of two numbers.
    """
    smallest = cells.groupby(_ONE_S, dropna=False)["n_components"].transform("min")
    return cells[(cells["n_components"] == smallest) | smallest.isna()]


def at_columns(cells: DataFrame) -> DataFrame:
    """Keep each cell once, even if several values of s lead to its number of columns."""
    return cells.drop_duplicates(_ONE_ROW)


def medians(cells: DataFrame, metric: str) -> Series:
    """Return the median of a metric, such as seconds, over the repetitions of each `BLOCK`.

    Where the seconds of a map were not measured as one, they are those to draw and to compute the features.
    """
    if metric == "map_seconds" and not (cells["metric"] == metric).any():
        return (medians(cells, "sample_seconds") + medians(cells, "transform_seconds")).dropna()
    return cells[cells["metric"] == metric].groupby(BLOCK)["value"].median()
