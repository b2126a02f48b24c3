"""docs/add-a-method.md, done as it says: a method from outside the package runs in a study."""

from __future__ import annotations

import re
from collections.abc import Callable

from .conftest import ROOT, TABLE, TINY, Workspace

Copy = Callable[[Workspace], Workspace]


def test_the_guides_method_runs_from_its_own_package(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    guide = (ROOT / "docs/add-a-method.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    entry = re.search(r'halves: \{type: "([\w.:]+)"\}', guide)
    assert code
    assert entry
    package = workspace.folder / "mypackage"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "halves.py").write_text(code[1])
    workspace.study(methods={**TINY["methods"], "halves": {"type": entry[1]}})  # type: ignore[dict-item]
    new = {"features": 1, "errors": 1, "scores": 1, "aggregate": 1}
    assert workspace.planned() == new
    workspace.snakemake(TABLE)
    rows = workspace.results().query("method == 'halves'")
    assert {"relative_frobenius_error", "accuracy"} <= set(rows["metric"])
    assert rows["value"].notna().all()
    workspace.append("mypackage/halves.py", "\n# a comment\n")
    assert workspace.planned() == {}
    workspace.edit("mypackage/halves.py", "/ 2", "/ 3")
    assert workspace.planned() == new
