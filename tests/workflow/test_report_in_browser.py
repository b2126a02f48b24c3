"""The page of a real run in Chromium: it works, loads nothing, and what a study or a file says is text only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from ..report.browser import accessibility, complaints, needs_axe, needs_browser, press, requested, visit
from .conftest import TINY, Workspace, _copy

pytestmark = [pytest.mark.workflow, pytest.mark.nightly, needs_browser]

HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=2>\"'&"
ERROR = "relative_frobenius_error"


@pytest.fixture(scope="module")
def page(fresh: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study that tries to be code in its texts, labels, and the columns of its data file."""
    workspace = _copy(fresh, tmp_path_factory.mktemp("page"))
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((120, 5)), columns=[f"{HOSTILE}{i}" for i in range(5)])
    table[HOSTILE] = np.where(table.iloc[:, 0] > 0, f"up {HOSTILE}", "down")
    table.to_csv(workspace.folder / "mine.csv", index=False)
    mine = {"name": "mine", "file": "mine.csv", "target": HOSTILE, "task": "classification", "columns": 5}
    workspace.study(
        title=f"Tiny {HOSTILE}",
        text=f"Text {HOSTILE}",
        datasets=[*TINY["datasets"], {**mine, "preprocess": "unit_norm"}],
        kernels={
            f"k{i} {HOSTILE}": {"type": "DeltaGaussian", "coefficients": [1, -1], "sigmas": [0.5, i]}
            for i in (3, 4)
        },
        methods={
            **{name: TINY["methods"][name] for name in ("GRFF", "GORF")},
            f"SRF {HOSTILE}": {"type": "SRF"},
        },
        tables=[
            {"type": "grid", "title": f"Errors {HOSTILE}", "metric": ERROR, "caption": HOSTILE},
            {"type": "ranking", "title": "Ranking", "metric": ERROR},
        ],
        figures=[{"type": "lines", "title": f"Lines {HOSTILE}", "metric": ERROR, "caption": HOSTILE}],
        claims=[{"type": "better", "title": HOSTILE, "metric": ERROR, "method": "GORF", "than": "GRFF"}],
        learners={f"SVM {HOSTILE}": {"type": "LinearSVM", "C": 1}},
    )
    workspace.snakemake("tiny")
    return workspace.folder / "results/report/index.html"


@pytest.fixture
def driver(page: Path) -> Iterator[Chrome]:
    with visit(page) as driver:
        yield driver


def texts(driver: Chrome, selector: str) -> list[str]:
    return [item.get_property("textContent") for item in driver.find_elements(By.CSS_SELECTOR, selector)]


def shown(driver: Chrome, selector: str) -> int:
    return sum(item.is_displayed() for item in driver.find_elements(By.CSS_SELECTOR, selector))


def test_what_a_study_or_a_file_says_is_text(driver: Chrome) -> None:
    assert driver.execute_script("return typeof hacked") == "undefined"
    assert driver.find_elements(By.CSS_SELECTOR, "img[onerror], main script") == []
    said = texts(driver, "h2, h3, p, td, figcaption, li")
    for what in ("Tiny ", "Text ", "Errors ", "Lines ", "SRF ", "k3 ", "SVM "):
        assert any(f"{what}{HOSTILE}" in text for text in said), what


def test_tables_sort_and_filter_and_the_page_is_searched(driver: Chrome) -> None:
    for button in driver.find_elements(By.CSS_SELECTOR, "th button"):
        if button.is_displayed():
            button.click()
    assert len(driver.find_elements(By.CSS_SELECTOR, "th[aria-sort=ascending]")) >= 2
    assert complaints(driver) == []
    rows = ".block:has(.filter) tbody tr"
    every = shown(driver, rows)
    driver.find_element(By.CSS_SELECTOR, ".filter input").send_keys("GORF")
    assert 0 < shown(driver, rows) < every
    search = driver.find_element(By.ID, "search")
    search.send_keys("no such row")
    assert shown(driver, ".block tbody tr") == 0
    search.send_keys(Keys.CONTROL + "a" + Keys.NULL + "mine")
    assert "mine" in driver.find_element(By.ID, "found").text
    assert shown(driver, ".block tbody tr") > 0


def test_keys_read_a_value_and_open_the_commands(driver: Chrome) -> None:
    driver.find_element(By.CSS_SELECTOR, "figure svg[tabindex]").send_keys(Keys.ARROW_RIGHT)
    assert "95 % confidence interval" in driver.find_element(By.ID, "tip").text
    method = driver.find_element(By.CSS_SELECTOR, ".legend button[data-method^='SRF']")
    method.send_keys(Keys.ENTER)
    assert driver.find_element(By.CSS_SELECTOR, "#card .label").text.startswith(f"SRF {HOSTILE}")
    driver.refresh()
    assert driver.find_element(By.CSS_SELECTOR, "#card .label").text.startswith(f"SRF {HOSTILE}")
    press(driver, Keys.ESCAPE)
    assert not driver.find_element(By.ID, "card").is_displayed()
    driver.find_element(By.CSS_SELECTOR, "#tiny-provenance > summary").send_keys(Keys.ENTER)
    driver.find_element(By.CSS_SELECTOR, ".commands summary").send_keys(Keys.ENTER)
    command = driver.find_element(By.CSS_SELECTOR, ".commands pre")
    assert command.is_displayed()
    assert "python -m rflib sample" in command.text


def test_nothing_is_asked_for_nor_complained_of(driver: Chrome) -> None:
    assert complaints(driver) == []
    assert requested(driver) == []
    driver.execute_script("fetch('http://127.0.0.1:1/').catch(() => 0)")
    assert "Content Security Policy" in " ".join(complaints(driver))


def test_narrow_window(driver: Chrome) -> None:
    root = driver.find_element(By.TAG_NAME, "html")
    assert root.get_property("scrollWidth") == root.get_property("clientWidth")


def test_snakemakes_own_report_is_an_archive_that_opens(page: Path) -> None:
    """Snakemake's report has the tables, figures and the page of the study, and asks for nothing of a network."""
    folder = page.parents[2]
    Workspace(folder).snakemake("tiny", "--report", "archive.zip")
    with ZipFile(folder / "archive.zip") as archive:
        archive.extractall(folder)
        names = {Path(name).name for name in archive.namelist()}
    shown_parts = [
        *folder.glob("results/tiny/tables/*.csv"),
        *folder.glob("results/tiny/figures/*.svg"),
        page,
    ]
    assert {path.name for path in shown_parts} <= names
    with visit(folder / "archive/report.html") as driver:
        text = driver.find_element(By.TAG_NAME, "body").text
        assert {"Report", "tiny"} <= set(text.split("\n"))
        assert [url for url in requested(driver) if not url.startswith("file:")] == []


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_fault(driver: Chrome, theme: str) -> None:
    found: dict[str, Any] = accessibility(driver, theme)
    assert found["faults"] == []
    assert found["passes"] > 15
