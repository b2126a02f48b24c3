"""docs/data.md is what the registry makes of it."""

from pathlib import Path

from rflib.datasets.docs import page


def test_page_is_up_to_date():
    assert (Path(__file__).parents[2] / "docs/data.md").read_text(encoding="utf-8") == page()
