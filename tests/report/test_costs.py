"""Maps compared at equal cost: the table of choices, and claims that flip with the costs."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from rflib.report.claims import check_claims
from rflib.report.kind import Results

from .made_up import ERROR, made, made_up_cells

# Seconds for 64 and 128 columns; the third has measured nothing but errors.
SECONDS = {"GORF": (1.0, 2.0), "MVORF": (2.0, 4.0)}
STUDY = {
    "datasets": [{"name": "letter"}, {"name": "usps"}],
    "kernels": {"delta": {}},
    "methods": {name: {} for name in ("GORF", "MVORF", "RFF")},
    "s": [["d", "2d"]],
}


def cells(seconds: dict[str, tuple[float, float]] = SECONDS) -> pd.DataFrame:
    """GORF has errors .2 and .1, MVORF .15 and .05; a third of the measurements of seconds are disturbed."""
    errors = made_up_cells({"GORF": 0.2, "MVORF": 0.15, "RFF": 0.3})
    lower = {"GORF": 0.1, "MVORF": 0.1, "RFF": 0.0}
    errors["value"] -= errors["method"].map(lower) * (errors["n_components"] == 128)
    timed = errors[errors["method"].isin(list(seconds))].assign(metric="map_seconds")
    timed["value"] = [
        seconds[method][n == 128] * (10 if seed % 3 == 2 else 1)
        for method, n, seed in zip(timed["method"], timed["n_components"], timed["seed"], strict=True)
    ]
    return pd.concat([errors, timed], ignore_index=True)


def test_choices_within_a_budget() -> None:
    entry = {"type": "choices", "title": "T", "metric": ERROR, "cost": "map_seconds"}
    found = made({**entry, "budgets": [0.5, 1, 2, 4], "than": ["GORF", "MVORF", "RFF"]}, cells(), study=STUDY)
    letter = found[found["data set"] == "letter"].drop(columns=["data set", "kernel"])
    assert [tuple(row) for row in letter.round(6).fillna(0).to_numpy()] == [
        (1, "GORF", 64, 0.2, 0, 1, 0, 0),
        (2, "GORF", 128, 0.1, 50, 1, 1.5, 0),
        (4, "MVORF", 128, 0.05, 100, 2, 1, 0),
    ]


def test_winners_over_the_data_sets() -> None:
    """Both data sets of two kernels, in one of which GORF is three times better."""
    table = pd.concat([cells(), cells().assign(kernel="other")], ignore_index=True)
    where = (table["kernel"] == "other") & (table["metric"] == ERROR) & (table["method"] == "GORF")
    table["value"] /= 1 + 2 * (where & (table["dataset"] == "usps"))
    entry = {"type": "winners", "title": "T", "metric": ERROR, "cost": "map_seconds", "budgets": [0.5, 4]}
    groups = {"both": ["delta", "other"], "first": ["delta"], "none": []}
    found = made({**entry, "than": ["GORF", "MVORF", "RFF"], "groups": groups}, table, study=STUDY)
    both, first = found.to_dict("records")
    assert (both["kernels"], both["budget"], both["best"]) == ("both", 4, "MVORF (3), GORF (1)")
    assert both["GORF"] == pytest.approx((2 * 2 * 2 * 1) ** 0.25)
    assert both["MVORF"] == pytest.approx(1.5**0.25)
    assert first["best"] == "MVORF (2)"
    assert both["limited, %"] == 100
    assert (first["GORF"], first["MVORF"]) == (pytest.approx(2), 1)
    assert pd.isna(first["RFF"])


def test_equal_means_share_the_place() -> None:
    """RFF has the mean of GORF but for a rounding error, at another number of columns."""
    table = cells({**SECONDS, "RFF": (1.0, 1.0)})
    place = (table["metric"] == ERROR) & (table["n_components"] == 64) & (table["method"] == "GORF")
    rival = (table["metric"] == ERROR) & (table["n_components"] == 128) & (table["method"] == "RFF")
    table.loc[rival, "value"] = table.loc[place, "value"].to_numpy() * (1 + 1e-12)
    entry = {"type": "choices", "title": "T", "metric": ERROR, "cost": "map_seconds", "budgets": [1]}
    found = made({**entry, "than": ["GORF", "RFF"]}, table, study=STUDY)
    letter = found[found["data set"] == "letter"]
    assert [tuple(row) for row in letter[["best map", "D"]].to_numpy()] == [("GORF", 64), ("RFF", 128)]
    assert letter[["GORF", "RFF"]].to_numpy() == pytest.approx(1)
    entry |= {"type": "winners", "groups": {"all": ["delta"]}}
    (row,) = made({**entry, "than": ["GORF"]}, table, study=STUDY).to_dict("records")
    assert row["best"] == "GORF (2), RFF (2)"


def test_the_cost_of_more_rows() -> None:
    """GORF fits in a second and takes D microseconds a row; MVORF fits in two and takes half as long a row."""
    table = cells()
    timed = table[table["metric"] == "map_seconds"]
    parts = [
        timed.assign(
            metric=metric,
            value=timed["method"].map(values) * timed["n_components"].map(lambda n, power=power: n**power),
        )
        for metric, values, power in (
            ("fit_seconds", {"GORF": 1.0, "MVORF": 2.0}, 0),
            ("row_microseconds", {"GORF": 1.0, "MVORF": 0.5}, 1),
        )
    ]
    entry = {
        "type": "choices",
        "title": "T",
        "metric": ERROR,
        "cost": "map_seconds",
        "rows": 10**6,
        "than": ["GORF"],
    }
    found = made({**entry, "budgets": [33, 66, 129]}, pd.concat([table, *parts]), study=STUDY)
    letter = found[found["data set"] == "letter"]
    assert [tuple(row) for row in letter[["budget", "best map", "D"]].to_numpy()] == [
        (66, "MVORF", 128),
        (129, "MVORF", 128),
    ]
    found = made({**entry, "budgets": [35]}, pd.concat([table, *parts]), study=STUDY)
    assert list(found["D"]) == [64, 64]


@pytest.mark.parametrize(
    ("seconds", "verdict", "comparisons", "left_out", "limited"),
    [
        (SECONDS, "not reproduced", 2, 2, 0),
        ({**SECONDS, "MVORF": (0.1, 1.5)}, "reproduced", 4, 0, 2),
        ({**SECONDS, "MVORF": (3, 4)}, "no data", 0, 4, 0),
    ],
)
def test_better_at_the_same_cost(
    seconds: Any, verdict: str, comparisons: int, left_out: int, limited: int
) -> None:
    """With (.1, 1.5) seconds MVORF has .15 against .2 for one second and .05 against .1 for two."""
    claim = {"type": "better_at_cost", "title": "T", "metric": ERROR, "cost": "map_seconds"}
    study = {**STUDY, "claims": [{**claim, "method": "MVORF", "than": "GORF"}]}
    (row,) = check_claims(Results(study, cells(seconds), None)).to_dict("records")  # type: ignore[arg-type]
    assert row["verdict"] == verdict
    more = re.findall(r" In (\d+) more, MVORF costs more even with its fewest columns\.", row["evidence"])
    most = re.findall(r" In (\d+), MVORF has the most columns that were measured", row["evidence"])
    assert (more, most) == ([str(left_out)] * bool(left_out), [str(limited)] * bool(limited))
    if comparisons:
        assert f" of {comparisons} comparisons" in row["evidence"]
    else:
        assert row["evidence"].startswith("None of its comparisons was run.")
