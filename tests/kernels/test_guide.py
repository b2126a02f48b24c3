"""The Python in docs/kernels.md runs as it is printed."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/kernels.md"


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL))
def test_examples_run_as_printed(code):
    exec(compile(code, str(GUIDE), "exec"), {})
