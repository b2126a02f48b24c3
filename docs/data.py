"""The lists in docs/data.md, which ``python docs/data.py`` makes from the entries of the data sets."""

import re
from pathlib import Path

from rflib.datasets.entry import Entry, File
from rflib.datasets.registry import REGISTRY

PAGE = Path(__file__).with_suffix(".md")
_DATASETS = """\
| name | task | rows | columns | classes | split | papers | source | licence |
|---|---|--:|--:|--:|---|---|---|---|
"""
_FILES = """\
| file | data set | source | bytes | checksum |
|---|---|---|--:|---|
"""


def page() -> str:
    """Return the page with its three lists made anew. All else is written by hand."""
    entries = sorted(REGISTRY.items())
    names: dict[File, list[str]] = {}
    for name, entry in entries:
        for file in entry.files:
            names.setdefault(file, []).append(name)
    lists = {
        "data sets": _DATASETS + "".join(_row(name, entry) for name, entry in entries),
        "inputs and notes": "".join(_about(name, entry) for name, entry in entries),
        "files": _FILES + "".join(_file(file, users) for file, users in names.items()),
    }

    def anew(found: re.Match) -> str:
        return f"{found[1]}\n{lists[found[2]]}\n<!-- end -->"

    return re.sub(
        r"(<!-- made: (.*?) -->\n).*?<!-- end -->", anew, PAGE.read_text(encoding="utf-8"), flags=re.S
    )


def _row(name: str, entry: Entry) -> str:
    split = entry.split
    if entry.train_rows is not None:
        split = f"given, {entry.train_rows:,} / {entry.rows - entry.train_rows:,}"
    return (
        f"| {name} | {entry.task} | {entry.rows:,} | {entry.columns:,} | {entry.classes or ''} | {split} "
        f"| {', '.join(entry.papers)} | {entry.citation} | {entry.licence} |\n"
    )


def _about(name: str, entry: Entry) -> str:
    traps = f" *Notes:* {entry.traps}" if entry.traps else ""
    return f"- **{name}**. *Inputs:* {entry.scaling}{traps}\n"


def _file(file: File, users: list[str]) -> str:
    source = "<br>".join(file.urls) or "mirror only"
    size = f"{file.size:,}" if file.size else "not known"
    return f"| `{file.name}` | {', '.join(users)} | {source} | {size} | {' '.join(file.checksum)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
