"""CITATION.cff follows the Citation File Format 1.2.0, and says what the package says of itself."""

import re
from pathlib import Path

import pytest
import yaml

import rflib

ROOT = Path(__file__).parents[1]
# As the schema's own tools do, without types: a version is a text, and so is a date.
CITATION = yaml.load((ROOT / "CITATION.cff").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
# The keys of the format (its schema, version 1.2.0) that are used here or at a release.
KEYS = {
    *(
        "abstract",
        "authors",
        "cff-version",
        "date-released",
        "doi",
        "identifiers",
        "keywords",
        "license",
        "message",
    ),
    *("preferred-citation", "references", "repository-code", "title", "type", "url", "version"),
}
OF_REFERENCES = {
    *("authors", "collection-title", "doi", "end", "identifiers", "start", "title", "type", "url", "year"),
}
TYPES = {"article", "book", "conference-paper", "report", "software", "thesis"}


def authors(entry: dict) -> None:
    for author in entry["authors"]:
        assert set(author) in ({"name"}, {"given-names", "family-names"}), author


def test_it_has_the_keys_that_the_format_asks_for_and_no_others():
    assert {"authors", "cff-version", "message", "title"} <= set(CITATION) <= KEYS
    assert CITATION["cff-version"] == "1.2.0" and CITATION["type"] == "software"
    authors(CITATION)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", CITATION.get("date-released", "2000-01-01"))


@pytest.mark.parametrize("entry", CITATION["references"], ids=lambda entry: entry["title"])
def test_references_can_be_found(entry):
    assert {"authors", "title", "type", "year"} <= set(entry) <= OF_REFERENCES
    assert entry["type"] in TYPES and entry["year"].isdigit()
    authors(entry)
    assert {"start", "end"} <= set(entry) or {"doi", "identifiers"} & set(entry)
    for found in entry.get("identifiers", []):
        assert found["type"] == "other" and re.fullmatch(r"arXiv:\d{4}\.\d{5}", found["value"])


def test_it_says_what_the_package_and_the_guide_say():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert CITATION["version"] == rflib.__version__
    assert f'license = "{CITATION["license"]}"' in project
    assert [author["name"] for author in CITATION["authors"]] == re.findall(
        r'authors = \[{ name = "(.*)" }\]', project
    )
    guide = (ROOT / "docs/user-guide.md").read_text(encoding="utf-8").lower()
    for entry in CITATION["references"]:
        assert entry["title"].lower() in guide


def test_the_readme_s_bibtex_and_badges_say_the_same():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for key in ("title", "version", "license"):
        assert f"{key} = {{{CITATION[key]}}}" in readme
    badges = (ROOT / "docs/pictures/badges.svg").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for asked in (r'requires-python = ">=([\d.]+)"', r'"scikit-learn>=([\d.]+)'):
        (least,) = re.findall(asked, project)
        assert f"&gt;= {least}<" in badges and f"{least} or later" in readme
