"""Checks of what a study shows. Errors name the table, figure or claim, its key, and the possible values."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from rflib.experiment.grids import kernels_of, methods_of
from rflib.experiment.studies import check_against
from rflib.report import keys
from rflib.report.cell_table import EXACT
from rflib.report.kind import Check, Figure, Kind, Options, Table, kinds
from rflib.validation import hint

LISTS: dict[str, type[Kind]] = {"tables": Table, "figures": Figure, "claims": Check}
_ENTRY = {"type": keys.TEXT, "title": keys.TEXT, "caption": keys.TEXT}
_CLAIM = {
    "source": keys.TEXT,
    "explanation": {"type": "object", "required": ["text", "type"], "properties": {"text": keys.TEXT}},
}


def check_shown(study: Options) -> None:
    """Raise ValueError unless all that a study shows is right: see :func:`check_entries`."""
    for key in LISTS:
        check_entries(study, key)


def check_entries(study: Options, key: str) -> list[Options]:
    """Return the study's entries under ``tables``, ``figures`` or ``claims`` if all of them are right.

    Raises
    ------
    ValueError
        For the first unknown type, key, label or value. The message names the entry, the key and what is possible.
    """
    entries = list(study.get(key) or [])
    for number, entry in enumerate(entries):
        place = f"{key}[{number}] {entry.get('title', '')!r}"
        _check(place, entry, study, LISTS[key], _CLAIM if key == "claims" else {})
        if explanation := explanation_of(entry):
            _check(f"{place}: explanation", explanation, study, LISTS[key], {})
    return entries


def explanation_of(claim: Options) -> Options | None:
    """Return the check behind a claim's explanation as a claim; None if it has none."""
    if "explanation" not in claim:
        return None
    return {"title": claim["title"]} | {k: v for k, v in claim["explanation"].items() if k != "text"}


def _check(place: str, entry: Options, study: Options, cls: type[Kind], also: Mapping[str, Any]) -> None:
    known, name = kinds(cls), str(entry.get("type"))
    if name not in known:
        raise ValueError(
            f"{place}: unknown type {name!r}.{hint(name, known)} The types are {', '.join(known)}."
        )
    labels = {
        "kernel": kernels_of(study),
        "method": [*methods_of(study), EXACT],
        "dataset": [dataset["name"] for dataset in study["datasets"]],
        "learner": [*study.get("learners", {})],
    }
    schema = keys.mapping({**_ENTRY, **known[name].options, **also}, ("title", *known[name].required))
    schema["$defs"] = {what: {"enum": found} for what, found in labels.items()}
    check_against(Draft202012Validator(schema), entry, place)
