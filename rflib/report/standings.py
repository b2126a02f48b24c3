"""Where a method wins and loses: every pair of methods is compared at the same number of columns."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from rflib.experiment.grids import methods_of
from rflib.report.cell_table import EXACT, at_columns
from rflib.report.inference import LEVEL, Floats, p_above_zero
from rflib.report.wording import METRICS

KERNEL_ERRORS = ("relative_frobenius_error", "relative_spectral_error", "mean_squared_error")
SCORES = ("accuracy", "rmse")
COLUMNS = (
    *("type", "method", "measured by", "won", "tied", "lost"),
    *("ahead of", "behind", "strongest on", "weakest on"),
)
STANDING_RULE = (
    "A pairing of two methods is won or lost if a t-test over the repetitions, paired by seed, finds a "
    "significant difference. Otherwise it counts as tied, which does not mean that the two are equal. Among "
    "the pairings of one study and measure that are called won or lost, at most one in twenty is expected to "
    "be a false alarm (Benjamini and Hochberg's correction)."
)
_CONSTANT = 1e-9


def standings(study: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method of a study and each measure: the kernel error, and the score of each learner.

    Two methods are a pairing at each data set, kernel and number of columns D that both have. It is won or lost by
    `STANDING_RULE`. A method is ahead of another if it wins more of their pairings than it loses.

    Parameters
    ----------
    study : mapping
        Content of the study file.
    cells : DataFrame
        What :func:`rflib.report.cell_table.read_cells` returned.
    """
    rows = []
    for metric, learner, part in measures(at_columns(cells)):
        by = METRICS[metric].text + (f" of {learner}" if learner else "")
        outcomes = _outcomes(part, lower=METRICS[metric].lower)
        for method, spec in methods_of(study).items():
            own = outcomes[outcomes["method"] == method]
            if len(own):
                rows.append((spec["type"], method, by, *_standing(own)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def measures(cells: pd.DataFrame) -> Iterator[tuple[str, str | None, pd.DataFrame]]:
    """Yield the metric, learner and cells of what methods are compared by: one kernel error, and all scores."""
    chosen = cells[cells["at"].isna() & (cells["method"] != EXACT)]
    present = set(chosen["metric"])
    for metric in (*[metric for metric in KERNEL_ERRORS if metric in present][:1], *SCORES):
        for learner, part in chosen[chosen["metric"] == metric].groupby("learner", dropna=False, sort=False):
            yield metric, None if pd.isna(learner) else str(learner), part


def _outcomes(cells: pd.DataFrame, *, lower: bool) -> pd.DataFrame:
    """Return a row for each ordered pair and comparison: +1 if the first wins, 0 if they tie, -1 if it loses."""
    tables = []
    for (dataset, kernel, _), group in cells.groupby(["dataset", "kernel", "n_components"], sort=False):
        values = group.pivot(index="seed", columns="method", values="value")
        methods = values.columns.to_numpy()
        first, second = np.triu_indices(len(methods), k=1)
        better, worse = _p_values(values.to_numpy().T * (-1 if lower else 1), (first, second))
        found = {"method": methods[first], "other": methods[second], "dataset": dataset, "kernel": kernel}
        found["p"] = np.minimum(1.0, 2 * np.minimum(better, worse))
        tables.append(pd.DataFrame({**found, "outcome": np.where(better < worse, 1, -1)}))
    pairs = pd.concat(tables, ignore_index=True)
    beyond_doubt = false_discovery_control(pairs["p"]) < LEVEL
    pairs["outcome"] = pairs["outcome"].where(beyond_doubt, 0)
    turned = pairs.rename(columns={"method": "other", "other": "method"}).assign(outcome=-pairs["outcome"])
    return pd.concat([pairs, turned], ignore_index=True)


def _p_values(values: Floats, pairs: tuple[Any, Any]) -> tuple[Floats, Floats]:
    """Return one-sided p values that the first of each pair is better, and worse; rounding is no difference."""
    gains = values[pairs[0]] - values[pairs[1]]
    rounding = _CONSTANT * np.abs(np.nanmean(values, axis=1))[pairs[0]]
    gains[np.fmax.reduce(np.abs(gains), axis=1) <= rounding] = 0.0
    return p_above_zero(gains), p_above_zero(-gains)


def _standing(own: pd.DataFrame) -> tuple[int, int, int, str, str, str, str]:
    """Return the last seven columns of a method's row, from its outcomes."""
    counts = own["outcome"].value_counts()
    balance = own.groupby("other", sort=False)["outcome"].sum()
    places = own.groupby(["dataset", "kernel"], sort=False)["outcome"].mean()
    extremes = (int(places.argmax()), int(places.argmin())) if places.nunique() > 1 else ()
    best, worst = (", ".join(places.index[i]) for i in extremes) if extremes else ("", "")
    won, tied, lost = (int(counts.get(outcome, 0)) for outcome in (1, 0, -1))
    ahead, behind = (", ".join(balance.index[sign * balance > 0]) for sign in (1, -1))
    return won, tied, lost, ahead, behind, best, worst
