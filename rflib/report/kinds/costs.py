"""What maps cost: a table of the best map for a budget of seconds or memory, and claims at equal cost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import BLOCK, EXACT, at_columns, medians, select
from rflib.report.kind import Check, Checked, DataFrame, Options, Results, Series, Table
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


def _affordable(cells: DataFrame, budget: float) -> DataFrame:
    """Return the cells of each method at its largest number of columns that costs no more than a budget."""
    cheap = cells[cells["cost"] <= budget]
    return cheap[cheap["n_components"] == cheap.groupby("method")["n_components"].transform("max")]


class _Place(NamedTuple):
    """The maps that stay within a budget on a data set and kernel: means of the metric and numbers of columns.

    ``limited`` holds those that have the largest number of columns with which they were measured.
    """

    dataset: str
    kernel: str
    budget: float
    sign: int
    means: dict[str, float]
    columns: dict[str, int]
    limited: set[str]

    @property
    def best_mean(self) -> float:
        return min(self.means.values(), key=lambda mean: self.sign * mean)

    @property
    def best(self) -> list[str]:
        """The maps with the best mean: several if their means are equal but for rounding errors."""
        return [
            method
            for method, mean in self.means.items()
            if np.isclose(mean, self.best_mean, rtol=1e-9, atol=0)
        ]

    def times_worse(self, method: str) -> float | None:
        """Return how many times worse a method is than the best one; None if it does not fit in."""
        return (self.means[method] / self.best_mean) ** self.sign if method in self.means else None


def _places(entry: Options, results: Results) -> Iterator[_Place]:
    """Yield the places of each budget in which some map stays within it."""
    cells = at_columns(select(results.cells, entry))
    of_blocks = cells[cells["method"] != EXACT].groupby(["dataset", *BLOCK], sort=False)["value"].mean()
    table = of_blocks.reset_index().join(_costs(entry, results.cells), on=BLOCK)
    sign = 1 if METRICS[entry["metric"]].lower else -1
    for (dataset, kernel), place in table.groupby(["dataset", "kernel"], sort=False):
        largest = place.groupby("method")["n_components"].max()
        for budget in entry["budgets"]:
            most = _affordable(place, budget)
            means = dict(zip(most["method"], most["value"], strict=True))
            columns = dict(zip(most["method"], most["n_components"], strict=True))
            limited = {method for method, n in columns.items() if n == largest[method]}
            if means:
                yield _Place(str(dataset), str(kernel), budget, sign, means, columns, limited)


def _percent(places: Sequence[_Place]) -> int:
    """Return the percentage of the maps within the budget that have their largest measured number of columns."""
    return round(100 * sum(len(p.limited) for p in places) / sum(len(p.means) for p in places))


_COLUMN = "limited, %"
_LIMITED = (
    f"*{_COLUMN}* is the share of the maps that fit in with the largest number of columns that was measured. "
    "Where it is high, the budget hardly decides, and the maps are compared with about the same number of columns."
)
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
        f"Every map has the largest measured number of columns D that stays within the budget. {_LIMITED} The "
        "columns on the right say how many times worse other maps are within the budget; they are empty where a "
        "map does not fit in. Maps with equal means have a row each."
    ),
)
def choices(entry: Options, results: Results) -> list[dict[str, Any]]:
    """Which map is best within each of the `budgets` of a `cost`, and how many times worse each of `than` is.

    With `rows`, the cost is that of the fit and of the transform of so many rows.
    """
    return [
        {
            "data set": place.dataset,
            "kernel": place.kernel,
            "budget": place.budget,
            "best map": best,
            "D": place.columns[best],
            entry["metric"]: place.means[best],
            _COLUMN: _percent([place]),
            **{method: place.times_worse(method) for method in entry["than"]},
        }
        for place in _places(entry, results)
        for best in place.best
    ]


@Table.with_options(
    {**_BUDGETS, "groups": keys.mapping_to(keys.KERNELS, "a mapping from names of groups to their kernels")},
    (*_REQUIRED, "groups"),
    caption=lambda entry: (
        f"The maps with the best mean within a budget of {_text_of(entry)}, and in how many pairs of a data "
        f"set and a kernel each is best, alone or with others: {metric_text(entry)}. {_LIMITED} The columns on "
        "the right say how many times worse other maps are than the best one, as a geometric mean over the pairs "
        "in which they fit in."
    ),
)
def winners(entry: Options, results: Results) -> list[dict[str, Any]]:
    """How often each map is best within each of the `budgets` of a `cost`, over the kernels of each of `groups`.

    It also shows how many times worse each of `than` is, as a geometric mean.
    """
    places = list(_places(entry, results))
    found = []
    for group, kernels in entry["groups"].items():
        for budget in entry["budgets"]:
            inside = [place for place in places if place.kernel in kernels and place.budget == budget]
            if not inside:
                continue
            counts = Counter(best for place in inside for best in place.best).most_common()
            best = ", ".join(f"{method} ({count})" for method, count in counts)
            row = {"kernels": group, "budget": budget, "best": best, _COLUMN: _percent(inside)}
            found.append(row | {method: _mean_times(inside, method) for method in entry["than"]})
    return found


def _mean_times(places: Sequence[_Place], method: str) -> float | None:
    """Return how many times worse a method is than the best one, as a geometric mean; None if it fits nowhere."""
    times = [worse for place in places if (worse := place.times_worse(method)) is not None]
    return float(np.exp(np.log(times).mean())) if times else None


@Check.with_options(
    {
        **{key: schema for key, schema in COMPARED.items() if key != "at"},
        **_COST,
        "factor": keys.POSITIVE,
    },
    (*REQUIRED, "cost"),
)
def better_at_cost(claim: Options, results: Results) -> Checked:
    """With the most columns that cost no more than those of `than`, the mean of `method` is better.

    There is a comparison for each number of columns of `than`, unless `method` costs more with its fewest columns.
    With `rows`, the cost is that of the fit and of the transform of so many rows.
    """
    cells, left_out, limited = _at_equal_cost(claim, results.cells)
    found: Checked = better.make({**claim, "at": "columns"}, replace(results, cells=cells))
    evidence, method = found.evidence, claim["method"]
    if left_out:
        evidence += f" In {left_out} more, {method} costs more even with its fewest columns."
    if limited:
        evidence += f" In {limited}, {method} has the most columns that were measured, and could have more."
    return found._replace(evidence=evidence)


def _at_equal_cost(claim: Options, cells: DataFrame) -> tuple[DataFrame, int, int]:
    """Return the cells of two methods in which the first has the numbers of columns of the second, at its cost.

    Also return in how many places the first one costs more even with its fewest columns, and in how many it has
    the largest number of columns that was measured.
    """
    import pandas as pd

    table = cells[
        (cells["metric"] == claim["metric"]) & cells["method"].isin([claim["method"], claim["than"]])
    ]
    table = table.join(_costs(claim, cells), on=BLOCK)
    found, left_out, limited = [table[:0]], 0, 0
    for _, place in table.groupby(["data", "kernel"], sort=False):
        own, other = (place[place["method"] == claim[role]] for role in ("method", "than"))
        if own.empty:
            continue
        found.append(other)
        for n, cost in other.groupby("n_components")["cost"].first().dropna().items():
            affordable = _affordable(own, cost)
            found.append(affordable.assign(n_components=n))
            left_out += affordable.empty
            limited += affordable["n_components"].max() == own["n_components"].max()
    return pd.concat(found, ignore_index=True), left_out, limited
