"""The keys that entries of tables, figures and claims may have: JSON schemas that say what is ``expected``.

Labels refer to ``#/$defs``, where :mod:`rflib.report.options` puts those of the study.
"""

from collections.abc import Mapping
from typing import Any

from rflib.report.wording import METRICS

Schema = dict[str, Any]


def mapping(
    options: Mapping[str, Mapping[str, Any]], required: tuple[str, ...], about: str = "a mapping"
) -> Schema:
    """Return the schema of a mapping with these keys and no others."""
    shape = {"additionalProperties": False, "required": list(required), "properties": dict(options)}
    return {"type": "object", **shape, "expected": about}


def label(what: str) -> Schema:
    """Return the schema of a label of the study: "kernel", "method", "dataset" or "learner"."""
    return {"$ref": f"#/$defs/{what}"}


def labels(what: str) -> Schema:
    """Return the schema of a list of the study's labels."""
    return {"type": "array", "items": label(what), "expected": f"a list of {what}s of the study"}


def names(what: str) -> Schema:
    """Return the schema of a mapping from the study's labels to a paper's names."""
    about = f"a mapping from {what}s of the study to the paper's names"
    return {
        "type": "object",
        "propertyNames": label(what),
        "additionalProperties": TEXT,
        "expected": about,
    }


def mapping_to(item: Schema, about: str) -> Schema:
    """Return the schema of a mapping from any names to values."""
    return {"type": "object", "minProperties": 1, "additionalProperties": item, "expected": about}


def list_of(item: Schema) -> Schema:
    """Return the schema of a list that is not empty."""
    return {
        "type": "array",
        "items": item,
        "minItems": 1,
        "expected": f"a list whose items are each {item['expected']}",
    }


TEXT: Schema = {"type": "string", "expected": "a text"}
FLAG: Schema = {"type": "boolean", "expected": "true or false"}
COUNT: Schema = {"type": "integer", "minimum": 1, "expected": "a positive integer"}
SEVERAL: Schema = {"type": "integer", "minimum": 2, "expected": "an integer of at least 2"}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0, "expected": "a positive number"}
NOT_NEGATIVE: Schema = {"type": "number", "minimum": 0, "expected": "a number of at least 0"}
SHARE: Schema = {**POSITIVE, "maximum": 1, "expected": "a share greater than 0 and at most 1"}
CURVATURE: Schema = {"type": "number", "minimum": 2, "expected": "a number of at least 2"}
DIMENSIONS = list_of(SEVERAL)
S_OR_COLUMNS: Schema = {"enum": ["s", "columns"]}

METRIC: dict[str, Schema] = {
    "metric": {"enum": list(METRICS)},
    "learner": label("learner"),
    "ridge": POSITIVE,
}
KERNELS = labels("kernel")
PLACES = {"kernels": KERNELS, "datasets": labels("dataset")}
SELECTION = {**METRIC, **PLACES, "methods": labels("method")}
_NAMES = {"kernels": names("kernel"), "methods": names("method"), "datasets": names("dataset")}
NUMBERS = {"paper": TEXT, "table": TEXT, **_NAMES}
NUMBERS_REQUIRED = ("paper", "table", "kernels", "methods")
