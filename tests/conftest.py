"""The order of the tests, and warnings that most of them give cause for."""

from __future__ import annotations

import re

import pytest
from _pytest.compat import NOTSET
from hypothesis import settings

pytest.register_assert_rewrite("tests.maps.laws", "tests.learners.laws", "tests.interrupts")

# A search that begins anew in each run fails by chance, in a run that changed nothing: `make fuzz` alone does so.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")

# Grids and widths are arbitrary in most tests of these folders.
_EDGE = "rflib.learners.grid_edge.GridEdgeWarning"
_WIDTH = "rflib.kernels.width_warning.WidthWarning"
ARBITRARY = {
    "learners": [_EDGE],
    "maps": [_WIDTH, _EDGE],
    "measures": [_WIDTH],
    "arrays": [_EDGE, _WIDTH],
    "frequencies": [_WIDTH],
}

# scikit-learn's checks that fit the learners of tables, which takes them a second, as other checks do.
_REPEATED = re.compile(r"Kernel(Classifier|Regressor)\(\)-.*(readonly_memmap|sparse_matrix|not_an_array)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the workflow, which take longest, before all others; leave out laws that do not apply."""
    items[:] = [item for item in items if not _does_not_apply(item)]
    for item in items:
        if getattr(item, "originalname", "") in getattr(getattr(item, "cls", None), "nightly", ()):
            item.add_marker(pytest.mark.nightly)
        if _REPEATED.search(item.name):
            item.add_marker(pytest.mark.nightly)
        for category in ARBITRARY.get(item.path.parent.name, ()):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{category}"), append=False)
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)


def _does_not_apply(item: pytest.Item) -> bool:
    """Whether the class of a law declares none of its cases, or that it lacks the law."""
    cases = getattr(getattr(item, "callspec", None), "params", {}).values()
    lacks = getattr(getattr(item, "cls", None), "lacks", ())
    return any(case is NOTSET for case in cases) or getattr(item, "originalname", "") in lacks
