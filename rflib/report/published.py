"""The papers' numbers beside the measured ones: difference, and verdict by Welch's t-test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from rflib.report.cells import at_s, select
from rflib.report.inference import LEVEL
from rflib.report.options import METRICS

REPETITIONS = 10
RULE = (
    "Agrees: Welch's t-test of the two means (two-sided, 5 %) does not tell them apart, half a unit of the last "
    "printed digit aside."
)
_COLUMNS = (
    "data set",
    "kernel",
    "method",
    "published as",
    "s",
    "published",
    "published std",
    "ours",
    "ours std",
    "repetitions",
    "difference",
    "verdict",
    "p",
)


def published_numbers(folder: Path, paper: str, table: str, metric: str) -> pd.DataFrame:
    """Return a table of a paper: kernel, dataset, method, s, mean, std, and half a unit of the last digit.

    Percentages become shares, as ``accuracy`` is one.

    Raises
    ------
    ValueError
        If there are no such numbers; the message says what there is.
    """
    path = folder / f"{paper}.csv"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.csv")))
        raise ValueError(f"There are no published numbers for {paper!r}: no file {path}. There are {there}.")
    numbers = pd.read_csv(path, dtype={"s": str, "mean": str})
    inside = numbers[numbers["table"] == table]
    if inside.empty:
        raise ValueError(
            f"{path} has no table {table!r}; it has {', '.join(map(repr, numbers['table'].unique()))}."
        )
    inside = inside[inside["metric"].isin([metric, f"{metric}_percent"])]
    if inside.empty:
        raise ValueError(f"{path}: {table!r} has no numbers of the metric {metric!r}.")
    unit = inside["metric"].str.endswith("_percent").map({True: 0.01, False: 1.0})
    decimals = inside["mean"].str.partition(".")[2].str.len()
    return inside.assign(
        mean=(inside["mean"].astype(float) * unit).round(10),
        std=(inside["std"] * unit).round(10),
        rounding=0.5 * unit * 10.0**-decimals,
    )


def beside_published(entry: Mapping[str, Any], cells: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return published and measured mean and deviation of each published cell, with difference and verdict.

    A published cell has a row for every method of the study that stands for it, and one with the verdict
    "not run" where that method has no cell.
    """
    return with_p_values(entry, cells, folder).drop(columns="p")


def with_p_values(entry: Mapping[str, Any], cells: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return `beside_published` with the p values that the verdicts go by."""
    numbers = published_numbers(folder, entry["paper"], entry["table"], entry["metric"])
    chosen = {key: entry[key] for key in ("metric", "learner", "title") if key in entry}
    mine = at_s(select(cells, chosen))
    names = mine["dataset"].replace(entry.get("datasets", {}))
    repetitions = entry.get("repetitions", REPETITIONS)
    lower = METRICS[entry["metric"]].lower
    rows = []
    for kernel_label, kernel in entry["kernels"].items():
        for method_label, method in entry["methods"].items():
            inside = (mine["kernel"] == kernel_label) & (mine["method"] == method_label)
            theirs = numbers[(numbers["kernel"] == kernel) & (numbers["method"] == method)]
            for cell in theirs.to_dict("records"):
                of_s = mine["s_label"].isna() if pd.isna(cell["s"]) else mine["s_label"] == cell["s"]
                ours = mine[inside & of_s & (names == cell["dataset"])]["value"]
                p = p_of_difference(cell["mean"], cell["std"], repetitions, ours, cell["rounding"])
                rows.append(
                    (
                        cell["dataset"],
                        kernel_label,
                        method_label,
                        method,
                        cell["s"],
                        cell["mean"],
                        cell["std"],
                        ours.mean(),
                        ours.std(),
                        len(ours),
                        ours.mean() - cell["mean"],
                        verdict(cell["mean"], ours, p, lower),
                        p,
                    )
                )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def p_of_difference(
    mean: float, std: float, repetitions: int, ours: pd.Series, rounding: float = 0.0
) -> float:
    """Return the p value of Welch's t-test (two-sided) of a published mean and measured values.

    A difference of up to ``rounding`` is none. A deviation that is not known (not printed, or of a single value)
    counts as zero; NaN without measured values.
    """
    if not len(ours):
        return float("nan")
    excess = max(abs(float(ours.mean()) - mean) - rounding, 0.0)
    own = float(ours.var()) if len(ours) > 1 else 0.0
    parts = np.array([np.nan_to_num(std) ** 2 / repetitions, own / len(ours)])
    if not parts.any():
        return float(excess == 0)
    freedom = parts.sum() ** 2 / (parts**2 / np.maximum([repetitions - 1, len(ours) - 1], 1)).sum()
    return float(2 * stdtr(freedom, -excess / np.sqrt(parts.sum())))


def verdict(mean: float, ours: pd.Series, p: float, lower: bool) -> str:
    """Return "agrees", "better", "worse" or "not run", by the p value of the difference."""
    if not len(ours):
        return "not run"
    if p >= LEVEL:
        return "agrees"
    return "better" if (ours.mean() < mean) == lower else "worse"
