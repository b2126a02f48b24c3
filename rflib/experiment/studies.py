"""Study files and the configuration are read and checked against their schemas; errors name the place."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from rflib.experiment.blame import place
from rflib.validation import hint

SCHEMAS = Path(__file__).parents[2] / "workflow" / "schemas"


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a repeated key is an error. Otherwise, the later one would win silently."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        lines: dict[tuple[str, str], int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            word, line = (key.tag, key.value), key.start_mark.line + 1
            if word in lines:
                raise yaml.YAMLError(
                    f"line {line}: the key {key.value!r} was already used in line {lines[word]}."
                )
            lines[word] = line
        return super().construct_mapping(node, deep)


def load_study(path: Path) -> dict[str, Any]:
    """Read and check a study file.

    Raises
    ------
    ValueError
        If the file is missing, is not YAML, or breaks the schema; the message names file, key and expectation.
    """
    study = read_study(path)
    check(study, "study", place(path))
    return study


def read_study(path: Path) -> Any:
    """Read a study file that was checked before."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _UniqueKeys)
    except FileNotFoundError as error:
        raise ValueError(f"There is no study file {place(path)}.") from error
    except yaml.YAMLError as error:
        raise ValueError(f"{place(path)} is not valid YAML: {error}") from error


def complete_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Check a configuration and return it with the defaults of the keys that it leaves out.

    Raises
    ------
    ValueError
        If it breaks the schema.
    """
    check(dict(config), "config", "config.yaml")
    return _with_defaults(config, _validator("config").schema)


def _with_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value.get(key, about["default"]) for key, about in schema["properties"].items()}
    objects = {key: about for key, about in schema["properties"].items() if "properties" in about}
    return found | {key: _with_defaults(found[key], about) for key, about in objects.items()}


def check(value: Any, schema: str, place: str) -> None:
    """Validate against workflow/schemas/<schema>.schema.yaml.

    Raises
    ------
    ValueError
        Naming the place, the key, what was found and what was expected.
    """
    check_against(_validator(schema), value, place)


def check_against(validator: Any, value: Any, place: str) -> None:
    """Raise ValueError, beginning with the place and the key, unless a jsonschema validator accepts the value."""
    errors = list(validator.iter_errors(value))
    if errors:
        error: Any = max(errors, key=jsonschema.exceptions.relevance)
        key = ".".join(map(str, error.absolute_path))
        raise ValueError(": ".join([place, *filter(None, [key]), _explained(error)]))


def _explained(error: Any) -> str:
    schema, value = error.schema, error.instance
    if error.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        wrong = next(key for key in value if key not in known)
        return f"unknown key {wrong!r}.{hint(wrong, known)} The keys are {', '.join(known)}."
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in value)
        return f"the key {missing!r} is missing."
    if error.validator == "dependentRequired":
        needs = (
            (key, need) for key, needed in error.validator_value.items() if key in value for need in needed
        )
        key, missing = next((key, need) for key, need in needs if need not in value)
        return f"the key {missing!r} is missing, which {key!r} needs."
    known = list(map(str, schema.get("enum", [])))
    if error.validator == "enum" and not known:
        return f"unknown value {value!r}. The study has none."
    if "expected" not in schema and error.validator not in ("enum", "type", *_BOUNDS, *_NOT_EMPTY):
        return str(error.message)
    meaning = f" Meaning: {schema['description']}." if "description" in schema else ""
    return f"must be {_expected(schema)}, got {value!r}.{hint(value, known)}{meaning}"


_BOUNDS = {
    "minimum": "of at least",
    "exclusiveMinimum": "above",
    "maximum": "of at most",
    "exclusiveMaximum": "below",
}
_NOT_EMPTY = ("minItems", "minLength", "minProperties")
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}


def _expected(schema: Mapping[str, Any]) -> str:
    """Return what a schema expects: its own words (``expected``), or words for its values, types and bounds."""
    if "expected" in schema:
        return str(schema["expected"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return " or ".join(_said(name, schema) for name in types)


def _said(name: str, schema: Mapping[str, Any]) -> str:
    """Return words for a type, with the bounds that the schema sets for it."""
    if name in ("integer", "number"):
        bounds = [f"{words} {schema[key]}" for key, words in _BOUNDS.items() if key in schema]
        return " ".join([_TYPES[name], *filter(None, [" and ".join(bounds)])])
    empty = name not in ("boolean", "null") and any(key in schema for key in _NOT_EMPTY)
    return _TYPES[name] + " that is not empty" * empty


@cache
def _validator(schema: str) -> Any:
    content = yaml.safe_load((SCHEMAS / f"{schema}.schema.yaml").read_text(encoding="utf-8"))
    cls = jsonschema.validators.validator_for(content)
    cls.check_schema(content)
    return cls(content)
