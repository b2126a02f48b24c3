"""The lists of kinds in docs/report.md: ``python -m rflib.report.docs`` prints them, and a test compares them."""

from rflib.report import keys
from rflib.report.kind import Kind, kinds
from rflib.report.options import LISTS

EXPLAINED = {*keys.SELECTION, *keys.NUMBERS, "caption"}


def list_of(cls: type[Kind]) -> str:
    """Return a row of Markdown for each kind: its type, what it shows, and its keys."""
    rows = ["| type | shows | keys (! required) |", "|---|---|---|"]
    for name, kind in sorted(kinds(cls).items()):
        said = [_said(key, kind) for key in dict.fromkeys([*kind.options, *kind.required])]
        rows.append(f"| `{name}` | {kind.shows.rstrip('.')} | {', '.join(said)} |")
    return "\n".join(rows)


def _said(key: str, kind: Kind) -> str:
    """A key, with what it takes unless the page explains it above the lists."""
    name = f"`{key}{'!' * (key in kind.required)}`"
    if key in EXPLAINED or "$ref" in kind.options[key]:
        return name
    expected = " or ".join(f"`{value}`" for value in kind.options[key].get("enum", ()))
    return f"{name} ({expected or kind.options[key]['expected']})"


if __name__ == "__main__":
    print(*map(list_of, LISTS.values()), sep="\n\n")
