"""The README's Python runs as it is printed, and prints what stands beside it."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def printed_example() -> tuple[str, list[str]]:
    """The code of the README, and the lines that it prints, which are comments at the ends of its own."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return code, re.findall(r"^print.*  # (.*)$", code, re.MULTILINE)


def test_the_library_example_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, expected = printed_example()
    exec(compile(code, str(README), "exec"), {})
    assert capsys.readouterr().out.splitlines() == expected
