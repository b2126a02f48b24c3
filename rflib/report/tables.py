"""Tables of a study: beside the published numbers, by columns or s, and the ranking of methods; as CSV."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rflib.report.cells import EXACT, at_columns, at_s, read_cells, select
from rflib.report.claims import check_claims
from rflib.report.fits import fits
from rflib.report.liu import degrees, significance, sizes
from rflib.report.monte_carlo import densities
from rflib.report.options import (
    METRICS,
    TABLES,
    check_entries,
    sentence,
    slug,
    write_index,
)
from rflib.report.published import RULE, beside_published


def write_tables(study: Mapping[str, Any], cells: Path, published: Path, out_dir: Path) -> None:
    """Write each table of the study as CSV, the claims, and an index of the tables.

    Parameters
    ----------
    study : mapping
        Content of the study file.
    cells : Path
        Table that ``rflib aggregate`` wrote.
    published : Path
        Folder of the papers' numbers.
    out_dir : Path
        Folder of the tables; what it held before is removed.

    Raises
    ------
    ValueError
        For unknown types, keys, labels or values; the message names entry and key.
    """
    entries = check_entries("tables", study, TABLES)
    table = read_cells(cells, study)
    claims = check_claims(study, table, published)
    shutil.rmtree(out_dir, ignore_errors=True)
    out_dir.mkdir(parents=True)
    index = []
    for number, entry in enumerate(entries):
        name = f"{slug(number, entry['title'])}.csv"
        make_table(entry, table, published, study).to_csv(out_dir / name, index=False)
        about = {"type": entry["type"], "title": entry["title"], "caption": caption(entry), "file": name}
        index.append({**about, "lower": "metric" not in entry or METRICS[entry["metric"]].lower})
    claims.to_csv(out_dir / "claims.csv", index=False)
    write_index(out_dir, index)


def make_table(
    entry: Mapping[str, Any], cells: pd.DataFrame, published: Path, study: Mapping[str, Any]
) -> pd.DataFrame:
    """Return one table."""
    return _MADE[entry["type"]](entry, cells, published, study)


_MADE: dict[str, Callable[[Any, Any, Any, Any], pd.DataFrame]] = {
    "published": lambda entry, cells, published, study: beside_published(entry, cells, published),
    "significance": lambda entry, cells, published, study: significance(entry, cells, published),
    "grid": lambda entry, cells, published, study: grid(entry, cells),
    "ranking": lambda entry, cells, published, study: ranking(entry, cells),
    "degrees": lambda entry, cells, published, study: degrees(entry, cells),
    "sizes": lambda entry, cells, published, study: sizes(cells),
    "fits": lambda entry, cells, published, study: fits(entry),
    "densities": lambda entry, cells, published, study: densities(entry, study["kernels"]),
}


def grid(entry: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return mean and deviation, a row for each data set, kernel and method, columns for each D (or s)."""
    chosen = select(cells, entry)
    by_s = entry.get("by") == "s"
    x, chosen = ("s_label", at_s(chosen)) if by_s else ("n_components", at_columns(chosen))
    keys = ["dataset", "kernel", "method"]
    statistics = chosen.groupby([*keys, x], dropna=False)["value"].agg(["mean", "std"])
    found = pd.DataFrame(index=pd.MultiIndex.from_frame(chosen[keys].drop_duplicates()))
    values = chosen.drop_duplicates(x).sort_values("s" if by_s else x)[x]
    for value in values:
        name = "exact" if pd.isna(value) else f"s = {value}" if by_s else f"D = {value:g}"
        missing = statistics.index.get_level_values(x).isna()
        at = missing if pd.isna(value) else statistics.index.get_level_values(x) == value
        part = statistics[at].droplevel(x)
        found[name], found[f"{name} std"] = part["mean"], part["std"]
    return found.reset_index().rename(columns={"dataset": "data set"})


def ranking(entry: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return the methods by their mean rank at equal columns, over data sets, kernels and numbers of columns.

    ``strongest on`` and ``weakest on`` name the data set and kernel with the least and the greatest mean rank.
    """
    chosen = at_columns(select(cells, entry))
    chosen = chosen[chosen["method"] != EXACT]
    keys = ["dataset", "kernel", "n_components"]
    means = chosen.groupby([*keys, "method"], sort=False)["value"].mean().reset_index()
    lower = METRICS[entry["metric"]].lower
    groups = means.groupby(keys)["value"]
    means["rank"] = groups.rank(ascending=lower)
    means["ranked"] = groups.transform("size")
    means["won"] = means["value"] == groups.transform("min" if lower else "max")
    found = means.groupby("method", sort=False).agg(
        **{
            "mean rank": ("rank", "mean"),
            "of methods": ("ranked", "mean"),
            "best in": ("won", "sum"),
            "of cells": ("rank", "size"),
        }
    )
    places = means.groupby(["method", "dataset", "kernel"], sort=False)["rank"].mean()
    for column, extreme in (("strongest on", "min"), ("weakest on", "max")):
        found[column] = [_place(places[method], extreme) for method in found.index]
    return found.sort_values("mean rank", kind="stable").reset_index()


def _place(ranks: pd.Series, extreme: str) -> str:
    """Name the data set and kernel of the least or greatest mean rank; no place if all are alike."""
    rank = getattr(ranks, extreme)()
    where = ranks.index[ranks == rank]
    return "all alike" if len(where) == len(ranks) > 1 else f"{', '.join(where[0])} ({rank:.2g})"


def caption(entry: Mapping[str, Any]) -> str:
    """Return an entry's own caption, or what its type shows; the rule of the verdicts always."""
    if "metric" not in entry:
        return str(entry["caption"]).strip()
    what = METRICS[entry["metric"]].text
    own = {
        "published": f"{sentence(what)}: published and measured, mean ± standard deviation.",
        "grid": f"{sentence(what)}: mean ± standard deviation over the repetitions, by "
        f"{'s' if entry.get('by') == 's' else 'columns D'}; bold: the best mean of a data set and kernel.",
        "significance": f"{sentence(what)}: published and measured. A mark says that the method is better than "
        f"{entry.get('baseline')} by a paired t-test over the repetitions (two-sided, 5 %), as in the paper.",
        "ranking": f"Mean rank by {what} among the methods with the same columns D (1 is best), over data sets, "
        "kernels and D, and where that rank is least and greatest. A method is ranked only "
        "where it applies, among so many methods on average.",
    }[entry["type"]]
    text = str(entry.get("caption", own)).strip()
    return f"{text} {RULE}" if entry["type"] == "published" else text
