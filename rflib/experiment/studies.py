"""Study files and the configuration: read, checked against their schemas, with errors that name the place."""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

SCHEMAS = Path(__file__).parents[2] / "workflow" / "schemas"


def load_study(path: Path) -> dict[str, Any]:
    """Read and check a study file.

    Raises
    ------
    ValueError
        If the file is missing, is not YAML, or breaks the schema; the message names file, key and expectation.
    """
    try:
        study = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        known = sorted(p.stem for p in path.parent.glob("*.yaml"))
        near = difflib.get_close_matches(path.stem, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"There is no study {path.stem!r} ({path}).{hint} There are {', '.join(known)}."
        ) from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not valid YAML: {error}") from error
    check(study, "study", str(path))
    return study


def check(value: Any, schema: str, place: str) -> None:
    """Validate against workflow/schemas/<schema>.schema.yaml.

    Raises
    ------
    ValueError
        Naming the place, the key, what was found and what was expected.
    """
    errors = sorted(
        _validator(schema).iter_errors(value), key=lambda error: list(map(str, error.absolute_path))
    )
    if errors:
        error = jsonschema.exceptions.best_match(errors)
        key = ".".join(map(str, error.absolute_path)) or "(top)"
        raise ValueError(f"{place}: {key}: {_explained(error)}")


def _explained(error: jsonschema.ValidationError) -> str:
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        wrong = [key for key in error.instance if key not in known]
        near = difflib.get_close_matches(str(wrong[0]), known, n=1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        return f"unknown key {wrong[0]!r}{hint} Known keys: {', '.join(known)}."
    expected = error.schema.get("description")
    return error.message + (f" (expected: {expected})" if expected else "")


@cache
def _validator(schema: str) -> Any:
    content = yaml.safe_load((SCHEMAS / f"{schema}.schema.yaml").read_text(encoding="utf-8"))
    cls = jsonschema.validators.validator_for(content)
    cls.check_schema(content)
    return cls(json.loads(json.dumps(content)))
