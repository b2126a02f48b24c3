"""Figure: a metric along a curve within each cell (ranks of eigenvalues, examples seen)."""

from typing import Any

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import select
from rflib.report.kind import DataFrame, Drawing, Figure, Options, Results
from rflib.report.marks import tag, tag_points
from rflib.report.style import hollow, legend_below, line_style
from rflib.report.wording import METRICS, metric_text

_PLACES = {"log_eigenvalue_ratio": "rank of the eigenvalue", "accuracy": "training examples seen"}
_DISTINCT_MARKS = 12
_LEAST_WIDTH = 6.0
_AXIS = {"log_x": keys.FLAG, "x_label": keys.TEXT}


@Figure.with_options(
    {**keys.SELECTION, "columns": keys.COUNT, **_AXIS, "marks": keys.label("learner")},
    ("metric",),
    caption=lambda entry: (
        f"{metric_text(entry)}. Lines are means over the repetitions; the shaded bands span the least to the "
        "greatest value."
    ),
)
def curves(entry: Options, results: Results, figure: Drawing) -> None:
    """A metric along a curve within each cell (eigenvalue ranks, examples seen), with a panel for each data set.

    The figure shows the mean over the repetitions and the range from the least to the greatest value. The cells
    are those of each method's largest number of columns, or with ``columns`` those of the largest number up to
    that; if it is smaller, as in a reduced run, the panel says so. A value that is not finite, such as the log
    ratio where K_hat lacks rank, ends the line. With ``marks``, large hollow markers show the curve of another
    learner.
    """
    chosen = _largest(entry, select(results.cells, entry, curves=True))
    marked = chosen.iloc[:0]
    if "marks" in entry:
        marked = _largest(entry, select(results.cells, {**entry, "learner": entry["marks"]}, curves=True))
    places = list(dict.fromkeys(chosen["dataset"]))
    width = max(_LEAST_WIDTH, 4.4 * len(places))
    figure.set_size_inches(width, 3.9)
    if not places:
        return
    several_kernels = chosen["kernel"].nunique() > 1
    handles: dict[str, Any] = {}
    for axes, dataset in zip(figure.subplots(1, len(places), squeeze=False).ravel(), places, strict=True):
        inside = chosen[chosen["dataset"] == dataset]
        for (method, kernel), group in inside.groupby(["method", "kernel"], sort=False):
            name = f"{method}, {kernel}" if several_kernels else str(method)
            line = _statistics(group)
            style = line_style(name)
            every = max(1, len(line) // _DISTINCT_MARKS)
            (handle,) = axes.plot(line["at"], line["mean"], **(style | {"markevery": every}))
            band = axes.fill_between(line["at"], line["min"], line["max"], color=style["color"], alpha=0.15)
            for part in (handle, band):
                tag(part, method=str(method), kernel=str(kernel), line=name)
            tag_points(handle, line["at"], line["mean"], line["min"], line["max"], line["n"])
            handles.setdefault(name, handle)
            same = marked[["dataset", "method", "kernel"]] == [dataset, method, kernel]
            if same.all(axis=1).any():
                points = _statistics(marked[same.all(axis=1)])
                (marks,) = axes.plot(points["at"], points["mean"], **hollow(style))
                tag(marks, method=str(method), kernel=str(kernel), line=name)
        if entry.get("log_x", False):
            axes.set_xscale("log")
        used = inside["n_components"].max()
        reduced = f", here D = {used:g}" if used < entry.get("columns", 0) else ""
        place = _PLACES.get(entry["metric"], "place on the curve")
        tag(axes, dataset=dataset, spread="range of the repetitions")
        axes.set(
            title=dataset + reduced, xlabel=entry.get("x_label", place), ylabel=METRICS[entry["metric"]].axis
        )
    legend_below(figure, handles, int(width / 1.7))


def _largest(entry: Options, cells: DataFrame) -> DataFrame:
    """Keep the cells of the largest number of columns up to the entry's, or of each method's largest one."""
    if "columns" in entry:
        within = cells[cells["n_components"] <= entry["columns"]]
        return within[within["n_components"] == within["n_components"].max()]
    largest = cells.groupby(["kernel", "dataset", "method"])["n_components"].transform("max")
    return cells[cells["n_components"] == largest]


def _statistics(curves: DataFrame) -> DataFrame:
    """Mean, least and greatest value at the first, second ... place of each curve, and the median place."""
    nth = curves.groupby("seed")["at"].rank(method="first")
    found = curves.groupby(nth)["value"].agg(["mean", "min", "max"])
    found["at"] = curves.groupby(nth)["at"].median()
    found["n"] = curves.groupby(nth).size()
    return found.where(np.isfinite(found["mean"]))
