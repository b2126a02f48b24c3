"""The order of the tests: those that start Snakemake take longest and come first."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the workflow before all others."""
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)
