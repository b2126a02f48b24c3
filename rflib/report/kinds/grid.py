"""Table: mean and standard deviation by number of columns or s."""

from rflib.report import keys
from rflib.report.cell_table import at_columns, at_s, select
from rflib.report.kind import DataFrame, Options, Results, Table
from rflib.report.wording import metric_text


@Table.with_options(
    {**keys.SELECTION, "by": keys.S_OR_COLUMNS},
    ("metric",),
    caption=lambda entry: (
        f"{metric_text(entry)}: mean ± standard deviation over the repetitions, by "
        f"{'s' if entry.get('by') == 's' else 'number of columns D'}. The best mean for each data set and kernel "
        "is bold; others may not differ from it significantly."
    ),
    best_is_bold=True,
)
def grid(entry: Options, results: Results) -> DataFrame:
    """Mean ± standard deviation for each data set, kernel and method, `by` columns or s. The best mean is bold."""
    import pandas as pd

    chosen = select(results.cells, entry)
    by_s = entry.get("by") == "s"
    x, chosen = ("s_label", at_s(chosen)) if by_s else ("n_components", at_columns(chosen))
    row = ["dataset", "kernel", "method"]
    statistics = chosen.groupby([*row, x], dropna=False)["value"].agg(["mean", "std"])
    found = pd.DataFrame(index=pd.MultiIndex.from_frame(chosen[row].drop_duplicates()))
    values = chosen.drop_duplicates(x).sort_values("s" if by_s else x)[x]
    for value in values:
        name = "exact" if pd.isna(value) else f"s = {value}" if by_s else f"D = {value:g}"
        missing = statistics.index.get_level_values(x).isna()
        at = missing if pd.isna(value) else statistics.index.get_level_values(x) == value
        part = statistics[at].droplevel(x)
        found[name], found[f"{name} std"] = part["mean"], part["std"]
    return found.reset_index().rename(columns={"dataset": "data set"})
