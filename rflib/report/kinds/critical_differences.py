"""Learners over many data sets: their mean ranks, with tests that compare them, as a figure and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import EXACT, at_columns, select
from rflib.report.inference import LEVEL, Flags, Floats, holm
from rflib.report.kind import DataFrame, Drawing, Figure, Options, Results, Table
from rflib.report.style import line_style
from rflib.report.wording import METRICS, metric_text, plural

_LEAST = 2  # data sets, and methods: with fewer there is nothing to compare
_ROW, _WIDTH = 0.24, 7.2


def _caption(entry: Options) -> str:
    return (
        f"{metric_text(entry)}: the mean rank of each method over the data sets on which all of them were "
        "run, by the mean over the repetitions (1 is the best). Friedman's test asks whether all methods are "
        "alike. Any two are compared by Wilcoxon's signed-rank test over the data sets, with Holm's correction "
        f"over all pairs ({LEVEL:.0%}; Demsar, Statistical comparisons of classifiers over multiple data sets, "
        "2006; Benavoli, Corani and Mangili, Should we really use post-hoc tests based on mean-ranks?, 2016). "
    )


@dataclass(frozen=True)
class _Ranking:
    """Methods in the order of their mean ranks.

    ``values`` has a row for each data set, ``p`` a row and a column for each method, ``different`` what remains
    significant after Holm's correction. ``friedman`` is the p value of the test that all are alike.
    """

    values: DataFrame
    ranks: Floats
    p: Floats
    different: Flags
    friedman: float

    @property
    def methods(self) -> list[str]:
        return [str(method) for method in self.values.columns]

    def alike(self) -> list[list[int]]:
        """Return the largest groups of two or more in which no two differ, the maximal cliques of a graph.

        By the algorithm of Bron and Kerbosch ("Algorithm 457: finding all cliques of an undirected graph", 1973).
        """
        n = len(self.ranks)
        near = [set(np.flatnonzero(~self.different[i])) - {i} for i in range(n)]

        def larger(group: list[int], others: set[int], done: set[int]) -> Iterator[list[int]]:
            if not others | done:
                yield sorted(group)
                return
            pivot = max(others | done, key=lambda i: len(others & near[i]))
            for i in sorted(others - near[pivot]):
                yield from larger([*group, i], others & near[i], done & near[i])
                others, done = others - {i}, done | {i}

        return sorted(group for group in larger([], set(range(n)), set()) if len(group) > 1)


def _ranking(entry: Options, results: Results) -> _Ranking | None:
    """Return the ranking by an entry's metric; None if fewer than two methods share two data sets."""
    from scipy.stats import friedmanchisquare, rankdata, wilcoxon

    chosen = at_columns(select(results.cells, entry))
    chosen = chosen[chosen["method"] != EXACT]
    place = ["dataset", "kernel", "n_components"]
    means = chosen.groupby([*place, "method"], sort=False)["value"].mean()
    # Kept values have six digits, so more would break ties.
    values = means.map("{:.5g}".format).astype(float).unstack("method").dropna()
    n = values.shape[1]
    if len(values) < _LEAST or n < _LEAST:
        return None
    ranks = rankdata(values * (1 if METRICS[entry["metric"]].lower else -1), axis=1).mean(axis=0)
    order = np.argsort(ranks, kind="stable")
    values = values.iloc[:, order]
    columns = values.to_numpy().T
    p = np.ones((n, n))
    pairs = list(combinations(range(n), 2))
    for i, j in pairs:
        if not np.array_equal(columns[i], columns[j]):
            p[i, j] = p[j, i] = wilcoxon(columns[i], columns[j]).pvalue
    different = np.zeros((n, n), dtype=bool)
    for (i, j), rejected in zip(pairs, holm([p[pair] for pair in pairs]), strict=True):
        different[i, j] = different[j, i] = rejected
    friedman = float(friedmanchisquare(*columns).pvalue) if n > _LEAST else float(p[0, 1])
    return _Ranking(values, ranks[order], p, different, friedman)


@Figure.with_options(
    keys.SELECTION,
    ("metric",),
    caption=lambda entry: (
        _caption(entry) + "Bars join groups of methods of which no two differ significantly; "
        "a group is the methods where its bar has a dot."
    ),
)
def critical_differences(entry: Options, results: Results, figure: Drawing) -> None:
    """The mean rank of each method over the data sets, with bars over those that do not differ significantly.

    The best method is on the left. Below the axis are the test of Friedman and the number of data sets.
    """
    found = _ranking(entry, results)
    if found is None:
        return
    n = len(found.ranks)
    groups, half = found.alike(), (n + 1) // 2
    below = 0.6 + 0.35 * len(groups)
    figure.set_size_inches(_WIDTH, 1.0 + _ROW * (below + half))
    axes = figure.subplots()
    axes.set(xlim=(1 - 0.55 * n, n + 0.55 * n), ylim=(below + half + 0.8, -1.6))
    axes.set_axis_off()
    line: dict[str, Any] = {"color": "#555555", "linewidth": 0.8, "solid_capstyle": "butt"}
    axes.plot([1, n], [0, 0], **line)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [-0.3, 0], **line)
        axes.text(rank, -0.45, f"{rank}", ha="center", va="bottom", fontsize=8)
    for i, (method, rank) in enumerate(zip(found.methods, found.ranks, strict=True)):
        left = i < half
        y = below + (i if left else n - 1 - i)
        edge = 0.8 if left else n + 0.2
        axes.plot([rank, rank, edge], [0, y, y], **line | {"color": line_style(method)["color"]})
        text, align = (f"{method}  {rank:.2f}", "right") if left else (f"{rank:.2f}  {method}", "left")
        axes.text(edge + (-0.1 if left else 0.1), y, text, ha=align, va="center", fontsize=8.5)
    for level, group in enumerate(groups):
        places, y = found.ranks[group], 0.4 + 0.35 * level
        axes.plot([places[0] - 0.06, places[-1] + 0.06], [y, y], color="#000000", linewidth=2.6)
        axes.plot(places, np.full(len(group), y), "o", color="#000000", markersize=5, linewidth=0)
    axes.text(
        (1 + n) / 2,
        below + half + 0.6,
        f"mean rank over {plural(len(found.values), 'data set')}; Friedman's test: p value {found.friedman:.2g}",
        ha="center",
        va="top",
        fontsize=8,
    )


@Table.with_options(
    keys.SELECTION,
    ("metric",),
    caption=lambda entry: (
        _caption(entry)
        + "The columns p are those of the test against the best method and against the method "
        "above, before the correction; a star marks those that remain significant after it."
    ),
)
def ranks(entry: Options, results: Results) -> list[dict[str, object]]:
    """Mean rank and mean value of each method over the data sets, and tests against the best and the one above."""
    found = _ranking(entry, results)
    if found is None:
        return []
    sign = 1 if METRICS[entry["metric"]].lower else -1
    best = (sign * found.values).rank(axis=1, method="min") == 1
    return [
        {
            "method": method,
            "mean rank": found.ranks[i],
            "times best": int(best[method].sum()),
            "data sets": len(found.values),
            f"mean {METRICS[entry['metric']].axis}": float(found.values[method].mean()),
            "p, best": _marked(found, 0, i),
            "p, above": _marked(found, max(i - 1, 0), i),
        }
        for i, method in enumerate(found.methods)
    ]


def _marked(found: _Ranking, i: int, j: int) -> str:
    """Return the p value of two methods, with a star where they differ."""
    return "" if i == j else f"{found.p[i, j]:.2g}{'*' if found.different[i, j] else ''}"
