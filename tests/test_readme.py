"""The README's Python runs as it is printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_library_example_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(README), "exec"), {})
    scores = [float(word) for word in capsys.readouterr().out.split()]
    assert len(scores) == 2
    assert min(scores) > 0.85
