"""Tables of liu2020: accuracies with t-tests, sizes of data sets, and the features that the theory asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rflib.datasets.load import training_rows
from rflib.datasets.registry import entry_of
from rflib.metrics import paired_t_test
from rflib.report.cells import at_s, select
from rflib.report.inference import LEVEL
from rflib.report.options import METRICS
from rflib.report.published import beside_published, published_numbers

_MARK = "•"


def significance(entry: Mapping[str, Any], cells: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return the published cells beside ours, each with its mark, and whether the marks are the same.

    A mark: better than the entry's ``baseline`` by a paired t-test over the repetitions, two-sided, 5 %.
    """
    table = beside_published(entry, cells, folder)
    chosen = {key: entry[key] for key in ("metric", "learner", "title") if key in entry}
    mine = at_s(select(cells, chosen))
    names = mine["dataset"].replace(entry.get("datasets", {}))
    numbers = published_numbers(folder, entry["paper"], entry["table"], entry["metric"])
    marks = numbers.set_index(["kernel", "dataset", "method", "s"])["significant"]
    theirs, ours = [], []
    for row in table.to_dict("records"):
        key = (entry["kernels"][row["kernel"]], row["data set"], row["published as"], row["s"])
        theirs.append(_MARK if marks.get(key) == 1 else "")
        inside = (
            (mine["kernel"] == row["kernel"]) & (mine["s_label"] == row["s"]) & (names == row["data set"])
        )
        values = [
            mine[inside & (mine["method"] == method)].set_index("seed")["value"]
            for method in (row["method"], entry["baseline"])
        ]
        pair = pd.concat(values, axis=1, join="inner")
        ours.append(_MARK if len(pair) > 1 and _better(pair, METRICS[entry["metric"]].lower) else "")
    table.insert(len(table.columns) - 1, "published mark", theirs)
    table.insert(len(table.columns) - 1, "our mark", ours)
    return table


def _better(pair: pd.DataFrame, lower: bool) -> bool:
    method, baseline = (pair.iloc[:, i].to_numpy() for i in (0, 1))
    if np.array_equal(method, baseline):
        return False
    better = (method.mean() < baseline.mean()) == lower
    return bool(better and paired_t_test(method, baseline).pvalue < LEVEL)


def sizes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return columns, classes, training and test rows of the study's data sets, by the registry (table 2)."""
    rows = []
    for name in dict.fromkeys(cells["name"]):
        about = entry_of(name)
        train = about.train_rows or training_rows(about.split, about.rows)
        rows.append((name, about.columns, about.classes, train, about.rows - train))
    return pd.DataFrame(rows, columns=["data set", "columns d", "classes", "training rows", "test rows"])


def degrees(entry: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return d_K and D_K of each data set, and the features d log d and D log D that suffice (table 1).

    They are properties of the exact kernel matrix, whatever the method that was compared with it.
    """
    keys = ["dataset", "kernel"]
    means = {}
    for metric in ("effective_degrees", "surrogate_degrees"):
        chosen = select(cells, {**entry, "metric": metric}).drop_duplicates([*keys, "seed"])
        means[metric] = chosen.groupby(keys, sort=False)["value"].mean()
    table = pd.DataFrame(means).reset_index()
    table["d log d"] = table["effective_degrees"] * np.log(table["effective_degrees"])
    table["D log D"] = table["surrogate_degrees"] * np.log(table["surrogate_degrees"])
    names = {"dataset": "data set", "effective_degrees": "d_K", "surrogate_degrees": "D_K"}
    return table.rename(columns=names)
