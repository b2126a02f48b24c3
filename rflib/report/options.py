"""Options of tables, figures and claims in a study file: checked, with errors that name entry and key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import relevance

from rflib.report.cells import EXACT
from rflib.validation import hint

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Metric:
    """What a metric is called in captions and on axes, and which way is better."""

    text: str
    lower: bool = True


METRICS = {
    "relative_frobenius_error": Metric("relative error of the kernel matrix (Frobenius)"),
    "relative_spectral_error": Metric("relative error of the kernel matrix (spectral)"),
    "mean_squared_error": Metric("mean squared error of the kernel"),
    "log_eigenvalue_ratio": Metric("log ratio of the eigenvalues of K_hat and K", lower=False),
    "effective_degrees": Metric("effective degrees of freedom d_K"),
    "surrogate_degrees": Metric("surrogate degrees of freedom D_K"),
    "rmse": Metric("root mean squared error"),
    "accuracy": Metric("accuracy", lower=False),
    "transform_seconds": Metric("seconds to make the features"),
    "sample_seconds": Metric("seconds to draw the features"),
}

AXES = {
    "n_components": "columns D",
    "s": "s",
    "transform_seconds": METRICS["transform_seconds"].text,
    "sample_seconds": METRICS["sample_seconds"].text,
}

SELECTION = ("metric!", "learner", "kernels", "datasets", "methods")
PUBLISHED = ("paper!", "table!", "kernels!", "methods!", "datasets")

# The types of entries, and the keys of each besides type, title and caption; the required ones end with "!".
TABLES = {
    "published": ("metric!", "learner", "repetitions", *PUBLISHED),
    "grid": (*SELECTION, "by"),
    "ranking": SELECTION,
    "fits": ("a!", "dimensions!", "orders!", "caption!"),
    "significance": ("metric!", "learner", "baseline!", *PUBLISHED),
    "degrees": ("kernels", "datasets", "caption!"),
    "sizes": ("caption!",),
    "densities": ("kernels!", "dimension!", "draws!", "caption!"),
}
FIGURES = {
    "lines": (*SELECTION, "x", "log", "floor", "published", "pooled"),
    "curves": (*SELECTION, "columns", "log_x", "x_label", "marks"),
    "maps": ("kernels!", "dimension!", "columns!", "zmax!", "draws!", "caption!"),
    "cutoff": ("a!", "p!", "dimensions!", "cutoffs!", "caption!"),
    "variance": ("kernels!", "dimensions!", "zmax!", "caption!"),
    "fits": ("a!", "dimension!", "orders!", "caption!"),
}
_COMPARED = ("metric!", "method!", "than!", "at", "share", "learner", "kernels", "datasets", "ties")
CHECKS = {
    "better": (*_COMPARED, "factor"),
    "equal": (*_COMPARED, "within!"),
    "steadier": _COMPARED,
    "agrees": ("metric!", "share", "learner", "repetitions", *PUBLISHED),
}
CLAIMS = {name: (*keys, "source", "explanation") for name, keys in CHECKS.items()}


def check_shown(study: Options) -> None:
    """Raise ValueError unless all that a study shows is right: see :func:`check_entries`."""
    for key, allowed in (("tables", TABLES), ("figures", FIGURES), ("claims", CLAIMS)):
        check_entries(key, study, allowed)
    for claim in study.get("claims") or []:
        explanation_of(claim, study)


def explanation_of(claim: Options, study: Options) -> Options | None:
    """Return the check behind a claim's explanation, itself checked like a claim; None if it has none."""
    if "explanation" not in claim:
        return None
    options = {key: value for key, value in claim["explanation"].items() if key != "text"}
    options["title"] = claim["title"]
    check_entry(f"claim {claim['title']!r}: explanation", options, study, CHECKS)
    return options


def check_entries(key: str, study: Options, allowed: Mapping[str, Sequence[str]]) -> list[Options]:
    """Return the study's entries under ``tables``, ``figures`` or ``claims`` if all of them are right.

    Parameters
    ----------
    key : str
        Which list of the study.
    study : mapping
        Content of the study file.
    allowed : mapping
        The keys of each type besides ``type``, ``title`` and ``caption``; the required ones end with "!".

    Raises
    ------
    ValueError
        For the first unknown type, key, label or value; the message names study, entry and key, and what there is.
    """
    entries = list(study.get(key) or [])
    for number, entry in enumerate(entries):
        place = f"{key}[{number}] {entry.get('title', '')!r}"
        check_entry(place, entry, study, allowed)
    return entries


def check_entry(place: str, entry: Options, study: Options, allowed: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError, beginning with the place, unless an entry is right."""
    name = str(entry.get("type"))
    if name not in allowed:
        raise ValueError(
            f"{place}: unknown type {name!r}.{hint(name, allowed)} The types are {', '.join(allowed)}."
        )
    keys = ("type!", "title!", "caption", *allowed[name])
    _check(place, entry, keys, _schemas(study, mapped="paper!" in keys))
    if "published" in entry:
        _check(f"{place}: published", entry["published"], PUBLISHED, _schemas(study, mapped=True))


def _check(place: str, entry: Options, keys: Sequence[str], schemas: Mapping[str, Any]) -> None:
    names = [key.rstrip("!") for key in keys]
    for key in entry:
        if key not in names:
            raise ValueError(
                f"{place}: unknown key {key!r}.{hint(str(key), names)} The keys are {', '.join(names)}."
            )
    for key in keys:
        if key.endswith("!") and key[:-1] not in entry:
            raise ValueError(f"{place}: the key {key[:-1]!r} is missing.")
    for key, value in entry.items():
        errors = list(Draft202012Validator(schemas[key]).iter_errors(value))
        if errors:
            raise ValueError(f"{place}: {key}: {_explained(max(errors, key=relevance))}")


def _explained(error: Any) -> str:
    if error.validator == "enum":
        near = hint(str(error.instance), map(str, error.validator_value))
        return f"unknown {error.instance!r}.{near} There are {', '.join(map(str, error.validator_value))}."
    return str(error.message)


def _schemas(study: Options, mapped: bool) -> dict[str, Any]:
    """A JSON schema for each key; labels must be the study's. ``mapped``: labels stand for published names."""
    text = {"type": "string"}
    kernels, methods = list(study["kernels"]), [*study["methods"], EXACT]
    datasets = [dataset["name"] for dataset in study["datasets"]]

    def labels(known: Sequence[str]) -> dict[str, Any]:
        if mapped:
            return {"type": "object", "propertyNames": {"enum": known}, "additionalProperties": text}
        return {"type": "array", "items": {"enum": known}}

    return {
        **dict.fromkeys(("type", "title", "caption", "source", "paper", "table"), text),
        "metric": {"enum": list(METRICS)},
        "learner": {"enum": list(study.get("learners", {}))},
        "kernels": labels(kernels),
        "methods": labels(methods),
        "datasets": labels(datasets),
        "method": {"enum": methods},
        "than": {"enum": methods},
        "at": {"enum": ["s", "columns"]},
        "by": {"enum": ["s", "columns"]},
        "x": {"enum": list(AXES)},
        "log": {"type": "boolean"},
        "floor": {"type": "number", "exclusiveMinimum": 0},
        "a": {"type": ["number", "array"], "minimum": 2, "items": {"type": "number", "minimum": 2}},
        "p": {"type": "integer", "minimum": 1},
        "orders": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
        "dimension": {"type": "integer", "minimum": 1},
        "zmax": {"type": "number", "exclusiveMinimum": 0},
        "columns": {"type": "integer", "minimum": 1},
        "draws": {"type": "integer", "minimum": 2},
        "log_x": {"type": "boolean"},
        "pooled": text,
        "x_label": text,
        "marks": {"enum": list(study.get("learners", {}))},
        "baseline": {"enum": methods},
        "dimensions": {"type": "array", "items": {"type": "integer", "minimum": 2}, "minItems": 1},
        "cutoffs": {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1},
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "factor": {"type": "number", "exclusiveMinimum": 0},
        "within": {"type": "number", "minimum": 0},
        "repetitions": {"type": "integer", "minimum": 1},
        "published": {"type": "object"},
        "ties": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["reason"],
                "additionalProperties": False,
                "properties": {
                    "reason": text,
                    "kernels": {"type": "array", "items": {"enum": kernels}},
                    "datasets": {"type": "array", "items": {"enum": datasets}},
                    "s": {"type": "array", "items": {"type": ["string", "integer"]}},
                },
            },
        },
        "explanation": {"type": "object", "required": ["text", "type"], "properties": {"text": text}},
    }


def sentence(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def slug(number: int, title: str) -> str:
    """Return a file name for the n-th entry."""
    return f"{number:02d}_" + re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:50]


def write_index(folder: Path, entries: Sequence[Options]) -> None:
    """Write what the page needs to know of a folder's files."""
    (folder / "index.json").write_text(json.dumps(list(entries), indent=2), encoding="utf-8")


def read_index(folder: Path) -> list[dict[str, Any]]:
    """Return what :func:`write_index` wrote; nothing if the folder has none."""
    path = folder / "index.json"
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []
