"""Table: the methods by their mean rank at equal columns."""

from rflib.report import keys
from rflib.report.cell_table import EXACT, at_columns, select
from rflib.report.kind import DataFrame, Options, Results, Series, Table
from rflib.report.wording import METRICS


@Table.with_options(
    keys.SELECTION,
    ("metric",),
    caption=lambda entry: (
        f"Mean rank by {METRICS[entry['metric']].text} among the methods with the same columns D (1 is best), "
        "over data sets, kernels and D, and where that rank is least and greatest. A method is ranked only where "
        "it applies, among so many methods on average."
    ),
)
def ranking(entry: Options, results: Results) -> DataFrame:
    """Mean rank at equal columns and among how many methods, where it is least and greatest, and cells won."""
    chosen = at_columns(select(results.cells, entry))
    chosen = chosen[chosen["method"] != EXACT]
    cell = ["dataset", "kernel", "n_components"]
    means = chosen.groupby([*cell, "method"], sort=False)["value"].mean().reset_index()
    lower = METRICS[entry["metric"]].lower
    groups = means.groupby(cell)["value"]
    means["rank"] = groups.rank(ascending=lower)
    means["ranked"] = groups.transform("size")
    means["won"] = means["value"] == groups.transform("min" if lower else "max")
    ranks = {"mean rank": ("rank", "mean"), "of methods": ("ranked", "mean")}
    counts = {"best in": ("won", "sum"), "of cells": ("rank", "size")}
    found = means.groupby("method", sort=False).agg(**ranks, **counts)
    places = means.groupby(["method", "dataset", "kernel"], sort=False)["rank"].mean()
    for column, extreme in (("strongest on", "min"), ("weakest on", "max")):
        found[column] = [_place(places[method], extreme) for method in found.index]
    return found.sort_values("mean rank", kind="stable").reset_index()


def _place(ranks: Series, extreme: str) -> str:
    """Name the data set and kernel of the least or greatest mean rank; no place if all are alike."""
    rank = getattr(ranks, extreme)()
    where = ranks.index[ranks == rank]
    return "all alike" if len(where) == len(ranks) > 1 else f"{', '.join(where[0])} ({rank:.2g})"
