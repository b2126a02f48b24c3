"""Table: how many times better a method is than others, as a geometric mean over the data sets."""

import numpy as np

from rflib.report import keys
from rflib.report.kind import DataFrame, Options, Results, Table
from rflib.report.kinds.rivals import METHODS, encounters, floored, ratios
from rflib.report.wording import METRICS, metric_text


@Table.with_options(
    {**keys.METRIC, **keys.PLACES, "method": keys.label("method"), "than": METHODS, "floor": keys.POSITIVE},
    ("metric", "method", "than"),
    caption=lambda entry: (
        f"{metric_text(entry)}: the ratio of the means of {entry['method']} and of another method with the same "
        "number of columns, as a geometric mean over the data sets, by kernel and s. Where it is above 1, "
        f"{entry['method']} is better." + floored(entry)
    ),
)
def gains(entry: Options, results: Results) -> DataFrame:
    """How many times better `method` is than each of `than`, by kernel and s (geometric mean over data sets)."""
    import pandas as pd

    own, others = encounters(entry, results)
    times = ratios(1 if METRICS[entry["metric"]].lower else -1, own, others)
    logs = np.log(times[np.isfinite(times) & (times > 0)]).reset_index()
    logs = pd.concat([logs, logs.assign(kernel="all")])
    logs = pd.concat([logs, logs.assign(s_label="all")])
    found = logs.pivot_table("times", ["rival", "kernel"], "s_label", sort=False)
    asked = [
        value for block in results.study["s"] for value in (block if isinstance(block, list) else [block])
    ]
    columns = sorted(found.columns, key=[*map(str, asked), *found.columns].index)
    rows = sorted(found.index, key=lambda row: (entry["than"].index(row[0]), row[1] == "all"))
    named = {label: label if label == "all" else f"s = {label}" for label in columns}
    return np.exp(found.loc[rows, columns]).rename(columns=named).reset_index(names=["than", "kernel"])
