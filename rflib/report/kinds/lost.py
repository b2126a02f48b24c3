"""Table: the cells in which a method is not the best, and the winners."""

from rflib.report import keys
from rflib.report.cell_table import at_columns, select
from rflib.report.kind import DataFrame, Options, Results, Series, Table
from rflib.report.kinds.rivals import METHODS, encounters, judged, ratios
from rflib.report.wording import METRICS, metric_text

_CELL = ["dataset", "kernel", "n_components"]


def _caption(entry: Options) -> str:
    text = (
        f"{metric_text(entry)}: the cells in which another method has a better mean than {entry['method']}, the "
        "greatest loss first. Beyond doubt: by one-sided t-tests over the repetitions with Holm's correction "
        "over all cells and methods."
    )
    return text + (f" Last: the mean of {entry['chooser']}, and what it took." if "chooser" in entry else "")


@Table.with_options(
    {
        **{**keys.METRIC, **keys.PLACES, "method": keys.label("method"), "than": METHODS},
        "chooser": keys.label("method"),
    },
    ("metric", "method", "than"),
    caption=_caption,
)
def lost(entry: Options, results: Results) -> DataFrame:
    """The cells in which one of `than` has a better mean than `method`, and what a `chooser` took there."""
    import pandas as pd

    own, others, _ = encounters({**entry, "at": "columns"}, results)
    sign = 1 if METRICS[entry["metric"]].lower else -1
    judgement = judged(sign, own, others)
    table = pd.DataFrame({"times": 1 / ratios(sign, own, others), "beyond doubt": judgement.refuted})
    table["beyond doubt"] = table["beyond doubt"].map({True: "yes", False: "no"})
    table[entry["method"]], table["its value"] = own.mean(axis=1), others.mean(axis=1)
    table = table[table["times"] > 1].sort_values("times", ascending=False, kind="stable").reset_index()
    table = table.drop_duplicates(_CELL).astype({"n_components": int})
    shown = [*_CELL, entry["method"], "rival", "its value", "times", "beyond doubt"]
    if "chooser" in entry:
        chosen = at_columns(select(results.cells, {**entry, "methods": [entry["chooser"]]}))
        cells = chosen.groupby(_CELL, sort=False)
        means = cells["value"].mean().rename(entry["chooser"]).reset_index()
        table = table.merge(means, how="left", on=_CELL)
        shown.append(entry["chooser"])
        if "took" in chosen and chosen["took"].notna().any():
            took = cells["took"].agg(_counted).rename("it took").reset_index()
            table, shown = table.merge(took, how="left", on=_CELL), [*shown, "it took"]
    return table[shown].rename(columns={"dataset": "data set", "n_components": "D", "rival": "best other"})


def _counted(types: Series) -> str:
    """What was taken, the most frequent first, with how often where it was not always the same."""
    counts = types.dropna().value_counts()
    if len(counts) == 1:
        return str(counts.index[0])
    return ", ".join(f"{name} ({count})" for name, count in counts.items())
