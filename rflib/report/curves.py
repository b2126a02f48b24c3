"""Figure: what a cell is along a curve (ranks of eigenvalues, examples seen), a panel for each data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rflib.report.cells import select
from rflib.report.options import METRICS, sentence
from rflib.report.style import line_style

_PLACES = {"log_eigenvalue_ratio": "rank of the eigenvalue"}
_DISTINCT_MARKS = 12


def draw_curves(entry: Mapping[str, Any], cells: pd.DataFrame) -> Figure:
    """Return the mean over repetitions along the curve, with the range from the least to the greatest shaded.

    Of several numbers of columns the largest is shown, or ``columns`` of the entry. A value that is not finite,
    as the log ratio where K_hat lacks rank, ends the line.
    """
    chosen = select(cells, entry, curves=True)
    if "columns" in entry:
        chosen = chosen[chosen["n_components"] == entry["columns"]]
    elif len(chosen):
        largest = chosen.groupby(["kernel", "dataset", "method"])["n_components"].transform("max")
        chosen = chosen[chosen["n_components"] == largest]
    places = list(dict.fromkeys(chosen["dataset"]))
    several_kernels = chosen["kernel"].nunique() > 1
    figure = Figure(figsize=(4.4 * max(1, len(places)), 3.9), layout="constrained")
    if not places:
        figure.text(0.5, 0.5, "No results yet", ha="center", va="center", color="#555555", fontsize=12)
        return figure
    handles: dict[str, Any] = {}
    for axes, dataset in zip(figure.subplots(1, len(places), squeeze=False).ravel(), places, strict=True):
        inside = chosen[chosen["dataset"] == dataset]
        for (method, kernel), group in inside.groupby(["method", "kernel"], sort=False):
            label = f"{method}, {kernel}" if several_kernels else str(method)
            statistics = group.groupby("at")["value"].agg(["mean", "min", "max"])
            statistics = statistics.where(np.isfinite(statistics["mean"]))
            style = line_style(label) | {"markevery": max(1, len(statistics) // _DISTINCT_MARKS)}
            (line,) = axes.plot(statistics.index, statistics["mean"], **style)
            axes.fill_between(
                statistics.index, statistics["min"], statistics["max"], color=line.get_color(), alpha=0.15
            )
            handles.setdefault(label, line)
        if entry.get("log_x", False):
            axes.set_xscale("log")
        axes.set(title=dataset, xlabel=_PLACES.get(entry["metric"], "training examples seen"))
    figure.axes[0].set_ylabel(sentence(METRICS[entry["metric"]].text))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
    return figure
