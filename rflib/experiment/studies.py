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
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        wrong = next(key for key in error.instance if key not in known)
        return f"unknown key {wrong!r}.{hint(wrong, known)} The keys are {', '.join(known)}."
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"the key {missing!r} is missing."
    expected = error.schema.get("description")
    if expected is not None:
        return f"{error.instance!r} is not {expected}."
    if error.validator == "enum":
        known = list(map(str, error.validator_value))
        values = f"The values are {', '.join(known)}." if known else "The study has none."
        return f"unknown value {error.instance!r}.{hint(error.instance, known)} {values}"
    return str(error.message)


@cache
def _validator(schema: str) -> Any:
    content = yaml.safe_load((SCHEMAS / f"{schema}.schema.yaml").read_text(encoding="utf-8"))
    cls = jsonschema.validators.validator_for(content)
    cls.check_schema(content)
    return cls(content)
