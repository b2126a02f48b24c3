"""docs/data.md has the lists that the data sets' entries make."""

import runpy
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/data.md"


def test_page_is_up_to_date():
    made = runpy.run_path(str(PAGE.with_suffix(".py")))["page"]()
    assert PAGE.read_text(encoding="utf-8") == made, "run python docs/data.py"
