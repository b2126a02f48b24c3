"""The page in a real browser: sorting, filter, search, theme, figures, keys, window, accessibility, requests."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from .browser import (
    accessibility,
    complaints,
    focus,
    needs_axe,
    needs_browser,
    press,
    requested,
    visible,
    visit,
)
from .made_up import METHODS

pytestmark = needs_browser

BLOCK = "#made_up-table-00_grid ~ .block"
TABLE = f"{BLOCK} table"


def column(driver, number):
    """Texts of a column of the study's table, of the rows that are not filtered out."""
    return [item.text for item in visible(driver, f"{TABLE} tbody td:nth-child({number})")]


def sorting(driver):
    heads = driver.find_elements(By.CSS_SELECTOR, f"{TABLE} th")
    return [head.get_attribute("aria-sort") for head in heads]


def test_sorting_is_by_number(driver):
    heads = driver.find_elements(By.CSS_SELECTOR, f"{TABLE} th button")
    best_first = [*METHODS[:0:-1], "M00"]
    assert column(driver, 3) == METHODS * 2
    heads[3].click()
    assert sorting(driver)[3] == "ascending"
    assert column(driver, 3)[::2] == best_first
    heads[3].click()
    assert sorting(driver)[3] == "descending"
    assert column(driver, 3)[::2] == best_first[::-1]
    heads[2].click()
    assert sorting(driver)[2:4] == ["ascending", "none"]
    assert column(driver, 3)[::2] == METHODS


def test_filter_and_search(driver):
    field = driver.find_element(By.CSS_SELECTOR, f"{BLOCK} input")
    field.send_keys("letter m03")
    assert column(driver, 3) == ["M03"]
    assert driver.find_element(By.CSS_SELECTOR, f"{BLOCK} output").text == "1 of 24 rows"
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL + Keys.DELETE)
    assert len(column(driver, 3)) == 24
    driver.find_element(By.ID, "search").send_keys("orthogonal random")
    cards = {item.text for item in visible(driver, ".card h3 code")}
    assert {"ORF", "GORF", "MVORF"} <= cards
    assert "TensorSketch" not in cards
    assert column(driver, 3) == []
    assert "contain “orthogonal random”" in driver.find_element(By.ID, "found").text


def test_theme_and_large_figures(driver):
    background = driver.find_element(By.TAG_NAME, "body").value_of_css_property
    light = background("background-color")
    driver.find_element(By.ID, "theme").click()
    assert background("background-color") != light
    driver.set_window_size(1400, 900)
    panel = driver.find_element(By.CSS_SELECTOR, "svg.panel")
    before = panel.rect["width"]
    larger = driver.find_element(By.CSS_SELECTOR, ".larger")
    larger.click()
    assert larger.get_attribute("aria-pressed") == "true"
    assert panel.rect["width"] > before
    larger.click()
    assert panel.rect["width"] == before


def test_tab_goes_once_through_all_that_can_be_used(driver):
    usable = driver.find_elements(By.CSS_SELECTOR, "a, button, input, summary, [tabindex]")
    usable = [item for item in usable if item.get_property("tabIndex") >= 0 and item.is_enabled()]
    usable = [item for item in usable if item.get_dom_attribute("type") != "radio" or item.is_selected()]
    expected = [
        item for item in usable if driver.execute_script("return arguments[0].checkVisibility()", item)
    ]
    reached = []
    for _ in expected:
        press(driver, Keys.TAB)
        reached.append(driver.switch_to.active_element)
    assert reached == expected


def test_keys_do_what_they_should(driver):
    press(driver, Keys.TAB, Keys.ENTER)
    assert driver.current_url.endswith("#main")
    focus(driver, f"{TABLE} th:nth-child(4) button")
    press(driver, Keys.ENTER)
    assert sorting(driver)[3] == "ascending"
    press(driver, Keys.SPACE)
    assert sorting(driver)[3] == "descending"
    details = focus(driver, "#made_up-provenance > summary")
    press(driver, Keys.ENTER)
    assert details.find_element(By.XPATH, "..").get_attribute("open")


@pytest.mark.parametrize("width", [500, 1400])
def test_only_tables_are_wider_than_the_window(page, width):
    with visit(page, width) as driver:
        root = driver.find_element(By.TAG_NAME, "html")
        assert root.get_property("scrollWidth") == root.get_property("clientWidth")


@pytest.mark.nightly
def test_long_texts_of_tables_wrap_and_only_tables_of_many_rows_scroll_down(page):
    with visit(page, 1280) as driver:
        driver.execute_script("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
        tables = [item for item in visible(driver, ".scroll") if item.find_elements(By.TAG_NAME, "tr")]
        assert len(tables) > 3
        for table in tables:
            rows = len(table.find_elements(By.CSS_SELECTOR, "tbody tr"))
            hidden = table.get_property("scrollHeight") - table.get_property("clientHeight")
            assert (hidden > 0) == (rows > 20), table.get_attribute("aria-label")
            if table.get_property("scrollWidth") == table.get_property("clientWidth"):
                assert table.value_of_css_property("background-size") == "0px 100%"
        cells = [cell for cell in visible(driver, "table.data td") if len(cell.text) > 24]
        assert any(len(cell.text) <= 45 for cell in cells)
        assert {cell.value_of_css_property("white-space") for cell in cells} == {"normal"}


def test_the_edge_of_a_table_is_shaded_until_its_end_is_shown(page):
    with visit(page) as driver:
        table = driver.find_element(By.CSS_SELECTOR, f"{BLOCK} .scroll")
        assert table.get_property("scrollWidth") > table.get_property("clientWidth")
        assert table.value_of_css_property("background-size") == "24px 100%"
        driver.execute_script("arguments[0].scrollLeft = 9999", table)
        WebDriverWait(driver, 10).until(
            lambda _: table.value_of_css_property("background-size") == "0px 100%"
        )


def test_page_is_sound(driver):
    assert complaints(driver) == []
    assert requested(driver) == []
    ids = [item.get_attribute("id") for item in driver.find_elements(By.CSS_SELECTOR, "[id]")]
    assert len(set(ids)) == len(ids)
    links = driver.find_elements(By.CSS_SELECTOR, "a[href^='#']")
    assert {link.get_dom_attribute("href")[1:] for link in links} <= set(ids)


def test_complaints_and_requests_are_seen(tmp_path):
    """The checks above can fail: an error in a script and a request for another file are noticed."""
    faulty = tmp_path / "faulty.html"
    faulty.write_text("<!doctype html><img src=other.png alt=''><script>undefined_name;</script>")
    with visit(faulty) as driver:
        assert requested(driver) == [(tmp_path / "other.png").as_uri()]
        assert "undefined_name is not defined" in " ".join(complaints(driver))


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_fault(driver, theme):
    found = accessibility(driver, theme)
    assert found["faults"] == []
    assert found["passes"] > 15


@needs_axe
def test_axe_finds_a_planted_fault(driver):
    driver.execute_script("""document.querySelector(".legend button").replaceChildren();
        document.documentElement.removeAttribute("lang");""")
    faults = accessibility(driver, "light")["faults"]
    assert {"button-name", "html-has-lang"} <= {fault[0] for fault in faults}
