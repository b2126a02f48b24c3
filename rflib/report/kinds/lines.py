"""Figure: a metric by number of columns, s or seconds, with a panel for each kernel and data set."""

from collections.abc import Sequence
from itertools import product
from math import ceil, log10
from pathlib import Path
from typing import Any

import numpy as np

from rflib.experiment.grids import NO_KERNEL
from rflib.report import keys
from rflib.report.cell_table import BLOCK, EXACT, at_columns, at_s, medians, select
from rflib.report.kind import DataFrame, Drawing, Figure, Options, Results, Series
from rflib.report.kinds.published import published_numbers
from rflib.report.marks import tag, tag_method, tag_points
from rflib.report.style import FRONT, REFERENCE, hollow, legend_below, line_style
from rflib.report.wording import AXES, METRICS, metric_text

_MEMORY = "peak_memory"
_SIZES = ("n_components", "s")
# Parts of the distance to the next size: from a point to the one beside it, and all points of one size at most.
_APART, _TOGETHER = 0.05, 0.4
_WIDTH, _HEIGHT, _LEGEND_ROW = 3.3, 2.5, 0.2
_LEGEND_ENTRY, _LEGEND_MARKER, _LETTER = 1.45, 0.55, 0.068
# Part of an axis that a digit takes.
_DIGIT_WIDTH = 0.038
# Panels in a row for so many panels; for more, the most.
_ABREAST = {0: 1, 1: 1, 2: 2, 3: 3, 4: 2}
# The most data sets of which one row of panels is legible on a page, and the panels in a row for more.
_DATASETS_ABREAST, _WRAPPED = 5, 4
_Lines = dict[str, Any]


def _caption(entry: Options) -> str:
    where = "lower" if METRICS[entry["metric"]].lower else "higher"
    text = f"{metric_text(entry)}; {where} is better. "
    text += "Points are means with 95 % confidence intervals over the repetitions."
    if entry.get("x", "n_components") in _SIZES:
        text += " Those at one size stand side by side, so that their intervals can be told apart."
    else:
        text += " Their seconds or memory are medians."
    if "learner" in entry:
        text += " A dashed line shows the learner with the exact kernel, where the study has it."
    if entry.get("front", False):
        text += " The broad grey line is the Pareto front: the best mean in the panel at no more cost."
    if "floor" in entry:
        text += f" The axis goes no lower than {entry['floor']:g}; lines that leave it continue to rounding error."
    return text + (
        " Hollow markers show the published mean ± standard deviation." if "published" in entry else ""
    )


@Figure.with_options(
    {
        **keys.SELECTION,
        "x": {"enum": list(AXES)},
        "log": keys.FLAG,
        "front": keys.FLAG,
        "floor": keys.POSITIVE,
        "levels": keys.labels("method"),
        "published": keys.mapping(
            keys.NUMBERS, keys.NUMBERS_REQUIRED, "a mapping that names published numbers"
        ),
        "pooled": keys.TEXT,
    },
    ("metric",),
    caption=_caption,
    switch=lambda entry, results: _horizontal(entry, results.cells),
)
def lines(entry: Options, results: Results, figure: Drawing) -> None:
    """Means with 95 % confidence intervals, with a panel for each kernel and data set and a line for each method.

    With several data sets and several kernels, each kernel has a row of panels, unless each has a data set of its
    own; otherwise, the panels fill the rows. Those of many data sets do so too, with the kernels of a data set
    side by side. ``levels`` are estimators, which have no columns and no kernel: each is a level in the panels of
    its data set. With ``pooled``, all data sets share one panel, which has that name. With ``front``, a grey line
    is the best mean that any method of the panel reaches at no larger x. There is one legend below the panels.
    """
    chosen = _with_levels(entry, results.cells, _points(entry, results.cells))
    if "pooled" in entry:
        chosen = chosen.assign(dataset=entry["pooled"])
    places, columns = _places(chosen)
    rows = ceil(len(places) / columns) or 1
    handles: _Lines = {}
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for i, axes in enumerate(panels):
        place = places[i] if i < len(places) else None
        if place is None:
            axes.set_axis_off()
            continue
        inside = chosen[(chosen["kernel"] == place[0]) & (chosen["dataset"] == place[1])]
        if entry.get("front", False):
            _front(axes, inside, METRICS[entry["metric"]].lower, handles)
        inside = inside.assign(shift=inside["method"].map(_shifts(entry, inside)).fillna(1.0))
        _panel(axes, inside, handles)
        if "published" in entry:
            _published(axes, entry, results.published, place, inside, handles)
        _axes(axes, entry, inside)
        axes.set(
            title=", ".join(p for p in place[::-1] if p != NO_KERNEL), ylabel=METRICS[entry["metric"]].axis
        )
        tag(axes, kernel=place[0], dataset=place[1], spread="95 % confidence interval")
    _finish(figure, handles, rows, columns)


def _places(chosen: DataFrame) -> tuple[Sequence[tuple[str, str] | None], int]:
    """Return the kernel and data set of each panel, None where the grid is empty, and the panels in a row."""
    kernels, datasets = (list(dict.fromkeys(chosen[column])) for column in ("kernel", "dataset"))
    there = list(dict.fromkeys(zip(chosen["kernel"], chosen["dataset"], strict=True)))
    grid = [pair if pair in there else None for pair in product(kernels, datasets)]
    if min(len(kernels), len(datasets)) <= 1 or len(there) == max(len(kernels), len(datasets)):
        filled = [pair for pair in grid if pair]
        return filled, _ABREAST.get(len(filled), max(_ABREAST.values()))
    if len(datasets) <= _DATASETS_ABREAST:
        return grid, len(datasets)
    return sorted(there, key=lambda pair: datasets.index(pair[1])), _WRAPPED


def _finish(figure: Drawing, handles: _Lines, rows: int, columns: int) -> None:
    """Set the size and add the legend."""
    width = max(_WIDTH * columns, 4.2)
    longest = max(map(len, handles), default=0)
    abreast = max(1, int(width / max(_LEGEND_ENTRY, _LEGEND_MARKER + _LETTER * longest)))
    legend_rows = ceil(len(handles) / abreast)
    figure.set_size_inches(width, _HEIGHT * rows + _LEGEND_ROW * legend_rows)
    if handles:
        legend_below(figure, handles, abreast)


def _points(entry: Options, cells: DataFrame) -> DataFrame:
    """Return the chosen cells with the column ``x``. Seconds and memory are medians over the repetitions."""
    x = entry.get("x", "n_components")
    chosen = select(cells, entry)
    if x == "s":
        return at_s(chosen).assign(x=lambda table: table["s"])
    chosen = at_columns(chosen)
    if x == "n_components":
        return chosen.assign(x=chosen["n_components"])
    return chosen.join(_costs(cells, x).rename("x"), on=BLOCK)


def _with_levels(entry: Options, cells: DataFrame, chosen: DataFrame) -> DataFrame:
    """Return the chosen cells with those of each level at every x of its data set's panels, but at no cost."""
    import pandas as pd

    levels = cells[(cells["metric"] == entry["metric"]) & cells["method"].isin(entry.get("levels", []))]
    if levels.empty or entry.get("x", "n_components") not in _SIZES:
        return chosen
    places = chosen[["dataset", "kernel", "x", "n_components"]].drop_duplicates()
    levels = levels.drop(columns=["kernel", "n_components"]).merge(places, on="dataset")
    return pd.concat([chosen, levels], ignore_index=True)


def _costs(cells: DataFrame, x: str) -> Series:
    """Return the median seconds, or the median of the peak memory in MB, by `BLOCK`."""
    if x == _MEMORY:
        return cells.groupby(BLOCK)[_MEMORY].median() / 1e6
    return medians(cells, x)


def _horizontal(entry: Options, cells: DataFrame) -> list[str]:
    """Return what the horizontal axis can show, beginning with what the entry says.

    A job has one peak of its memory, so that memory is shown only where most lines have a job for each number of
    columns.
    """
    own = entry.get("x", "n_components")
    chosen = select(cells, entry)
    chosen = chosen[chosen["method"] != EXACT]
    there = {"n_components"} if chosen["n_components"].any() else {own}
    own_cells = cells[cells["method"].isin(chosen["method"].unique())]
    there |= {x for x in METRICS if x in AXES and len(medians(own_cells, x))}
    there |= {"s"} & {"s" for s in chosen["s"] if s > 0}
    if _MEMORY in cells and len(chosen):
        sizes = _costs(chosen, _MEMORY).groupby(BLOCK[:-1]).agg(["nunique", "size"])
        sizes = sizes[sizes["size"] > 1]
        there |= {_MEMORY} if len(sizes) and (sizes["nunique"] == sizes["size"]).mean() > 0.5 else set()
    return [own, *(x for x in AXES if x in there - {own})]


def _shifts(entry: Options, cells: DataFrame) -> dict[str, float]:
    """Return the factors on x by which the points of each method of a panel stand beside those of the others."""
    sizes, methods = np.unique(cells["x"].dropna()), [m for m in cells["method"].unique() if m != EXACT]
    if len(sizes) < 2 or entry.get("x", "n_components") not in _SIZES:
        return {}
    half = min(_APART * (len(methods) - 1), _TOGETHER) / 2
    factors = (sizes[1:] / sizes[:-1]).min() ** np.linspace(-half, half, len(methods))
    return dict(zip(methods, factors, strict=True))


def _panel(axes: Any, cells: DataFrame, handles: _Lines) -> None:
    """Draw a line with confidence intervals for each method, and a level for the exact kernel."""
    for method, group in cells.groupby("method", sort=False):
        if method == EXACT:
            level = axes.axhline(float(group["value"].mean()), **REFERENCE)
            tag_method([level], EXACT)
            handles.setdefault(EXACT, level)
            continue
        points = group.groupby("x")
        order = points["n_components"].median().sort_values(kind="stable").index
        found = points["value"].agg(["mean", "std", "size"]).loc[order]
        half = 1.96 * found["std"].fillna(0) / np.sqrt(found["size"])
        style = {**line_style(str(method)), "elinewidth": 0.8}
        shift = group["shift"].iloc[0]
        line = axes.errorbar(found.index * shift, found["mean"], half, **style)
        tag_method(line.get_children(), str(method))
        tag(line[0], shift=f"{shift:.6g}")
        low, high = found["mean"] - half, found["mean"] + half
        tag_points(line, found.index, found["mean"], low, high, found["size"])
        handles.setdefault(str(method), line)


def _front(axes: Any, cells: DataFrame, lower: bool, handles: _Lines) -> None:
    """Draw the best mean that any method reaches at no larger x."""
    points = cells[cells["method"] != EXACT].groupby(["method", "n_components"])[["x", "value"]].mean()
    points = points.sort_values("x", kind="stable")
    best = points["value"].cummin() if lower else points["value"].cummax()
    (line,) = axes.plot(points["x"], best, **FRONT)
    handles.setdefault("Pareto front", line)


def _published(axes: Any, entry: Options, folder: Path, at: Any, ours: DataFrame, handles: _Lines) -> None:
    """Draw the published means as hollow markers at the study's own x of the same s."""
    options = entry["published"]
    numbers = published_numbers(folder, options["paper"], options["table"], entry["metric"])
    kernel, dataset = options["kernels"].get(at[0]), options.get("datasets", {}).get(at[1], at[1])
    theirs = numbers[(numbers["dataset"] == dataset) & (numbers["kernel"] == kernel)]
    ours = at_s(ours)
    for label, name in options["methods"].items():
        own = ours[ours["method"] == label]
        x = own.groupby("s_label")["x"].first()
        cell = theirs[(theirs["method"] == name) & theirs["s"].isin(x.index)]
        if len(cell):
            style = {**hollow(line_style(label)), "alpha": 0.7, "elinewidth": 0.8, "zorder": 1}
            shift = own["shift"].iloc[0]
            line = axes.errorbar(x[cell["s"]] * shift, cell["mean"], cell["std"], **style)
            tag_method(line.get_children(), label)
            low, high = (cell["mean"] + sign * cell["std"] for sign in (-1, 1))
            tag_points(line, x[cell["s"]], cell["mean"], low, high)
            tag(line[0], spread="published, ± standard deviation", shift=f"{shift:.6g}")
            handles.setdefault(f"{label}, published", line)


def _axes(axes: Any, entry: Options, cells: DataFrame) -> None:
    """Label and scale the axes: x by powers of two, or decades for costs; y logarithmic if the entry says so."""
    x = entry.get("x", "n_components")
    axes.set_xlabel(AXES[x])
    ticks = sorted(cells["x"].dropna().unique())
    if ticks and (x in METRICS or x == _MEMORY):
        _logarithmic(axes, "x")
    elif ticks:
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, _labels(ticks))
        axes.minorticks_off()
    if entry.get("log", False):
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], entry.get("floor", 0.0)))
        _logarithmic(axes, "y")


def _labels(ticks: list[float]) -> list[str]:
    """Return the labels of a logarithmic axis; those too near the next one to be legible are empty."""
    width = _DIGIT_WIDTH * np.log(ticks[-1] / ticks[0])
    labels, following = [], ("", np.inf)
    for tick in reversed(ticks):
        label, (other, place) = f"{tick:g}", following
        apart = np.log(place / tick) > width * (len(label) + len(other)) / 2
        labels.append(label if apart else "")
        following = (label, tick) if apart else following
    return labels[::-1]


def _logarithmic(axes: Any, which: str) -> None:
    """Make an axis logarithmic, with ticks 1, 2, 5 over few decades, and plain numbers where they are short."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    low, high = getattr(axes, f"get_{which}lim")()
    axis = getattr(axes, f"{which}axis")
    decades = log10(high / low)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.2 else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
