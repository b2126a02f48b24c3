"""A method of one's own to begin with: a class, its law test, and a study in which it stands beside others."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import yaml

from rflib.experiment.studies import read_study

# The plain map, a better one that costs as much, and the strongest one, which takes any kernel.
BASELINES = ("RFF", "ORF", "Nystroem")
STUDIES = Path("workflow/studies")
_NEXT = """\
{map} has the method: replace its docstring, `_draw` and `_columns` by yours.
{test} has its law test: python -m pytest {test}
{study} has the study quickstart with your method: snakemake --cores 2 {module}
The report is then results/report/index.html. Only the cells of your method run if quickstart has run before."""
_FEW = f"\nBeside it stand {', '.join(BASELINES)}; --all compares with every method of quickstart."


def new_method(name: str, package: str, every: bool = False) -> str:
    """Write the files, and return what to do next.

    Parameters
    ----------
    name : str
        Name of the class, in CapWords, such as "Paired". The modules and the study have it in lower case, with
        underscores between the words.
    package : str
        Folder of the package, in the current folder, which is that of a checkout.
    every : bool, default=False
        Whether the study compares with every method of quickstart, in place of `BASELINES`.

    Raises
    ------
    ValueError
        If a name cannot be that of a class or a package, if quickstart has a method of that name, or if the
        current folder has no studies.
    FileExistsError
        If one of the files is there; then none is written.
    """
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or keyword.iskeyword(name):
        raise ValueError(f"new-method: the name must be that of a class, such as Paired, got {name!r}.")
    if not package.isidentifier() or keyword.iskeyword(package):
        raise ValueError(f"new-method: --package must be the name of a package, got {package!r}.")
    quickstart = STUDIES / "quickstart.yaml"
    if not quickstart.exists():
        raise ValueError(
            f"new-method: {quickstart} is not here. Run it in the folder of a checkout of rflib."
        )
    labels = read_study(quickstart)["methods"]
    if name in labels:
        raise ValueError(
            f"new-method: {quickstart} has a method {name!r} already. Take a name that is not among "
            f"{', '.join(labels)}."
        )
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    words = {"name": name, "module": module, "package": package}
    paths = {
        "map": Path(package, f"{module}.py"),
        "test": Path(package, f"test_{module}.py"),
        "study": STUDIES / f"{module}.yaml",
    }
    if there := [str(path) for path in paths.values() if path.exists()]:
        raise FileExistsError(f"new-method: {', '.join(there)} would be overwritten. Take another name.")
    paths["map"].parent.mkdir(exist_ok=True)
    for kind, template in (("map", "method.py.txt"), ("test", "test_method.py.txt")):
        text = files("rflib.experiment").joinpath("templates", template).read_text(encoding="utf-8")
        paths[kind].write_text(Template(text).substitute(words), encoding="utf-8")
    text = quickstart.read_text(encoding="utf-8")
    paths["study"].write_text(_study(text if every else _narrowed(text), every, **words), encoding="utf-8")
    return _NEXT.format(module=module, **paths) + ("" if every else _FEW)


def _study(quickstart: str, every: bool, name: str, module: str, package: str) -> str:
    """Quickstart with one method and one claim more, so that it shares all other cells with quickstart."""
    title = f'title: "{name} beside {"every method of quickstart" if every else ", ".join(BASELINES)}"\n'
    method = f'methods:\n  {name}: {{type: "{package}.{module}:{name}"}}\n'
    claim = (
        "claims:\n"
        f"  - {{type: better, title: {name} has a lower error than RFF, metric: relative_frobenius_error, "
        f"method: {name}, than: RFF}}\n"
    )
    text = re.sub(r"^title:.*\n", title, quickstart, count=1, flags=re.M)
    text = text.replace("\nmethods:\n", f"\n{method}", 1)
    return text.replace("\nclaims:\n", f"\n{claim}", 1)


def _narrowed(quickstart: str) -> str:
    """Quickstart without the methods that are no baselines, and without the claims about them."""
    document: Any = yaml.compose(quickstart)
    sections = {key.value: value for key, value in document.value}
    gone = [(key, value) for key, value in sections["methods"].value if key.value not in BASELINES]
    others = {key.value for key, _ in gone}
    gone += [(claim, claim) for claim in sections["claims"].value if others & set(_scalars(claim))]
    lines = quickstart.splitlines(keepends=True)
    for first, last in gone:
        # A mapping in braces ends behind its last character, a block at the beginning of what follows.
        end = last.end_mark.line + (last.flow_style is not False)
        lines[first.start_mark.line : end] = [""] * (end - first.start_mark.line)
    return "".join(lines)


def _scalars(node: Any) -> Iterator[str]:
    if isinstance(node.value, str):
        yield node.value
    else:
        for part in node.value:
            for child in part if isinstance(part, tuple) else (part,):
                yield from _scalars(child)
