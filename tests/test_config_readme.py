"""config/README.md documents every key of the configuration, with its default, and of study files."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "config/README.md").read_text()
CONFIG, STUDY = README.split("\n## Study files\n")


def test_every_key_of_the_configuration_has_its_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z._]+)` \| `([^`]+)` \|", CONFIG, re.MULTILINE))
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    data = {f"data.{key}": value for key, value in config.pop("data").items()}
    assert {key: yaml.safe_load(default) for key, default in rows.items()} == config | data


@pytest.mark.parametrize(("text", "schema"), [(CONFIG, "config"), (STUDY, "study")])
def test_every_key_of_the_schemas_is_named(text: str, schema: str) -> None:
    properties = yaml.safe_load((ROOT / f"workflow/schemas/{schema}.schema.yaml").read_text())
    named = {key for cell in re.findall(r"`([^`]+)`", text) for key in re.findall(r"[a-z_]+", cell)}
    assert set(_keys(properties)) <= named


def _keys(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from _keys(part)
