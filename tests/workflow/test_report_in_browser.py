"""The page of a real run in Chromium: it works, loads nothing, and shows what a study says as text only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..report.browser import CHROMIUM, visit
from .conftest import TINY, Workspace, _copy

pytestmark = [pytest.mark.workflow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]

HOSTILE = "</script><script>errors.push(1)</script><img src=x onerror=errors.push(2)>\"'&"
ERROR = "relative_frobenius_error"
STEPS = """addEventListener("load", () => {
const seen = {hostile: document.querySelectorAll("img[onerror], h2 script, p script").length};
seen.texts = [...document.querySelectorAll("h2, h3, p, td, figcaption, li")].map((item) => item.textContent);
for (const button of document.querySelectorAll("th button")) { button.click(); button.click(); }
seen.sorted = document.querySelectorAll("th[aria-sort='descending']").length;
const type = (input, text) => { input.value = text; input.dispatchEvent(new Event("input", {bubbles: true})); };
const filter = document.querySelector(".filter input");
const rows = () => [...filter.closest(".block").querySelectorAll("tbody tr")].filter((row) => !row.hidden).length;
seen.rows = ["", "GORF", "no such row", ""].map((text) => (type(filter, text), rows()));
const background = () => getComputedStyle(document.body).backgroundColor;
const light = background();
document.getElementById("theme").click();
seen.dark = light !== background();
seen.figures = 0;
for (const zoom of document.querySelectorAll(".zoom")) {
  zoom.click();
  seen.figures += document.querySelector("#large img").naturalWidth > 0;
  document.getElementById("close").click();
}
seen.zooms = document.querySelectorAll(".zoom").length;
document.querySelectorAll("details").forEach((item) => { item.open = true; });
seen.commands = [...document.querySelectorAll(".commands pre")].map((item) => item.textContent);
const reachable = [...document.querySelectorAll("button, input, a, [tabindex]")];
seen.focusable = reachable.every((item) => item.tabIndex >= 0);
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
seen.loaded = loaded.filter((name) => !name.startsWith("data:"));
seen.errors = window.errors;
seen.blocked = [];
document.addEventListener("securitypolicyviolation", (event) => { seen.blocked.push(event.effectiveDirective); });
fetch("http://127.0.0.1:1/").catch(() => 0).then(() => setTimeout(() => tell(seen), 100));
});"""


@pytest.fixture(scope="module")
def seen(fresh: Workspace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a visitor finds on the page of a study whose texts try to be code."""
    workspace = _copy(fresh, tmp_path_factory.mktemp("page"))
    workspace.study(
        title=f"Tiny {HOSTILE}",
        text=f"Text {HOSTILE}",
        kernels={
            f"k{i}": {"type": "DeltaGaussian", "coefficients": [1, -1], "sigmas": [0.5, i]} for i in (3, 4, 5)
        },
        methods={**TINY["methods"], f"RM {HOSTILE}": {"type": "SRF"}},
        tables=[
            {"type": "grid", "title": f"Errors {HOSTILE}", "metric": ERROR, "caption": HOSTILE},
            {"type": "ranking", "title": "Ranking", "metric": ERROR},
        ],
        figures=[{"type": "lines", "title": f"Lines {HOSTILE}", "metric": ERROR, "caption": HOSTILE}],
        claims=[{"type": "better", "title": HOSTILE, "metric": ERROR, "method": "GORF", "than": "GRFF"}],
    )
    workspace.snakemake("tiny")
    page: Path = workspace.folder / "results/report/index.html"
    found: dict[str, Any] = visit(page, STEPS)
    return found


def test_what_a_study_says_is_text(seen: dict[str, Any]) -> None:
    assert seen["hostile"] == 0
    assert seen["errors"] == []
    for what in ("Tiny ", "Text ", "Errors ", "Lines ", "RM "):
        assert any(f"{what}{HOSTILE}" in text for text in seen["texts"]), what


def test_tables_sort_and_filter(seen: dict[str, Any]) -> None:
    assert seen["sorted"] >= 2
    every, gorf, none, again = seen["rows"]
    assert 0 < gorf < every == again
    assert none == 0


def test_figures_theme_and_narrow_window(seen: dict[str, Any]) -> None:
    assert seen["figures"] == seen["zooms"] == 1
    assert seen["dark"]
    assert seen["wide"] == 0
    assert seen["focusable"]


def test_provenance_has_the_commands(seen: dict[str, Any]) -> None:
    assert any("python -m rflib sample" in command for command in seen["commands"])


def test_nothing_leaves_the_page(seen: dict[str, Any]) -> None:
    assert seen["loaded"] == []
    assert seen["blocked"] == ["connect-src"]
