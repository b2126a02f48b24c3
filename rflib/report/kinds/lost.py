"""Table: the comparisons in which a method is not the best, and the winners."""

from rflib.report import keys
from rflib.report.cell_table import at_columns, select
from rflib.report.kind import DataFrame, Options, Results, Series, Table
from rflib.report.kinds.rivals import METHODS, encounters, floored, judged, ratios
from rflib.report.wording import METRICS, metric_text

_PLACE = ["dataset", "kernel", "n_components"]


def _caption(entry: Options) -> str:
    text = (
        f"{metric_text(entry)}: the comparisons in which another method has a better mean than {entry['method']}, "
        "with the greatest loss first. The ratio is that of the two means. A loss is significant by a one-sided "
        "t-test over the repetitions, with Holm's correction over all losses (and twice their p values)."
    )
    if "chooser" in entry:
        text += f" The last columns show the mean of {entry['chooser']} and the map that it chose."
    return text + floored(entry)


@Table.with_options(
    {
        **{**keys.METRIC, **keys.PLACES, "method": keys.label("method"), "than": METHODS},
        "chooser": keys.label("method"),
        "floor": keys.POSITIVE,
    },
    ("metric", "method", "than"),
    caption=_caption,
)
def lost(entry: Options, results: Results) -> DataFrame:
    """The comparisons in which one of `than` has a better mean than `method`, and what a `chooser` chose there."""
    import pandas as pd

    own, others = encounters({**entry, "at": "columns"}, results)
    sign = 1 if METRICS[entry["metric"]].lower else -1
    judgement = judged(sign, own, others)
    table = pd.DataFrame({"ratio": 1 / ratios(sign, own, others), "significant": judgement.apart})
    table["significant"] = table["significant"].map({True: "yes", False: "no"})
    table[entry["method"]], table["its mean"] = own.mean(axis=1), others.mean(axis=1)
    table = table[table["ratio"] > 1].sort_values("ratio", ascending=False, kind="stable").reset_index()
    table = table.drop_duplicates(_PLACE).astype({"n_components": int})
    shown = [*_PLACE, entry["method"], "rival", "its mean", "ratio", "significant"]
    if "chooser" in entry:
        chosen = at_columns(select(results.cells, {**entry, "methods": [entry["chooser"]]}))
        cells = chosen.groupby(_PLACE, sort=False)
        means = cells["value"].mean().rename(entry["chooser"]).reset_index()
        table = table.merge(means, how="left", on=_PLACE)
        shown.append(entry["chooser"])
        if "took" in chosen and chosen["took"].notna().any():
            took = cells["took"].agg(_counted).rename("its choice").reset_index()
            table, shown = table.merge(took, how="left", on=_PLACE), [*shown, "its choice"]
    return table[shown].rename(columns={"dataset": "data set", "n_components": "D", "rival": "best other"})


def _counted(types: Series) -> str:
    """Return what was chosen, the most frequent first, with counts if it was not always the same."""
    counts = types.dropna().value_counts()
    if len(counts) == 1:
        return str(counts.index[0])
    return ", ".join(f"{name} ({count})" for name, count in counts.items())
