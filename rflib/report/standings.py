"""Where a method wins and loses: every pair of methods compared at equal columns, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as t_distribution

from rflib.report.cells import EXACT, at_columns
from rflib.report.claims import LEVEL
from rflib.report.options import METRICS

KERNEL_ERRORS = ("relative_frobenius_error", "relative_spectral_error", "mean_squared_error")
SCORES = ("accuracy", "rmse")
COLUMNS = (
    *("type", "method", "measured by", "won", "level", "lost"),
    *("ahead of", "behind", "strongest on", "weakest on"),
)
_CONSTANT = 1e-9


def standings(study: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each method of a study and each thing it is measured by: kernel error, learners' scores.

    A comparison is one data set, kernel and number of columns D. It is won if the mean over the repetitions is
    better beyond doubt (t-test of the differences by seed, two-sided, 5 %), else level. A method is ahead of
    another if it wins more comparisons than it loses.

    Parameters
    ----------
    study : mapping
        Content of the study file.
    cells : DataFrame
        What :func:`rflib.report.cells.read_cells` returned.
    """
    chosen = at_columns(cells[cells["at"].isna() & (cells["method"] != EXACT)])
    present = set(chosen["metric"])
    errors = [metric for metric in KERNEL_ERRORS if metric in present][:1]
    rows = []
    for metric in (*errors, *SCORES):
        of_metric = chosen[chosen["metric"] == metric]
        for learner, part in of_metric.groupby("learner", dropna=False, sort=False):
            by = METRICS[metric].text + ("" if pd.isna(learner) else f" of {learner!s}")
            outcomes = _outcomes(part, lower=METRICS[metric].lower)
            for method in study["methods"]:
                own = outcomes[outcomes["method"] == method]
                if len(own):
                    rows.append((study["methods"][method]["type"], method, by, *_standing(own)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _outcomes(cells: pd.DataFrame, *, lower: bool) -> pd.DataFrame:
    """A row for each ordered pair and comparison: +1 where the first wins, 0 where they are level, -1."""
    tables = []
    for (dataset, kernel, _), group in cells.groupby(["dataset", "kernel", "n_components"], sort=False):
        values = group.pivot(index="seed", columns="method", values="value")
        methods = values.columns.to_numpy()
        first, second = np.nonzero(~np.eye(len(methods), dtype=bool))
        outcomes = _signs(values.to_numpy() * (-1 if lower else 1))[first, second]
        where = {"dataset": dataset, "kernel": kernel, "outcome": outcomes}
        tables.append(pd.DataFrame({"method": methods[first], "other": methods[second], **where}))
    return pd.concat(tables, ignore_index=True)


def _signs(values: NDArray[np.float64]) -> NDArray[np.int_]:
    """Sign of the mean of column i less column j where it is beyond doubt, else 0; rounding is no difference."""
    gain = np.ma.masked_invalid(values[:, :, None] - values[:, None, :])
    n = gain.count(axis=0)
    mean = gain.mean(axis=0).filled(0.0)
    error = gain.std(axis=0, ddof=1).filled(np.inf) / np.sqrt(np.maximum(n, 1))
    quantile = t_distribution.ppf(1 - LEVEL / 2, np.maximum(n - 1, 1))
    rounding = _CONSTANT * np.abs(np.ma.masked_invalid(values).mean(axis=0).filled(0.0))
    beyond = (np.abs(mean) > quantile * error) & (np.abs(gain).max(axis=0).filled(0.0) > rounding[:, None])
    return np.where(beyond, np.sign(mean), 0).astype(int)


def _standing(own: pd.DataFrame) -> tuple[int, int, int, str, str, str, str]:
    """The last seven columns of a method's row, from its outcomes."""
    counts = own["outcome"].value_counts()
    balance = own.groupby("other", sort=False)["outcome"].sum()
    places = own.groupby(["dataset", "kernel"], sort=False)["outcome"].mean()
    extremes = (int(places.argmax()), int(places.argmin())) if places.nunique() > 1 else ()
    best, worst = (", ".join(places.index[i]) for i in extremes) if extremes else ("", "")
    won, level, lost = (int(counts.get(outcome, 0)) for outcome in (1, 0, -1))
    ahead, behind = (", ".join(balance.index[sign * balance > 0]) for sign in (1, -1))
    return won, level, lost, ahead, behind, best, worst
