"""Figures of a study, as SVG: small multiples of a metric against the number of columns or s."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rflib.report.cutoff import draw_cutoff
from rflib.report.options import (
    NAMES,
    check_options,
    published_numbers,
    select,
    slug,
    write_index,
)
from rflib.report.style import RC, line_style

ALLOWED = {
    "lines": ("metric!", "x", "learner", "kernels", "datasets", "methods", "published", "log", "floor"),
    "cutoff": ("a!", "p!", "dimensions!", "cutoffs!", "caption!"),
}
_WIDTH, _HEIGHT = 3.3, 2.6


def write_figures(study: Mapping[str, Any], cells: Path, published: Path, out_dir: Path) -> None:
    """Draw each figure of the study as SVG, and write an index of them. Equal cells give equal bytes.

    Raises
    ------
    ValueError
        For unknown types, keys or metrics; the message names the entry.
    """
    table = pd.read_parquet(cells)
    shutil.rmtree(out_dir, ignore_errors=True)
    out_dir.mkdir(parents=True)
    index = []
    for number, entry in enumerate(study.get("figures", [])):
        check_options("figure", entry, ALLOWED)
        name = slug(number, entry["title"])
        with matplotlib.rc_context(rc=RC):  # type: ignore[arg-type]
            figure = draw_cutoff(entry) if entry["type"] == "cutoff" else draw(entry, table, published)
            figure.savefig(out_dir / f"{name}.svg", metadata={"Date": None, "Creator": "rflib"})
        index.append({"title": entry["title"], "caption": caption(entry), "file": f"{name}.svg"})
    write_index(out_dir, index)


def draw(entry: Mapping[str, Any], cells: pd.DataFrame, published: Path) -> Figure:
    """Return a figure with a panel for each kernel (rows) and data set (columns), and one legend."""
    chosen = select(cells, entry)
    kernels, datasets = (list(dict.fromkeys(chosen[column])) for column in ("kernel", "dataset"))
    shape = max(len(kernels), 1), max(len(datasets), 1)
    figure = Figure(figsize=(_WIDTH * shape[1] + 1.5, _HEIGHT * shape[0]), layout="constrained")
    panels = figure.subplots(*shape, squeeze=False)
    numbers = published_numbers(published, entry["published"]["paper"]) if "published" in entry else None
    handles: dict[str, Any] = {}
    for i, kernel in enumerate(kernels):
        for j, dataset in enumerate(datasets):
            axes = panels[i, j]
            inside = chosen[(chosen["kernel"] == kernel) & (chosen["dataset"] == dataset)]
            _panel(axes, entry, inside, handles)
            if numbers is not None:
                _published(axes, entry, numbers, kernel, dataset, inside, handles)
            axes.set_title(f"{dataset}, {kernel}")
            if i == len(kernels) - 1:
                axes.set_xlabel(NAMES[entry.get("x", "n_components")])
            if j == 0:
                axes.set_ylabel(NAMES[entry["metric"]].replace(" (", "\n("))
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    return figure


def _panel(axes: Axes, entry: Mapping[str, Any], cells: pd.DataFrame, handles: dict[str, Any]) -> None:
    x = entry.get("x", "n_components")
    for method, group in cells.groupby("method", sort=False):
        if method == "exact kernel":
            mean = group["value"].mean()
            handles.setdefault(
                "exact kernel", axes.axhline(mean, color="#555555", linewidth=1, linestyle=(0, (6, 3)))
            )
            continue
        statistics = group.groupby(x)["value"].agg(["mean", "std", "size"])
        spread = 1.96 * statistics["std"].fillna(0) / np.sqrt(statistics["size"])
        line = axes.errorbar(
            statistics.index,
            statistics["mean"],
            yerr=spread,
            capsize=2,
            elinewidth=0.8,
            **line_style(str(method)),
        )
        handles.setdefault(str(method), line)
    if len(cells):
        ticks = sorted(cells[x].dropna().unique())
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        if entry.get("log", False):
            axes.set_yscale("log")
            axes.set_ylim(bottom=max(axes.get_ylim()[0], entry.get("floor", 0.0)))


def _published(
    axes: Axes,
    entry: Mapping[str, Any],
    numbers: pd.DataFrame,
    kernel: str,
    dataset: str,
    cells: pd.DataFrame,
    handles: dict[str, Any],
) -> None:
    """Draw the published means as hollow markers at the study's own x of the same s."""
    options = entry["published"]
    x = entry.get("x", "n_components")
    theirs = numbers[(numbers["table"] == options["table"]) & (numbers["dataset"] == dataset)]
    theirs = theirs[theirs["kernel"] == options["kernels"].get(kernel)]
    for label, name in options["methods"].items():
        at = cells[cells["method"] == label].drop_duplicates("s_label").set_index("s_label")[x]
        cell = theirs[(theirs["method"] == name) & theirs["s"].astype(str).isin(at.index)]
        if len(cell):
            style = line_style(label) | {"linestyle": "none", "markerfacecolor": "white", "markersize": 8}
            style["zorder"] = 1
            line = axes.errorbar(
                at[cell["s"].astype(str)], cell["mean"], yerr=cell["std"], alpha=0.7, **style
            )
            handles.setdefault(f"{name}, published", line)


def caption(entry: Mapping[str, Any]) -> str:
    """Return an entry's own caption, or what it shows."""
    if "caption" in entry:
        return str(entry["caption"])
    what = NAMES[entry["metric"]]
    text = f"{what[0].upper()}{what[1:]} against {NAMES[entry.get('x', 'n_components')]}; "
    text += "means with 95 % confidence intervals."
    if "floor" in entry:
        text += f" The axis ends at {entry['floor']:g}; lines that leave it go on to rounding error."
    return text + (" Hollow: published mean and standard deviation." if "published" in entry else "")
