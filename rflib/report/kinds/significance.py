"""Table: published and measured numbers, marked where a method is significantly better than a baseline."""

from __future__ import annotations

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import at_s, select
from rflib.report.inference import LEVEL
from rflib.report.kind import DataFrame, Options, Results, Table
from rflib.report.kinds.published import OPTIONS, REQUIRED, published, published_numbers
from rflib.report.wording import METRICS, sentence

_MARK = "•"


@Table.with_options(
    {**OPTIONS, "baseline": keys.label("method")},
    (*REQUIRED, "baseline"),
    caption=lambda entry: (
        f"{sentence(METRICS[entry['metric']].text)}: published and measured. A mark says that the method "
        f"is better than {entry['baseline']} by a paired t-test over the repetitions (two-sided, 5 %), as in the paper."
    ),
)
def significance(entry: Options, results: Results) -> DataFrame:
    """As `published`, with marks where a method is better than `baseline` by a paired t-test (two-sided, 5 %).

    The test is over the repetitions; the paper's marks stand beside ours (liu2020, table 3).
    """
    import pandas as pd

    table = published.make(entry, results)
    chosen = {key: entry[key] for key in ("metric", "learner", "title") if key in entry}
    mine = at_s(select(results.cells, chosen))
    names = mine["dataset"].replace(entry.get("datasets", {}))
    numbers = published_numbers(results.published, entry["paper"], entry["table"], entry["metric"])
    marks = numbers.set_index(["kernel", "dataset", "method", "s"])["significant"]
    theirs, ours = [], []
    for row in table.to_dict("records"):
        key = (entry["kernels"][row["kernel"]], row["data set"], row["published as"], row["s"])
        theirs.append(_MARK if marks.get(key) == 1 else "")
        inside = (
            (mine["kernel"] == row["kernel"]) & (mine["s_label"] == row["s"]) & (names == row["data set"])
        )
        values = [
            mine[inside & (mine["method"] == method)].set_index("seed")["value"]
            for method in (row["method"], entry["baseline"])
        ]
        pair = pd.concat(values, axis=1, join="inner")
        ours.append(_MARK if len(pair) > 1 and _better(pair, METRICS[entry["metric"]].lower) else "")
    table.insert(len(table.columns) - 1, "published mark", theirs)
    table.insert(len(table.columns) - 1, "our mark", ours)
    return table


def _better(pair: DataFrame, lower: bool) -> bool:
    from rflib.metrics import paired_t_test

    method, baseline = (pair.iloc[:, i].to_numpy() for i in (0, 1))
    if np.array_equal(method, baseline):
        return False
    better = (method.mean() < baseline.mean()) == lower
    return bool(better and paired_t_test(method, baseline).pvalue < LEVEL)
