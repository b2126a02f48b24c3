"""The cards that describe the methods in the report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).parent / "methods.yaml"


def cards(studies: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return a card for each method in methods.yaml, and for each other type in the studies.

    Parameters
    ----------
    studies : mapping
        Name and content of the studies that have results.
    """
    known = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    found = {name: {"type": name, **about} for name, about in known.items()}
    for name, study in studies.items():
        for kind in (str(spec["type"]) for spec in study["methods"].values()):
            if kind not in found:
                what = f"This method is from outside rflib. The study {name} uses it."
                found[kind] = {"type": kind, "name": kind.split(":")[-1], "what": what}
    return list(found.values())
