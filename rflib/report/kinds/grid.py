"""Table: mean and standard deviation by number of columns or s."""

from typing import Any

from rflib.report import keys
from rflib.report.cell_table import EXACT, at_columns, at_s, select
from rflib.report.inference import leaders
from rflib.report.kind import DataFrame, Options, Results, Table
from rflib.report.wording import METRICS, metric_text

_ROW = ["dataset", "kernel", "method"]


@Table.with_options(
    {**keys.SELECTION, "by": keys.S_OR_COLUMNS},
    ("metric",),
    caption=lambda entry: (
        f"{metric_text(entry)}: mean ± standard deviation over the repetitions, by "
        f"{'s' if entry.get('by') == 's' else 'number of columns D'}. For each data set and kernel, the best mean "
        "is bold, and so are the means that are not significantly worse (one-sided t-tests over the repetitions, "
        "paired by seed, with Holm's correction in each group). The exact kernel does not depend on D."
    ),
    bold=lambda entry, results, table: _bold(entry, results, table),
)
def grid(entry: Options, results: Results) -> DataFrame:
    """Mean ± standard deviation for each data set, kernel and method, `by` columns or s. The best are bold."""
    import pandas as pd

    chosen, x = _chosen(entry, results)
    statistics = chosen.groupby([*_ROW, x], dropna=False)["value"].agg(["mean", "std"])
    found = pd.DataFrame(index=pd.MultiIndex.from_frame(chosen[_ROW].drop_duplicates()))
    exact = statistics[statistics.index.get_level_values(x).isna()].droplevel(x)
    for value in chosen.drop_duplicates(x).sort_values("s" if x == "s_label" else x)[x].dropna():
        name = _column(value)
        part = statistics[statistics.index.get_level_values(x) == value].droplevel(x)
        part = pd.concat([part, exact[exact.index.isin(found.index)]])
        found[name], found[f"{name} std"] = part["mean"], part["std"]
    return found.reset_index().rename(columns={"dataset": "data set"})


def _chosen(entry: Options, results: Results) -> tuple[DataFrame, str]:
    """Return the cells, and the column that the table goes by."""
    chosen = select(results.cells, entry)
    return (at_s(chosen), "s_label") if entry.get("by") == "s" else (at_columns(chosen), "n_components")


def _column(value: Any) -> str:
    return f"s = {value}" if isinstance(value, str) else f"D = {value:g}"


def _bold(entry: Options, results: Results, table: DataFrame) -> list[tuple[int, str]]:
    """Return the places of the best mean of each group, and of the means that are not significantly worse."""
    chosen, x = _chosen(entry, results)
    sign = 1 if METRICS[entry["metric"]].lower else -1
    rows = {tuple(key): i for i, key in enumerate(table[["data set", "kernel", "method"]].to_numpy())}
    found = []
    for place, group in chosen[chosen["method"] != EXACT].groupby([*_ROW[:2], x]):
        values = sign * group.pivot(index="method", columns="seed", values="value")
        leading = values.index[leaders(values.to_numpy())]
        found += [(rows[*place[:2], method], _column(place[2])) for method in leading]
    return found
