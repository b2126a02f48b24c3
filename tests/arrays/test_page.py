"""The Python of docs/devices.md runs as it is printed, with torch."""

from pathlib import Path

import pytest

from ..test_docs import blocks

PAGE = (Path(__file__).parents[2] / "docs/devices.md").read_text(encoding="utf-8")


def test_the_page_runs_as_printed():
    torch = pytest.importorskip("torch")
    names: dict = {}
    for code in blocks(PAGE, "python"):
        exec(compile(code, "docs/devices.md", "exec"), names)
    assert isinstance(names["Z"], torch.Tensor)
