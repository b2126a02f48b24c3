"""What maps cost: a table of the best map for a budget of seconds or memory, and claims at equal cost."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rflib.report import keys
from rflib.report.cell_table import BLOCK, EXACT, at_columns, medians, select
from rflib.report.kind import Check, DataFrame, Options, Results, Series, Table
from rflib.report.kinds.comparisons import COMPARED, REQUIRED, better
from rflib.report.wording import METRICS, metric_text

_COST = {"cost": {"enum": ["map_seconds", "fit_seconds", "map_megabytes"]}, "rows": keys.COUNT}


def _costs(entry: Options, cells: DataFrame) -> Series:
    """Return the median cost over the repetitions, by data, kernel, method and number of columns.

    For a number of rows, the seconds of the transform are those of a row times the number.
    """
    if "rows" not in entry:
        return medians(cells, entry["cost"]).rename("cost")
    seconds_a_row = medians(cells, "row_microseconds") / 1e6
    return (medians(cells, "fit_seconds") + seconds_a_row * entry["rows"]).rename("cost")


def _text_of(entry: Options) -> str:
    if "rows" in entry:
        return f"seconds to fit the map and transform {entry['rows']:,} rows"
    return METRICS[entry["cost"]].text


def _affordable(own: DataFrame, budget: float) -> DataFrame:
    """Return a method's cells at the largest number of columns that costs no more than a budget."""
    cheap = own[own["cost"] <= budget]
    return cheap[cheap["n_components"] == cheap["n_components"].max()]


_BUDGETS = {
    **keys.SELECTION,
    **_COST,
    "budgets": keys.list_of(keys.POSITIVE),
    "than": keys.labels("method"),
}
_REQUIRED = ("metric", "cost", "budgets", "than")


@Table.with_options(
    _BUDGETS,
    _REQUIRED,
    caption=lambda entry: (
        f"The map with the best mean within a budget of {_text_of(entry)}: {metric_text(entry)}. "
        "Every map has the largest measured number of columns D that stays within the budget. The columns on the "
        "right say how many times worse other maps are within it; they are empty where a map does not fit in."
    ),
)
def choices(entry: Options, results: Results) -> list[dict[str, Any]]:
    """Which map is best within each of the `budgets` of a `cost`, and how many times worse each of `than` is.

    With `rows`, the cost is that of the fit and of the transform of so many rows.
    """
    cells = at_columns(select(results.cells, entry))
    cells = cells[cells["method"] != EXACT].join(_costs(entry, results.cells), on=BLOCK)
    sign = 1 if METRICS[entry["metric"]].lower else -1
    found = []
    for (dataset, kernel), place in cells.groupby(["dataset", "kernel"], sort=False):
        for budget in entry["budgets"]:
            parts = {m: _affordable(own, budget) for m, own in place.groupby("method", sort=False)}
            means = {method: part["value"].mean() for method, part in parts.items() if len(part)}
            if not means:
                continue
            best = min(means, key=lambda method: sign * means[method])
            row = {
                "data set": dataset,
                "kernel": kernel,
                "budget": budget,
                "best map": best,
                "D": int(parts[best]["n_components"].iloc[0]),
                entry["metric"]: means[best],
            }
            times = {m: (means[m] / means[best]) ** sign for m in entry["than"] if m in means}
            found.append(row | {method: times.get(method) for method in entry["than"]})
    return found


@Table.with_options(
    {**_BUDGETS, "groups": keys.mapping_to(keys.KERNELS, "a mapping from names of groups to their kernels")},
    (*_REQUIRED, "groups"),
    caption=lambda entry: (
        f"The maps with the best mean within a budget of {_text_of(entry)}, and in how many pairs of a data "
        f"set and a kernel each is best: {metric_text(entry)}. The columns on the right say how many times worse "
        "other maps are than the best one, as a geometric mean over the pairs in which they fit in."
    ),
)
def winners(entry: Options, results: Results) -> list[dict[str, Any]]:
    """How often each map is best within each of the `budgets` of a `cost`, over the kernels of each of `groups`.

    It also shows how many times worse each of `than` is, as a geometric mean.
    """
    import numpy as np
    import pandas as pd

    table = pd.DataFrame(
        choices.make(entry, results), columns=["kernel", "budget", "best map", *entry["than"]]
    )
    found = []
    for group, kernels in entry["groups"].items():
        for budget in entry["budgets"]:
            inside = table[table["kernel"].isin(kernels) & (table["budget"] == budget)]
            if inside.empty:
                continue
            counts = inside["best map"].value_counts()
            best = ", ".join(f"{method} ({count})" for method, count in counts.items())
            times = np.exp(np.log(inside[entry["than"]].astype(float)).mean())
            found.append({"kernels": group, "budget": budget, "best": best, **times})
    return found


@Check.with_options(
    {
        **{key: schema for key, schema in COMPARED.items() if key != "at"},
        **_COST,
        "factor": keys.POSITIVE,
    },
    (*REQUIRED, "cost"),
)
def better_at_cost(claim: Options, results: Results) -> tuple[str, str]:
    """With the most columns that cost no more than those of `than`, the mean of `method` is better.

    There is a comparison for each number of columns of `than`, unless `method` costs more with its fewest columns.
    With `rows`, the cost is that of the fit and of the transform of so many rows.
    """
    rivals = replace(results, cells=_at_equal_cost(claim, results.cells))
    return better.make({**claim, "at": "columns"}, rivals)


def _at_equal_cost(claim: Options, cells: DataFrame) -> DataFrame:
    """Return the cells of two methods in which the first has the numbers of columns of the second, at its cost."""
    import pandas as pd

    table = cells[
        (cells["metric"] == claim["metric"]) & cells["method"].isin([claim["method"], claim["than"]])
    ]
    table = table.join(_costs(claim, cells), on=BLOCK)
    return pd.concat(list(_pairs(claim, table)) or [table[:0]], ignore_index=True)


def _pairs(claim: Options, table: DataFrame) -> Iterator[DataFrame]:
    for _, place in table.groupby(["data", "kernel"], sort=False):
        own, other = (place[place["method"] == claim[role]] for role in ("method", "than"))
        yield other
        for n, cost in other.groupby("n_components")["cost"].first().items():
            yield _affordable(own, cost).assign(n_components=n)
