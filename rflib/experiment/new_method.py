"""A method of one's own to begin with: a class, its law test, and a study in which it stands beside others."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import yaml

from rflib.experiment.studies import read_study

_ERROR = "relative_frobenius_error"
_TEXT = (
    "This study measures the error of the kernel matrix, and the scores of an SVM and of ridge regression, "
    "against the number of columns D. All methods are compared at the same D. The reference is the exact kernel."
)
STUDIES = Path("workflow/studies")
# The plain map, a better one that costs as much, and the strongest one, which takes any kernel.
BASELINES = ("RFF", "ORF", "Nystroem")
_NEXT = """\
{map} has the method: replace its docstring, `_draw` and `_columns` by yours.
{test} has its law test: python -m pytest {test}
{study} has the study quickstart with your method: snakemake --cores 2 {module}
The report is then results/report/index.html. Only the cells of your method run if quickstart has run before."""

_HEAD = """\
# `budget: columns` means D = 4 s: s from 16 to 128 are D from 64 to 512 columns, for all methods.
# `budget: n_components` takes the numbers as they are. quickstart.yaml has more kernels and learners to copy.
"""


def new_method(name: str, package: str, every: bool = False) -> str:
    """Write the files, and return what to do next.

    Parameters
    ----------
    name : str
        Name of the class, in CapWords, such as "Paired". The modules and the study have it in lower case, with
        underscores between the words.
    package : str
        Folder of the package, in the current folder, which is that of a checkout.
    every : bool
        Whether the study has every method of quickstart, and not the `BASELINES` alone.

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
    study = read_study(quickstart)
    if name in study["methods"]:
        raise ValueError(
            f"new-method: {quickstart} has a method {name!r} already. Take a name that is not among "
            f"{', '.join(study['methods'])}."
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
    own = {"type": f"{package}.{module}:{name}"}
    text = _HEAD + yaml.safe_dump(
        _with_method(study, name, own, every), sort_keys=False, default_flow_style=None, width=120
    )
    paths["study"].write_text(text, encoding="utf-8")
    said = _NEXT.format(module=module, **paths)
    more = f"\nBeside it stand {', '.join(BASELINES)}; --all compares with every method of quickstart."
    return said if every else said + more


def methods_of(claim: Mapping[str, Any]) -> list[str]:
    """Return the methods that a claim compares."""
    than = claim.get("than", [])
    return [claim["method"], *(than if isinstance(than, list) else [than])]


def _with_method(quickstart: Any, name: str, own: dict[str, str], every: bool) -> dict[str, Any]:
    """Return quickstart with a method and claims about it; all other cells are shared with quickstart.

    Beside the baselines alone, it has what the written method supports, Gaussian kernels, and no slow estimators.
    """
    claims = [
        {"type": "better", "title": f"{name} has a lower error than {other}", "metric": _ERROR}
        | {"method": name, "than": other}
        for other in ("RFF", "ORF")
    ]
    study = {**quickstart, "title": f"{name} beside every method of quickstart"}
    if not every:
        study |= {"title": f"{name} beside {', '.join(BASELINES)}", "text": _TEXT}
        study["kernels"] = {
            k: spec for k, spec in quickstart["kernels"].items() if spec["type"] == "Gaussian"
        }
        study["methods"] = {label: quickstart["methods"][label] for label in BASELINES}
        del study["estimators"]
        for part in ("tables", "figures"):
            study[part] = [
                {key: value for key, value in entry.items() if key != "levels"}
                for entry in quickstart[part]
                if study["kernels"].keys() & entry.get("kernels", study["kernels"])
            ]
    there = study["methods"]
    claims += [old for old in quickstart["claims"] if there.keys() >= set(methods_of(old))]
    return {**study, "methods": {name: own, **there}, "claims": claims}
