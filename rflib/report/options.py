"""Options of tables, figures and claims in a study file: checked, with errors that name the entry."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

LOWER_IS_BETTER = {
    "relative_frobenius_error": True,
    "relative_spectral_error": True,
    "mean_squared_error": True,
    "rmse": True,
    "transform_seconds": True,
    "sample_seconds": True,
    "accuracy": False,
}

NAMES = {
    "relative_frobenius_error": "relative error of the kernel matrix (Frobenius)",
    "relative_spectral_error": "relative error of the kernel matrix (spectral)",
    "mean_squared_error": "mean squared error of the kernel",
    "rmse": "root mean squared error",
    "accuracy": "accuracy",
    "transform_seconds": "seconds to make the features",
    "sample_seconds": "seconds to draw the features",
    "n_components": "columns D",
    "s": "s",
}


def check_options(kind: str, entry: Mapping[str, Any], allowed: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError unless the entry's type is known and its keys are those of the type.

    ``allowed`` maps each type to its keys; the required ones end with "!".
    """
    name = str(entry.get("type"))
    if name not in allowed:
        raise ValueError(
            f"{kind} {entry.get('title', '')!r}: unknown type {name!r}: use one of {', '.join(allowed)}."
        )
    known = {"type", "title", "caption", *(key.rstrip("!") for key in allowed[name])}
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f", did you mean {near[0]!r}?" if near else "."
            raise ValueError(f"{kind} {entry.get('title', name)!r}: unknown key {key!r}{hint}")
    for key in ("title!", *allowed[name]):
        if key.endswith("!") and key[:-1] not in entry:
            raise ValueError(
                f"{kind} {entry.get('title', name)!r} of type {name!r} needs the key {key[:-1]!r}."
            )
    metric = entry.get("metric")
    if metric is not None and metric not in LOWER_IS_BETTER:
        raise ValueError(
            f"{kind} {entry['title']!r}: unknown metric {metric!r}: use one of {', '.join(LOWER_IS_BETTER)}."
        )


def select(cells: pd.DataFrame, entry: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells of an entry's metric, and of its learner, kernels, datasets and methods where given."""
    chosen = cells[cells["metric"] == entry["metric"]]
    if "learner" in entry:
        chosen = chosen[chosen["learner"] == entry["learner"]]
    for key, column in (("kernels", "kernel"), ("datasets", "dataset"), ("methods", "method")):
        if key in entry:
            wanted = list(entry[key])
            reference = chosen["method"] == "exact kernel" if key == "methods" else False
            chosen = chosen[chosen[column].isin(wanted) | reference]
    return chosen


def slug(number: int, title: str) -> str:
    """Return a file name for the n-th entry."""
    return f"{number:02d}_" + re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:50]


def write_index(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write what the page needs to know of a folder's files."""
    (folder / "index.json").write_text(json.dumps(list(entries), indent=2), encoding="utf-8")


def published_numbers(folder: Path, paper: str) -> pd.DataFrame:
    """Return the published numbers of a paper.

    Raises
    ------
    ValueError
        If there are none.
    """
    path = folder / f"{paper}.csv"
    if not path.exists():
        raise ValueError(f"There are no published numbers for {paper!r}: {path} does not exist.")
    return pd.read_csv(path)
