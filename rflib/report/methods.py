"""The cards of the methods: what each is, its source, and where it wins and loses in the studies shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rflib.report.cells import read_cells
from rflib.report.standings import Standing, standings

_FILE = Path(__file__).parent / "methods.yaml"


@dataclass
class Card:
    """One method: the facts of methods.yaml, and how it stands against the others."""

    type: str
    name: str
    what: str
    formula: str
    source: str
    standings: list[Standing] = field(default_factory=list)


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
        for standing in standings(name, study, read_cells(results_dir / name / "cells.parquet", study)):
            found[types[standing.method]].standings.append(standing)
    return list(found.values())
