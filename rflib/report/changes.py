"""What moved beyond noise between two runs: the means that two folders of results hold, paired by seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rflib.files import read_table
from rflib.report.folder import read_index
from rflib.report.html import write_html
from rflib.report.inference import holm, p_above_zero
from rflib.report.number_format import columns
from rflib.report.tables import read_shown
from rflib.report.wording import METRICS, plural

MEASURES = (
    *("relative_frobenius_error", "relative_spectral_error", "mean_squared_error", "diagonal_error"),
    *("near_pairs_error", "regularised_spectral_error", "accuracy", "rmse"),
)
OUTCOMES = ("better", "worse", "within noise", "unchanged")
CHANGE_RULE = (
    "The means are those over the repetitions that both results hold, for each data set, kernel, method, number "
    "of columns and measure. A mean is unchanged if all repetitions have equal values, but for rounding. It is "
    "better or worse if a two-sided t-test over the repetitions, paired by seed, finds a significant change, with "
    "Holm's correction over all means of a study by one measure: if nothing changed in truth, any of them is "
    "called better or worse with a probability of at most 5 %. Otherwise it is within noise."
)
_MEASURE = ["metric", "learner", "at"]
_PLACE = ["dataset", "kernel", "method", "n_components", "data"]
_ROUNDING = 1e-9
# Fewer repetitions than that leave a paired t-test little power.
_FEW = 5


def compare_reports(old: Path, new: Path, out_file: Path) -> str:
    """Write a page that says what moved between two folders of results, and return a sentence that sums it up.

    Parameters
    ----------
    old, new : Path
        Folders of results, which hold ``<study>/cells.parquet`` and ``<study>/tables``.
    out_file : Path
        The page.

    Raises
    ------
    ValueError
        If a folder does not exist, or there is no study of which both hold cells.
    """
    for folder in (old, new):
        if not folder.is_dir():
            raise ValueError(f"There is no folder {folder}. Give two folders of results.")
    old_studies, new_studies = (
        {path.parent.name for path in folder.glob("*/cells.parquet")} for folder in (old, new)
    )
    both = sorted(old_studies & new_studies)
    if not both:
        raise ValueError(f"{old} and {new} hold cells of no study in common. Give two folders of results.")
    cells = {study: [read_table(folder / study / "cells.parquet") for folder in (old, new)] for study in both}
    found = {study: changes(*tables) for study, tables in cells.items()}
    verdicts = {study: _verdicts(old / study / "tables", new / study / "tables") for study in both}
    text = _summed_up(pd.concat(found.values()), sum(map(len, verdicts.values())))
    write_html(
        "changes.html",
        out_file,
        old=str(old),
        new=str(new),
        summary=text,
        rule=CHANGE_RULE,
        alone=sorted(old_studies ^ new_studies),
        sections=[
            {
                "name": study,
                "summary": _summed_up(table, len(verdicts[study])),
                "counts": _counts(table),
                "by_method": columns(_by_method(table)),
                "moved": columns(_moved(table)),
                "verdicts": columns(verdicts[study]),
                "alone": _alone(*cells[study]),
            }
            for study, table in found.items()
        ],
    )
    return text


def changes(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each mean that both tables of cells hold, judged by `CHANGE_RULE`.

    The columns are the place and the measure, ``n`` repetitions that both have, ``old``, ``old std``, ``new``,
    ``new std``, ``change`` (relative to the old mean; above zero is an improvement), ``p`` and ``outcome``.
    """
    joined = _values(old).merge(_values(new), on=[*_MEASURE, *_PLACE, "seed"], suffixes=(" old", " new"))
    rows = []
    for key, group in joined.groupby([*_MEASURE, *_PLACE], sort=False, dropna=False):
        before, after = (group[f"value {which}"].to_numpy(dtype=float) for which in ("old", "new"))
        gains = (before - after) * (1 if METRICS[str(key[0])].lower else -1)
        gains[np.abs(gains) <= _ROUNDING * np.abs(before)] = 0.0
        p = min(1.0, 2 * float(np.minimum(p_above_zero(gains), p_above_zero(-gains)))) if gains.any() else 1.0
        spread = (before.std(ddof=1), after.std(ddof=1)) if len(gains) > 1 else (np.nan, np.nan)
        means = (before.mean(), after.mean())
        change = gains.mean() / (abs(means[0]) or 1.0)
        rows.append(
            (*key, len(gains), means[0], spread[0], means[1], spread[1], change, p, bool(gains.any()))
        )
    names = [*_MEASURE, *_PLACE, "n", "old", "old std", "new", "new std", "change", "p", "moved"]
    found = pd.DataFrame(rows, columns=names)
    if found.empty:
        return found.assign(outcome=pd.Series(dtype=str))
    beyond = found.groupby(_MEASURE, dropna=False)["p"].transform(lambda p: holm(p.to_numpy())).astype(bool)
    signed = np.where(found["change"] > 0, "better", "worse")
    quiet = np.where(found["moved"], "within noise", "unchanged")
    return found.assign(outcome=np.where(beyond, signed, quiet))


def _values(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each finite value once, of the measures that are compared."""
    keys = [*_MEASURE, *_PLACE, "seed"]
    curves = cells["at"].notna() & (cells["metric"] != "regularised_spectral_error")
    chosen = cells[cells["metric"].isin(MEASURES) & ~curves & np.isfinite(cells["value"])]
    return chosen.drop_duplicates(keys)[[*keys, "value"]]


def _counts(table: pd.DataFrame) -> dict[str, int]:
    return {outcome: int((table["outcome"] == outcome).sum()) for outcome in OUTCOMES}


def _summed_up(table: pd.DataFrame, n_verdicts: int) -> str:
    verdicts = f" {plural(n_verdicts, 'verdict')} changed." if n_verdicts else ""
    if table.empty:
        return f"The two results have no mean in common.{verdicts}"
    n, counts = len(table), _counts(table)
    moved = counts["better"] + counts["worse"]
    if counts["unchanged"] == n:
        return f"No mean changed: all {n} are the same in both results.{verdicts}"
    said = f"{counts['unchanged']} of {n} means are unchanged"
    said += f" and {counts['within noise']} moved within noise"
    if moved:
        return (
            f"{plural(counts['better'], 'mean')} became better and {counts['worse']} worse; {said}.{verdicts}"
        )
    fewest = table["n"].min()
    few = (
        f" With {plural(fewest, 'repetition')}, only large changes are beyond noise." if fewest < _FEW else ""
    )
    return f"No mean moved beyond noise: {said}.{few}{verdicts}"


def _measure(table: pd.DataFrame) -> list[str]:
    """Return what each row was measured by, with its learner and ridge."""
    return [
        METRICS[metric].axis
        + ("" if pd.isna(learner) else f" with {learner}")
        + ("" if pd.isna(at) else f", ridge {at:g}")
        for metric, learner, at in zip(*(table[column] for column in _MEASURE), strict=True)
    ]


def _by_method(table: pd.DataFrame) -> pd.DataFrame:
    """Return how many means of each method and measure moved, and by how much in the median."""
    rows = []
    for (method, measure), part in table.assign(measure=_measure(table)).groupby(
        ["method", "measure"], sort=False
    ):
        counts = _counts(part)
        rows.append(
            {
                "method": method,
                "measure": measure,
                **counts,
                "median change, %": 100 * part["change"].median(),
            }
        )
    found = pd.DataFrame(rows, columns=["method", "measure", *OUTCOMES, "median change, %"])
    return found.sort_values(["worse", "better"], ascending=False, kind="stable").reset_index(drop=True)


def _moved(table: pd.DataFrame) -> pd.DataFrame:
    """Return the means that moved beyond noise, the greatest changes first."""
    chosen = table[table["outcome"].isin(OUTCOMES[:2])]
    order = chosen["change"].abs().sort_values(ascending=False, kind="stable").index
    chosen = chosen.loc[order]
    chosen = chosen.assign(measure=_measure(chosen), **{"change, %": 100 * chosen["change"]})
    names = {"outcome": "verdict", "dataset": "data set", "n_components": "D"}
    shown = ["outcome", "dataset", "kernel", "method", "n_components", "measure"]
    numbers = ["old", "old std", "new", "new std", "change, %", "n", "p"]
    return chosen[[*shown, *numbers]].rename(columns=names).reset_index(drop=True)


def _verdicts(old: Path, new: Path) -> pd.DataFrame:
    """Return the claims and published numbers whose verdict is not the same."""
    rows: list[Mapping[str, Any]] = []
    for file, title in [
        ("claims.csv", "claim"),
        *((entry["file"], entry["title"]) for entry in read_index(new)),
    ]:
        if not ((old / file).exists() and (new / file).exists()):
            continue
        before, after = (read_shown(folder / file, missing=False) for folder in (old, new))
        keys = (
            ["claim"]
            if file == "claims.csv"
            else [key for key in ("data set", "kernel", "method", "published as", "s") if key in after]
        )
        if "verdict" not in before or "verdict" not in after or not set(keys) <= set(before):
            continue
        pairs = before.merge(after, on=keys, suffixes=(" old", " new"))
        for row in pairs[pairs["verdict old"] != pairs["verdict new"]].to_dict("records"):
            what = ", ".join(str(row[key]) for key in keys if row[key] != "")
            rows.append(
                {"of": title, "what": what, "before": row["verdict old"], "after": row["verdict new"]}
            )
    return pd.DataFrame(rows, columns=["of", "what", "before", "after"])


def _alone(old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Say which data sets, kernels and methods only one of the results has."""
    said = []
    for which, cells, other in (("old", old, new), ("new", new, old)):
        for column, noun in (("data", "data sets"), ("kernel", "kernels"), ("method", "methods")):
            if only := sorted(set(cells[column].dropna()) - set(other[column].dropna())):
                said.append(f"Only the {which} results have the {noun} {', '.join(only)}.")
    return said
