"""The cards of the methods: what each is, its source, and where it wins and loses in the studies shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from rflib.report.numbers import plain
from rflib.report.options import read_index

_FILE = Path(__file__).parent / "methods.yaml"


@dataclass
class Card:
    """One method: the facts of methods.yaml, and its places in rankings."""

    type: str
    name: str
    what: str
    formula: str
    source: str
    places: list[str] = field(default_factory=list)


def cards(studies: Mapping[str, Mapping[str, Any]], results_dir: Path) -> list[Card]:
    """Return a card for each known method, and for each other type that the studies use.

    Parameters
    ----------
    studies : mapping
        Name and content of the studies that have results.
    results_dir : Path
        Folder of the results.
    """
    known = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    found = {name: Card(name, **about) for name, about in known.items()}
    for name, study in studies.items():
        types = {label: str(spec["type"]) for label, spec in study["methods"].items()}
        for kind in types.values():
            if kind not in found:
                what = f"A method from outside rflib, used by the study {name}."
                found[kind] = Card(kind, kind.split(":")[-1], what, "", "")
        for title, ranks in _rankings(results_dir / name / "tables"):
            for row in ranks.to_dict("records"):
                if row["method"] in types:
                    text = f"{name}, {title}: {_place(row)}"
                    found[types[row["method"]]].places.append(text)
    return list(found.values())


def _rankings(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    for entry in read_index(folder):
        if entry["type"] == "ranking":
            yield entry["title"], pd.read_csv(folder / entry["file"])


def _place(row: Mapping[Any, Any]) -> str:
    rank, rivals = (plain(round(row[column], 1)) for column in ("mean rank", "of methods"))
    text = (
        f"{row['method']} has mean rank {rank} of {rivals}, "
        f"best in {row['best in']} of {row['of cells']} cells"
    )
    if row["strongest on"] == "all alike" or row["strongest on"] == row["weakest on"]:
        return text
    return f"{text}; strongest on {row['strongest on']}, weakest on {row['weakest on']}"
