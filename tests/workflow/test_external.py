"""A method from outside the package, as docs/add-a-method.md shows it, runs in a study like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import ROOT, TABLE, TINY, Workspace

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]


def test_the_method_of_the_guide(finished: Workspace, copy_of: Callable[[Workspace], Workspace]) -> None:
    workspace = copy_of(finished)
    guide = (ROOT / "docs/add-a-method.md").read_text()
    (workspace.folder / "mypackage").mkdir()
    (workspace.folder / "mypackage/paired.py").write_text(guide.split("```python\n")[1].split("```")[0])
    methods: dict[str, Any] = {name: {**spec, "kernels": ["delta"]} for name, spec in TINY["methods"].items()}  # type: ignore[attr-defined]
    workspace.study(
        kernels={**TINY["kernels"], "gaussian": {"type": "Gaussian"}},  # type: ignore[dict-item]
        methods={**methods, "paired": {"type": "mypackage.paired:Paired"}},
    )
    own = {"features": 1, "errors": 1, "scores": 1, "aggregate": 1}
    assert workspace.planned() == own
    workspace.snakemake(TABLE)
    assert "paired" in set(workspace.results()["method"])
    workspace.append("mypackage/paired.py", "\n# a comment\n")
    assert workspace.planned() == {}
    workspace.append("mypackage/paired.py", "\nEDITED = True\n")
    assert workspace.planned() == own
