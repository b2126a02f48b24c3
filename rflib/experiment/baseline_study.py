"""The study of a new method beside baselines alone; quickstart shares its cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from rflib.experiment import new_method

# The plain map, a better one that costs as much, and the strongest one, which takes any kernel.
BASELINES = ("RFF", "ORF", "Nystroem")


def beside_baselines(name: str, package: str) -> str:
    """Do what `new_method`, which has the parameters and errors, does, with a study of the baselines alone."""
    before = set(new_method.STUDIES.glob("*.yaml"))
    said = new_method.new_method(name, package)
    (study,) = set(new_method.STUDIES.glob("*.yaml")) - before
    study.write_text(_narrowed(study.read_text(encoding="utf-8"), name), encoding="utf-8")
    return f"{said}\nBeside it stand {', '.join(BASELINES)}; --all compares with every method of quickstart."


def _narrowed(text: str, name: str) -> str:
    """Return a study's text without all other methods, and without the claims about them."""
    document: Any = yaml.compose(text)
    sections = {key.value: value for key, value in document.value}
    others = {key.value for key, _ in sections["methods"].value} - {name, *BASELINES}
    gone = [(key, value) for key, value in sections["methods"].value if key.value in others]
    gone += [(claim, claim) for claim in sections["claims"].value if others & set(_scalars(claim))]
    lines = text.splitlines(keepends=True)
    for first, last in gone:
        # A mapping in braces ends behind its last character, a block at the beginning of what follows.
        end = last.end_mark.line + (last.flow_style is not False)
        lines[first.start_mark.line : end] = [""] * (end - first.start_mark.line)
    title = f'title: "{name} beside {", ".join(BASELINES)}"\n'
    return "".join(title if line.startswith("title:") else line for line in lines)


def _scalars(node: Any) -> Iterator[str]:
    if isinstance(node.value, str):
        yield node.value
    else:
        for part in node.value:
            for child in part if isinstance(part, tuple) else (part,):
                yield from _scalars(child)
