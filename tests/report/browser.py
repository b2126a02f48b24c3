"""Chromium without a window, driven as by a visitor with mouse and keys, and what it logs and asks for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
AXE = Path(__file__).parent / "axe/node_modules/axe-core/axe.min.js"

needs_browser = pytest.mark.skipif(
    None in (CHROMIUM, DRIVER), reason="no Chromium with its driver is installed: make browser"
)
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: make browser")

_AXE = """const tell = arguments[arguments.length - 1];
document.querySelectorAll("details").forEach((item) => { item.open = true; });
document.documentElement.dataset.theme = arguments[0];
axe.run().then(({violations, passes}) => tell({
  faults: violations.map(({id, impact, nodes}) => [id, impact, nodes.map((node) => node.html)]),
  passes: passes.length,
}));"""


@contextmanager
def visit(page: Path, width: int = 500) -> Iterator[Chrome]:
    """The page in a window of so many pixels across."""
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in ("headless", "no-sandbox", "disable-gpu", "force-prefers-reduced-motion"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    try:
        driver.set_window_size(width, 900)
        driver.get(page.as_uri())
        yield driver
    finally:
        driver.quit()


def visible(driver: Chrome, selector: str) -> list[WebElement]:
    """The elements of a selector that are shown."""
    return [item for item in driver.find_elements(By.CSS_SELECTOR, selector) if item.is_displayed()]


def focus(driver: Chrome, selector: str) -> WebElement:
    """Tab until the first element of the selector has the focus."""
    wanted = driver.find_element(By.CSS_SELECTOR, selector)
    for _ in range(200):
        if driver.switch_to.active_element == wanted:
            return wanted
        press(driver, Keys.TAB)
    raise AssertionError(f"Tab does not reach {selector}")


def press(driver: Chrome, *keys: str) -> None:
    """Press and release keys, as at a keyboard: they go to what has the focus."""
    ActionChains(driver).send_keys(*keys).perform()


def complaints(driver: Chrome) -> list[str]:
    """Errors and warnings of the console since the last call."""
    return [e["message"] for e in driver.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]


def requested(driver: Chrome) -> list[str]:
    """Addresses that the page asked for since the last call, besides itself and what it holds."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith("data:") and url != driver.current_url.split("#")[0]]


def accessibility(driver: Chrome, theme: str) -> dict[str, Any]:
    """What axe-core finds with all details open: ``faults``, and how many rules the page ``passes``."""
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    driver.set_script_timeout(120)
    found: dict[str, Any] = driver.execute_async_script(_AXE, theme)
    return found
