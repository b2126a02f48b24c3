"""Where a method wins and loses: every pair of methods compared at equal columns, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as t_distribution

from rflib.report.cells import EXACT, at_columns
from rflib.report.options import METRICS

KERNEL_ERRORS = ("relative_frobenius_error", "relative_spectral_error", "mean_squared_error")
SCORES = ("accuracy", "rmse")
LEVEL = 0.05
_CONSTANT = 1e-9


@dataclass(frozen=True)
class Standing:
    """A method's comparisons with the others of a study, by one metric."""

    study: str
    what: str
    method: str
    wins: int
    level: int
    losses: int
    ahead_of: list[str]
    behind: list[str]
    best_on: str
    worst_on: str


def standings(name: str, study: Mapping[str, Any], cells: pd.DataFrame) -> list[Standing]:
    """Compare the study's methods by kernel error and by each learner's scores.

    A comparison is one data set, kernel and number of columns D. It is won if the mean over the repetitions is
    better beyond doubt (t-test of the differences by seed, two-sided, 5 %), else level. A method is ahead of
    another if it wins more comparisons than it loses.

    Parameters
    ----------
    name : str
        Name of the study.
    study : mapping
        Content of the study file.
    cells : DataFrame
        What :func:`rflib.report.cells.read_cells` returned.
    """
    chosen = at_columns(cells[cells["at"].isna() & (cells["method"] != EXACT)])
    present = set(chosen["metric"])
    errors = [metric for metric in KERNEL_ERRORS if metric in present][:1]
    found = []
    for metric in (*errors, *SCORES):
        of_metric = chosen[chosen["metric"] == metric]
        for learner, part in of_metric.groupby("learner", dropna=False, sort=False):
            what = METRICS[metric].text + ("" if pd.isna(learner) else f" of {learner!s}")
            outcomes = _outcomes(part, lower=METRICS[metric].lower)
            if len(outcomes):
                found += [_standing(name, what, method, outcomes) for method in study["methods"]]
    return [standing for standing in found if standing.wins + standing.level + standing.losses]


def _outcomes(cells: pd.DataFrame, *, lower: bool) -> pd.DataFrame:
    """A row for each ordered pair and comparison: +1 where the first wins, 0 where they are level, -1."""
    rows = []
    for (dataset, kernel, _), group in cells.groupby(["dataset", "kernel", "n_components"], sort=False):
        values = group.pivot(index="seed", columns="method", values="value")
        for first, second in combinations(values.columns, 2):
            gain = (values[second] - values[first]).to_numpy() * (1 if lower else -1)
            outcome = _sign(gain[np.isfinite(gain)], scale=abs(values[first].mean()))
            rows.append((first, second, dataset, kernel, outcome))
            rows.append((second, first, dataset, kernel, -outcome))
    return pd.DataFrame(rows, columns=["method", "other", "dataset", "kernel", "outcome"])


def _sign(gain: np.ndarray, scale: float) -> int:
    """Sign of the mean where it is beyond doubt, else 0; rounding is no gain."""
    n = len(gain)
    if n < 2 or np.all(np.abs(gain) <= _CONSTANT * scale):
        return 0
    error = float(gain.std(ddof=1)) / n**0.5
    quantile = float(t_distribution.ppf(1 - LEVEL / 2, n - 1))
    return int(np.sign(gain.mean())) if abs(gain.mean()) > quantile * error else 0


def _standing(study: str, what: str, method: str, outcomes: pd.DataFrame) -> Standing:
    own = outcomes[outcomes["method"] == method]
    counts = own["outcome"].value_counts()
    balance = own.groupby("other", sort=False)["outcome"].sum()
    places = own.groupby(["dataset", "kernel"], sort=False)["outcome"].mean()
    apart = places.nunique() > 1
    return Standing(
        study=study,
        what=what,
        method=method,
        wins=int(counts.get(1, 0)),
        level=int(counts.get(0, 0)),
        losses=int(counts.get(-1, 0)),
        ahead_of=list(balance.index[balance > 0]),
        behind=list(balance.index[balance < 0]),
        best_on=", ".join(places.index[int(places.argmax())]) if apart else "",
        worst_on=", ".join(places.index[int(places.argmin())]) if apart else "",
    )
