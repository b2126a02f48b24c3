"""Tables of a study: beside the published numbers, by columns, and the ranking of methods; as CSV."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rflib.report.claims import check_claims
from rflib.report.options import (
    LOWER_IS_BETTER,
    NAMES,
    check_options,
    published_numbers,
    select,
    slug,
    write_index,
)

ALLOWED = {
    "published": (
        "metric!",
        "paper!",
        "table!",
        "kernels!",
        "methods!",
        "datasets",
        "learner",
        "repetitions",
    ),
    "grid": ("metric!", "learner", "kernels", "datasets", "methods"),
    "ranking": ("metric!", "learner", "kernels", "datasets", "methods"),
}
PUBLISHED_REPETITIONS = 10


def write_tables(study: Mapping[str, Any], cells: Path, published: Path, out_dir: Path) -> None:
    """Write each table of the study as CSV, the claims, and an index of both.

    Raises
    ------
    ValueError
        For unknown types, keys or metrics; the message names the entry.
    """
    table = pd.read_parquet(cells)
    shutil.rmtree(out_dir, ignore_errors=True)
    out_dir.mkdir(parents=True)
    index = []
    for number, entry in enumerate(study.get("tables", [])):
        check_options("table", entry, ALLOWED)
        made = make_table(entry, table, published)
        name = slug(number, entry["title"])
        made.to_csv(out_dir / f"{name}.csv", index=False)
        index.append(
            {"title": entry["title"], "caption": caption(entry), "file": f"{name}.csv", "type": entry["type"]}
        )
    claims = check_claims(study.get("claims", []), table)
    claims.to_csv(out_dir / "claims.csv", index=False)
    write_index(out_dir, index)


def make_table(entry: Mapping[str, Any], cells: pd.DataFrame, published: Path) -> pd.DataFrame:
    """Return one table."""
    if entry["type"] == "published":
        return beside_published(entry, cells, published_numbers(published, entry["paper"]))
    return {"grid": grid, "ranking": ranking}[entry["type"]](entry, cells)


def beside_published(entry: Mapping[str, Any], cells: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return published and measured mean and deviation of each published cell, with difference and verdict.

    The verdict is "agrees" if the means differ by at most two standard errors of their difference, else
    "better" or "worse". A published cell has a row for every method of the study that stands for it, and one
    with the verdict "not run" if there is none.
    """
    numbers = numbers[numbers["table"] == entry["table"]]
    mine = select(cells, {k: v for k, v in entry.items() if k in ("metric", "learner")})
    repetitions = entry.get("repetitions", PUBLISHED_REPETITIONS)
    lower = LOWER_IS_BETTER[entry["metric"]]
    datasets = entry.get("datasets", {})
    rows = []
    for kernel_label, kernel in entry["kernels"].items():
        for method_label, method in entry["methods"].items():
            theirs = numbers[(numbers["kernel"] == kernel) & (numbers["method"] == method)]
            for _, cell in theirs.iterrows():
                ours = mine[
                    (mine["kernel"] == kernel_label)
                    & (mine["method"] == method_label)
                    & (mine["dataset"].replace(datasets) == cell["dataset"])
                    & (mine["s_label"] == str(cell["s"]))
                ]["value"]
                rows.append(
                    {
                        "data set": cell["dataset"],
                        "kernel": kernel_label,
                        "method": method_label,
                        "s": cell["s"],
                        "published": cell["mean"],
                        "published std": cell["std"],
                        "ours": ours.mean(),
                        "ours std": ours.std(),
                        "repetitions": len(ours),
                        "difference": ours.mean() - cell["mean"],
                        "verdict": verdict(cell["mean"], cell["std"], repetitions, ours, lower),
                    }
                )
    return pd.DataFrame(rows)


def verdict(mean: float, std: float, repetitions: int, ours: pd.Series, lower: bool) -> str:
    """Return "agrees", "better", "worse" or "not run" for measured values beside a published mean."""
    if not len(ours):
        return "not run"
    own = ours.std() if len(ours) > 1 else 0.0
    error = np.sqrt(np.nan_to_num(std) ** 2 / repetitions + own**2 / len(ours))
    difference = ours.mean() - mean
    if abs(difference) <= 2 * error:
        return "agrees"
    return "better" if (difference < 0) == lower else "worse"


def grid(entry: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return mean and deviation for each number of columns, a row for each data set, kernel and method."""
    chosen = select(cells, entry)
    statistics = chosen.groupby(["dataset", "kernel", "method", "n_components"], dropna=False)["value"]
    text = statistics.agg(["mean", "std"]).apply(
        lambda row: f"{row['mean']:.4g} ± {np.nan_to_num(row['std']):.2g}", axis=1
    )
    if text.empty:
        return pd.DataFrame(columns=["data set", "kernel", "method"])
    wide = text.unstack("n_components")
    wide.columns = ["exact" if pd.isna(n) else f"D = {n:g}" for n in wide.columns]
    return wide.reset_index().rename(columns={"dataset": "data set"})


def ranking(entry: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return the methods by their mean rank at equal columns, over data sets, kernels and numbers of columns."""
    chosen = select(cells, entry)
    chosen = chosen[chosen["method"] != "exact kernel"]
    keys = ["dataset", "kernel", "n_components"]
    means = chosen.groupby([*keys, "method"])["value"].mean().reset_index()
    best = means.groupby(keys)["value"]
    lower = LOWER_IS_BETTER[entry["metric"]]
    means["rank"] = best.rank(ascending=lower)
    extreme = best.transform("min" if lower else "max")
    means["best"] = means["value"] == extreme
    found = means.groupby("method").agg(
        **{"mean rank": ("rank", "mean"), "best in": ("best", "sum"), "of cells": ("rank", "size")}
    )
    return found.sort_values("mean rank").reset_index()


def caption(entry: Mapping[str, Any]) -> str:
    """Return an entry's own caption, or what its type shows."""
    if "caption" in entry:
        return str(entry["caption"])
    what = NAMES[entry["metric"]]
    title = what[0].upper() + what[1:]
    return {
        "published": f"{title}: published and measured mean and standard deviation. Agrees: the means "
        "differ by at most two standard errors of their difference.",
        "grid": f"{title}: mean and standard deviation over the repetitions, by columns D.",
        "ranking": f"Mean rank by {what} among the methods with the same columns D (1 is best), over data sets, "
        "kernels and D; a method is ranked only where it applies.",
    }[entry["type"]]
