"""Table: the methods by their mean rank at the same number of columns."""

from rflib.report import keys
from rflib.report.cell_table import EXACT, at_columns, select
from rflib.report.kind import DataFrame, Options, Results, Series, Table
from rflib.report.wording import METRICS


@Table.with_options(
    keys.SELECTION,
    ("metric",),
    caption=lambda entry: (
        f"Mean rank by {METRICS[entry['metric']].text} among the methods with the same number of columns D (1 is "
        "the best), over data sets, kernels and D. A method is ranked only where it applies; 'methods ranked' is "
        "the average number of methods in these comparisons. The last columns name the data set and kernel with "
        "its best and its worst mean rank."
    ),
)
def ranking(entry: Options, results: Results) -> DataFrame:
    """Mean rank at the same number of columns, the number of methods ranked, and the best and worst rank."""
    chosen = at_columns(select(results.cells, entry))
    chosen = chosen[chosen["method"] != EXACT]
    place = ["dataset", "kernel", "n_components"]
    means = chosen.groupby([*place, "method"], sort=False)["value"].mean().reset_index()
    lower = METRICS[entry["metric"]].lower
    groups = means.groupby(place)["value"]
    means["rank"] = groups.rank(ascending=lower)
    means["ranked"] = groups.transform("size")
    means["won"] = means["value"] == groups.transform("min" if lower else "max")
    ranks = {"mean rank": ("rank", "mean"), "methods ranked": ("ranked", "mean")}
    counts = {"times best": ("won", "sum"), "comparisons": ("rank", "size")}
    found = means.groupby("method", sort=False).agg(**ranks, **counts)
    places = means.groupby(["method", "dataset", "kernel"], sort=False)["rank"].mean()
    for column, extreme in (("strongest on", "min"), ("weakest on", "max")):
        found[column] = [_place(places[method], extreme) for method in found.index]
    return found.sort_values("mean rank", kind="stable").reset_index()


def _place(ranks: Series, extreme: str) -> str:
    """Return the data set and kernel of the least or greatest mean rank, unless all ranks are equal."""
    rank = getattr(ranks, extreme)()
    where = ranks.index[ranks == rank]
    return "all equal" if len(where) == len(ranks) > 1 else f"{', '.join(where[0])} ({rank:.2g})"
