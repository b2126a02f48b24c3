"""Table: a metric of all methods side by side, with a row for each data set."""

from __future__ import annotations

from rflib.report import keys
from rflib.report.cell_table import EXACT, at_columns, select
from rflib.report.inference import leaders
from rflib.report.kind import DataFrame, Options, Results, Table
from rflib.report.wording import METRICS, metric_text


@Table.with_options(
    keys.SELECTION,
    ("metric",),
    caption=lambda entry: (
        f"{metric_text(entry)}: mean ± standard deviation over the repetitions. In each row, the best mean is "
        "bold, and so are the means that are not significantly worse (one-sided t-tests over the repetitions, "
        "paired by seed, with Holm's correction). An empty place was not run."
    ),
    bold=lambda entry, results, table: _bold(entry, results, table),
)
def by_data_set(entry: Options, results: Results) -> DataFrame:
    """Mean ± standard deviation of each method, side by side, for each data set. The best of a row are bold."""
    import pandas as pd

    chosen = _chosen(entry, results)
    statistics = chosen.groupby(["dataset", "method"], sort=False)["value"].agg(["mean", "std"])
    found = pd.DataFrame(index=pd.Index(dict.fromkeys(chosen["dataset"]), name="data set"))
    for method in dict.fromkeys(chosen["method"]):
        part = statistics.xs(method, level="method")
        found[method], found[f"{method} std"] = part["mean"], part["std"]
    return found.reset_index()


def _chosen(entry: Options, results: Results) -> DataFrame:
    chosen = at_columns(select(results.cells, entry))
    return chosen[chosen["method"] != EXACT]


def _bold(entry: Options, results: Results, table: DataFrame) -> list[tuple[int, str]]:
    """Return the places of the best mean of each row, and of the means that are not significantly worse."""
    sign = 1 if METRICS[entry["metric"]].lower else -1
    chosen = _chosen(entry, results)
    found = []
    for row, name in enumerate(table["data set"]):
        group = chosen[chosen["dataset"] == name]
        values = sign * group.pivot(index="method", columns="seed", values="value")
        found += [(row, method) for method in values.index[leaders(values.to_numpy())]]
    return found
