"""The cards that describe the methods in the report, with their formulas typeset."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from rflib.experiment.grids import methods_of

_FILE = Path(__file__).parent / "methods.yaml"


def cards(studies: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return a card for each method in methods.yaml, and for each other type and estimator in the studies.

    Formulas are MathML, which browsers show and screen readers read without a script.

    Parameters
    ----------
    studies : mapping
        Name and content of the studies that have results.
    """
    known = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    found = {name: {"type": name, **_typeset(about)} for name, about in known.items()}
    for name, study in studies.items():
        for kind in (str(spec["type"]) for spec in methods_of(study).values()):
            whole = kind in study.get("estimators", {})
            what = (
                "This estimator takes the rows themselves." if whole else "This method is from outside rflib."
            )
            about = {"type": kind, "name": kind.split(":")[-1], "what": f"{what} The study {name} uses it."}
            found.setdefault(kind, about)
    return list(found.values())


def _typeset(about: Mapping[str, Any]) -> dict[str, str]:
    """Return a card with its formula, and what stands between dollars in its text, as MathML."""
    parts = about["what"].split("$")
    text = Markup("").join(_mathml(part, "inline") if i % 2 else escape(part) for i, part in enumerate(parts))
    lines = about.get("formula", [])
    formula = [_mathml(line, "block") for line in ([lines] if isinstance(lines, str) else lines)]
    return {**about, "what": text, "formula": Markup("").join(formula)}


def _mathml(latex: str, display: str) -> Markup:
    return Markup(convert(latex, display=display).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
