"""The page in a real browser: sorting, filter, search, theme, figures, narrow window, accessibility, requests."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from rflib.files import write_table
from rflib.report.figures import write_figures
from rflib.report.page import write_page
from rflib.report.tables import write_tables

from .browser import CHROMIUM, visit

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

AXE = Path(__file__).parent / "axe/node_modules/axe-core/axe.min.js"

ERROR = "relative_frobenius_error"
METHODS = [f"M{i:02d}" for i in range(12)]

STEPS = """{
const seen = {errors: window.errors};
const table = document.querySelector("#made_up-table-00_grid ~ .block table");
const shown = () => [...table.tBodies[0].rows].filter((row) => !row.hidden);
const column = (i) => shown().map((row) => row.cells[i].textContent);
const heads = table.tHead.rows[0].cells;
seen.before = column(2);
heads[3].firstElementChild.click();
seen.up = [heads[3].getAttribute("aria-sort"), ...column(2)];
heads[3].firstElementChild.click();
seen.down = [heads[3].getAttribute("aria-sort"), ...column(2)];
heads[2].firstElementChild.click();
seen.byText = [heads[3].getAttribute("aria-sort"), ...column(2)];
const type = (input, text) => { input.value = text; input.dispatchEvent(new Event("input", {bubbles: true})); };
const filter = table.closest(".block").querySelector("input");
type(filter, "letter m03");
seen.filtered = column(2);
seen.count = table.closest(".block").querySelector("output").textContent;
type(filter, "");
const search = document.getElementById("search");
type(search, "orthogonal random");
seen.cards = [...document.querySelectorAll(".card:not([hidden]) h3 code")].map((code) => code.textContent);
seen.found = document.getElementById("found").textContent;
type(search, "");
const background = () => getComputedStyle(document.body).backgroundColor;
const light = background();
document.getElementById("theme").click();
seen.dark = light !== background();
document.querySelector(".zoom").click();
seen.large = document.getElementById("large").open && document.querySelector("#large img").src.startsWith("data:");
document.getElementById("close").click();
seen.closed = !document.getElementById("large").open;
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
seen.loaded = loaded.filter((name) => !name.startsWith("data:"));
const unnamed = (item) => !(item.textContent.trim() || item.getAttribute("aria-label") || item.labels?.length);
seen.unnamed = [...document.querySelectorAll("button, input, a")].filter(unnamed).length;
const ids = [...document.querySelectorAll("[id]")].map((item) => item.id);
seen.twice = ids.filter((id, i) => ids.indexOf(id) !== i);
const targets = [...document.querySelectorAll("a[href^='#']")].map((a) => a.getAttribute("href").slice(1));
seen.dangling = targets.filter((id) => !ids.includes(id));
tell(seen);
}"""
RUN_AXE = """addEventListener("load", async () => {
document.querySelectorAll("details").forEach((item) => { item.open = true; });
document.documentElement.dataset.theme = "THEME";
const {violations, passes} = await axe.run();
const faults = violations.map(({id, impact, nodes}) => [id, impact, nodes.map((node) => node.html)]);
tell({faults, passes: passes.length});
});"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a made-up study, with a table, a figure and a claim."""
    folder = tmp_path_factory.mktemp("browser")
    rows = [
        {
            "study": "made_up",
            "data": dataset,
            "dataset": dataset,
            "kernel": "Gaussian",
            "kernel_id": "Gaussian",
            "method": method,
            "method_id": method,
            "learner": None,
            "s_label": "d",
            "at": float("nan"),
            "s": 4,
            "n_components": 16,
            "seed": seed,
            "metric": ERROR,
            # numbers that would be in another order as text
            "value": (1000.0 if method == "M00" else 9.0 - 0.5 * int(method[1:])) + 0.01 * seed,
            "seconds": 0.1,
            "peak_memory": 1e8,
            "fingerprint": "0",
            "versions": "rflib=0",
            "host": "here",
        }
        for dataset in ("letter", "usps")
        for method in METHODS
        for seed in range(3)
    ]
    study = {
        "title": "Made up",
        "datasets": [{"name": "letter"}, {"name": "usps"}],
        "kernels": {"Gaussian": {"type": "Gaussian"}},
        "methods": {method: {"type": "RFF"} for method in METHODS},
        "s": [4],
        "repetitions": 3,
        "tables": [{"type": "grid", "title": "Grid", "metric": ERROR}],
        "figures": [{"type": "lines", "title": "Lines", "metric": ERROR, "methods": METHODS[:2]}],
        "claims": [{"type": "better", "title": "C", "metric": ERROR, "method": "M01", "than": "M00"}],
    }
    results = folder / "results" / "made_up"
    results.mkdir(parents=True)
    write_table(results / "cells.parquet", pd.DataFrame(rows))
    for write, name in ((write_tables, "tables"), (write_figures, "figures")):
        write(study, results / "cells.parquet", folder, results / name)
    (folder / "made_up.yaml").write_text(yaml.safe_dump(study))
    page = folder / "index.html"
    write_page([folder / "made_up.yaml"], folder / "results", page)
    return page


@pytest.fixture(scope="module")
def seen(page):
    return visit(page, STEPS)


def test_sorting_is_by_number(seen):
    best_first = [*METHODS[:0:-1], "M00"]
    assert seen["before"] == METHODS * 2
    assert seen["up"][0] == "ascending"
    assert seen["up"][1::2] == best_first
    assert seen["down"][0] == "descending"
    assert seen["down"][1::2] == best_first[::-1]
    assert seen["byText"][0] == "none"
    assert seen["byText"][1::2] == METHODS


def test_filter_and_search(seen):
    assert seen["filtered"] == ["M03"]
    assert seen["count"] == "1 of 24 rows"
    assert {"ORF", "GORF", "MVORF"} <= set(seen["cards"])
    assert "TensorSketch" not in seen["cards"]
    assert "with “orthogonal random”" in seen["found"]


def test_theme_and_large_figures(seen):
    assert seen["dark"]
    assert seen["large"]
    assert seen["closed"]


def test_narrow_window_scrolls_only_inside_tables(seen):
    assert seen["wide"] == 0


def test_page_is_sound(seen):
    assert seen["errors"] == []
    assert seen["loaded"] == []
    assert seen["unnamed"] == 0
    assert seen["twice"] == []
    assert seen["dangling"] == []


needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: make axe")


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_fault(page, theme):
    found = visit(page, AXE.read_text(encoding="utf-8"), RUN_AXE.replace("THEME", theme))
    assert found["faults"] == []
    assert found["passes"] > 15


@needs_axe
def test_axe_finds_a_planted_fault(page):
    plant = "document.querySelector('.zoom img').removeAttribute('alt');"
    plant += "document.querySelector('.zoom').removeAttribute('aria-label');"
    found = visit(page, plant, AXE.read_text(encoding="utf-8"), RUN_AXE.replace("THEME", "light"))
    assert {"button-name", "image-alt"} <= {fault[0] for fault in found["faults"]}
