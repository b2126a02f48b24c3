"""What is known of the methods: a card for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).parent / "methods.yaml"


@dataclass
class Card:
    """One method: the facts of methods.yaml."""

    type: str
    name: str
    what: str
    formula: str
    source: str


def cards(studies: Mapping[str, Mapping[str, Any]]) -> list[Card]:
    """Return a card for each known method, and for each other type that the studies use.

    Parameters
    ----------
    studies : mapping
        Name and content of the studies that have results.
    """
    known = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    found = {name: Card(name, **about) for name, about in known.items()}
    for name, study in studies.items():
        for kind in (str(spec["type"]) for spec in study["methods"].values()):
            if kind not in found:
                what = f"A method from outside rflib, used by the study {name}."
                found[kind] = Card(kind, kind.split(":")[-1], what, "", "")
    return list(found.values())
