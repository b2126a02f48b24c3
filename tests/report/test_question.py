"""A report that answers: single a method out, read values, choose what to show, switch an axis, download."""

import base64
import csv
import io
import re
from xml.etree import ElementTree

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from rflib.report.page import write_page

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

pytestmark = needs_browser

FIGURE = "#made_up-figure-00_lines"
PANEL = f"{FIGURE} .panels:not([hidden]) svg"
LEGEND = f"{FIGURE} .legend [data-method='M01']"
GRID = "table[data-name=Grid]"


@pytest.fixture
def wide(page):
    with visit(page, 1400) as driver:
        driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
        yield driver


def opacity(driver, method, panel=0):
    line = driver.find_elements(By.CSS_SELECTOR, PANEL)[panel].find_element(
        By.CSS_SELECTOR, f"[data-points][data-method='{method}']"
    )
    WebDriverWait(driver, 10).until(
        lambda _: (
            not driver.execute_script(
                "return document.getAnimations().some((item) => item instanceof CSSTransition)"
            )
        )
    )
    return float(line.value_of_css_property("opacity"))


def alone(driver):
    """The method that is singled out in both panels, and the head of its card; nothing if all are alike."""
    seen = [[opacity(driver, method, panel) == 1 for method in ("M00", "M01")] for panel in (0, 1)]
    assert seen[0] == seen[1]
    card = driver.find_element(By.ID, "card")
    label = card.find_element(By.CSS_SELECTOR, ".label").text if card.is_displayed() else ""
    return (
        "M00" if seen[0] == [True, False] else "M01" if seen[0] == [False, True] else "",
        label.split("\n")[0],
    )


def place(driver, panel, at):
    """Where a point of M01 lies in the window, from the middle of its panel."""
    return driver.execute_script(
        """const [panel, at] = arguments;
        panel.scrollIntoView({block: "center", behavior: "instant"});
        const point = panel.points.filter((item) => item.line.dataset.method === "M01")[at];
        const {x, y} = new DOMPoint(point.px, point.py).matrixTransform(panel.getScreenCTM());
        const box = panel.getBoundingClientRect();
        return [x - box.x - box.width / 2, y - box.y - box.height / 2, x, y];""",
        panel,
        at,
    )


def said(driver):
    return driver.find_element(By.ID, "said").text


def fragment(driver):
    return driver.current_url.partition("#")[2]


def test_the_mouse_singles_a_method_out(wide):
    assert alone(wide) == ("", "")
    legend = wide.find_element(By.CSS_SELECTOR, LEGEND)
    ActionChains(wide).move_to_element(legend).perform()
    assert alone(wide) == ("M01", "M01")
    ActionChains(wide).move_to_element(wide.find_element(By.CSS_SELECTOR, f"{FIGURE} h3")).perform()
    assert alone(wide) == ("", "")
    row = wide.find_element(By.CSS_SELECTOR, f"{GRID} tbody tr:nth-child(1) td:nth-child(4)")
    ActionChains(wide).move_to_element(row).perform()
    assert wide.find_element(By.CSS_SELECTOR, "#card .label code").text == "RFF()"
    assert wide.find_element(By.CSS_SELECTOR, "#card h3").text == "Random Fourier features RFF"


def test_a_click_singles_out_until_the_next_or_escape(wide):
    legend = wide.find_element(By.CSS_SELECTOR, LEGEND)
    legend.click()
    ActionChains(wide).move_to_element(wide.find_element(By.CSS_SELECTOR, f"{FIGURE} h3")).perform()
    assert alone(wide) == ("M01", "M01")
    assert legend.get_attribute("aria-pressed") == "true"
    assert fragment(wide) == "?one=made_up%2FM01"
    shade = wide.find_elements(By.CSS_SELECTOR, f"{GRID} tr[data-method=M01]")
    assert len({row.value_of_css_property("background-color") for row in shade}) == 1
    wide.get(wide.current_url)
    assert alone(wide) == ("M01", "M01"), "the address holds it"
    press(wide, Keys.ESCAPE)
    assert alone(wide) == ("", "")
    assert fragment(wide) == ""


def test_keys_single_a_method_out(driver):
    first = focus(driver, f"{FIGURE} .legend button")
    assert alone(driver) == ("M00", "M00")
    press(driver, Keys.ARROW_RIGHT)
    assert alone(driver) == ("M01", "M01")
    press(driver, Keys.ENTER, Keys.TAB)
    assert alone(driver)[0] == "M01"
    assert said(driver) == "M01 is singled out"
    assert first.get_property("tabIndex") == -1, "one stop of the tab key for a legend, at the last place"
    cell = focus(driver, f"{GRID} button.method")
    assert cell.text == "M00"
    press(driver, Keys.ARROW_DOWN)
    assert driver.switch_to.active_element.text == "M01"


def test_the_mouse_reads_a_value(wide):
    panel = wide.find_elements(By.CSS_SELECTOR, PANEL)[1]
    x, y, *_ = place(wide, panel, 0)
    ActionChains(wide).move_to_element_with_offset(panel, round(x), round(y)).perform()
    lines = wide.find_element(By.ID, "tip").text.split("\n")
    assert lines == [
        *("M01", "number of columns D: 16", "relative error (Frobenius): 8.51"),
        *("95 % confidence interval: 8.499 to 8.521", "n = 3"),
    ]
    ring = wide.find_element(By.CSS_SELECTOR, ".ring").rect
    assert (
        abs(ring["x"] + ring["width"] / 2 - place(wide, panel, 0)[2] - wide.execute_script("return scrollX"))
        < 2
    )


def test_keys_and_screen_readers_read_values(driver):
    panel = focus(driver, PANEL)
    assert panel.accessible_name.startswith("letter, Gaussian: 4 points. Left and right go along a line")
    press(driver, Keys.ARROW_RIGHT)
    assert said(driver).startswith(
        "M00, number of columns D 16: 1000 (1000 to 1000, 95 % confidence interval, n = 3"
    )
    press(driver, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert said(driver).startswith("M01, number of columns D 32: 4.255 (")
    assert alone(driver) == ("M01", "M01")
    summary = focus(driver, f"{FIGURE} .numbers summary")
    press(driver, Keys.ENTER)
    rows = WebDriverWait(driver, 10).until(lambda _: visible(driver, f"{FIGURE} .numbers tbody tr"))
    assert len(rows) == 8
    assert rows[3].text == "letter, Gaussian M01 32 4.255 4.249 4.261 3 95 % confidence interval"
    assert summary.is_displayed()


def test_a_tap_reads_a_value_and_keeps_the_method(page):
    with visit(page, 500) as driver:
        driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
        panel = driver.find_elements(By.CSS_SELECTOR, PANEL)[0]
        *_, x, y = place(driver, panel, 1)
        for kind, points in (("touchStart", [{"x": x + 6, "y": y - 6}]), ("touchEnd", [])):
            driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        WebDriverWait(driver, 10).until(lambda _: driver.find_element(By.ID, "tip").is_displayed())
        assert "number of columns D: 32" in driver.find_element(By.ID, "tip").text
        assert alone(driver) == ("M01", "M01")
        assert "M01" in fragment(driver)
        tip = driver.find_element(By.ID, "tip").rect
        assert tip["x"] >= 0
        assert tip["x"] + tip["width"] <= driver.execute_script("return innerWidth")


def choose(driver, part, value):
    details = driver.find_element(By.ID, "made_up-choose")
    if not details.get_attribute("open"):
        details.find_element(By.TAG_NAME, "summary").click()
    box = details.find_element(By.CSS_SELECTOR, f"[data-part={part}] input[value={value}]")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", box)
    box.click()


def shown(driver):
    """Titles of the panels, methods of the legend, and the data sets and methods of the table."""
    titles = [item.get_attribute("data-title") for item in visible(driver, PANEL)]
    methods = [item.text for item in visible(driver, f"{FIGURE} .legend button")]
    rows = visible(driver, f"{GRID} tbody tr")
    return (
        titles,
        methods,
        *({item.get_attribute(f"data-{key}") for item in rows} for key in ("dataset", "method")),
    )


def test_choosing_data_sets_and_methods(driver):
    choose(driver, "dataset", "usps")
    choose(driver, "method", "M00")
    seen = shown(driver)
    assert seen[:3] == (["letter, Gaussian"], ["M01"], {"letter"})
    assert len(seen[3]) == 11
    assert visible(driver, f"{PANEL} [data-method=M00]") == []
    output = driver.find_element(By.CSS_SELECTOR, "#made_up-choose output")
    assert output.text == "Showing 1 of 2 data sets, 11 of 12 methods"
    rows = driver.find_element(By.CSS_SELECTOR, "#made_up-table-00_grid ~ .block output")
    assert rows.text == "11 of 24 rows"
    address = driver.current_url
    driver.find_element(By.CSS_SELECTOR, "nav a[href='#methods']").click()
    assert fragment(driver).startswith("methods?made_up.dataset=letter&made_up.method=M01&")
    driver.get("about:blank")
    driver.get(address)
    assert shown(driver) == seen, "the address holds the choice"
    focus(driver, "#made_up-choose > summary")
    press(driver, Keys.ENTER)
    for part in ("dataset", "method"):
        focus(driver, f"#made_up-choose [data-part={part}] .all")
        press(driver, Keys.SPACE)
    assert fragment(driver) == ""
    assert len(shown(driver)[0]) == 2


def test_switching_the_axis(driver):
    choice = f"{FIGURE} .switch input"
    values = [item.get_attribute("value") for item in driver.find_elements(By.CSS_SELECTOR, choice)]
    assert values == ["n_components", "s", "map_seconds"], "what the cells have, and memory is one for all D"
    focus(driver, choice)
    press(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    labels = {item.get_attribute("data-xlabel") for item in visible(driver, PANEL)}
    assert labels == {"seconds to fit and transform"}
    assert fragment(driver) == "?x.made_up-figure-00_lines=map_seconds"
    driver.get(driver.current_url)
    panel = visible(driver, PANEL)[0]
    assert [
        point["at"] for point in driver.execute_script("return arguments[0].points.slice(0, 2)", panel)
    ] == [
        *(0.0032, 0.0064),
    ]


@pytest.fixture
def downloads(driver, tmp_path):
    driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})

    def download(selector, name):
        button = driver.find_element(By.CSS_SELECTOR, selector)
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
        button.click()
        file = tmp_path / name
        WebDriverWait(driver, 30).until(lambda _: file.exists() and file.stat().st_size)
        return file.read_bytes()

    return download


def test_tables_download_as_csv(driver, downloads):
    choose(driver, "dataset", "usps")
    rows = list(
        csv.DictReader(io.StringIO(downloads("#made_up-table-00_grid ~ .block .csv", "grid.csv").decode()))
    )
    assert list(rows[0]) == ["data set", "kernel", "method", "D = 16", "D = 16 std", "D = 32", "D = 32 std"]
    assert len(rows) == 12, "the rows that are shown"
    assert float(rows[1]["D = 32"]) == pytest.approx(4.255)
    assert float(rows[1]["D = 32 std"]) == pytest.approx(0.005)
    text = downloads("#made_up-claims ~ .block .csv", "claims_of_made_up.csv").decode()
    assert [row["claim"] for row in csv.DictReader(io.StringIO(text))] == ["C", "Wrong"]


def test_figures_download_as_svg_and_png(driver, downloads):
    choose(driver, "method", "M00")
    text = downloads(f"{FIGURE} .svg", "lines.svg").decode()
    drawing = ElementTree.fromstring(text)
    links = set(re.findall(r'(?:href="|url\()#(\w+)', text))
    assert links <= {item.get("id") for item in drawing.iter()}, "it needs nothing of the page"
    assert {item.get("data-method") for item in drawing.iter()} == {None, "M01"}
    words = "".join(drawing.itertext())
    assert "letter, Gaussian" in words
    assert "M01" in words
    picture = downloads(f"{FIGURE} .png", "lines.png")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(picture[16:20]) > 1000
    pale = driver.execute_async_script(
        """const [data, tell] = arguments, image = new Image();
        image.onload = () => {
          const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
          [canvas.width, canvas.height] = [image.width, image.height];
          pen.drawImage(image, 0, 0);
          const dots = pen.getImageData(0, 0, image.width, image.height).data;
          let white = 0;
          for (let i = 0; i < dots.length; i += 4) white += dots[i] + dots[i + 1] + dots[i + 2] === 765;
          tell(white / dots.length * 4);
        };
        image.src = "data:image/png;base64," + data;""",
        base64.b64encode(picture).decode(),
    )
    assert 0.5 < pale < 0.99, "lines on white paper"
    assert complaints(driver) == []
    assert [url for url in requested(driver) if not url.startswith("blob:")] == []


def test_each_finding_has_its_evidence(driver):
    findings = driver.find_elements(By.CSS_SELECTOR, ".findings li")
    assert [item.find_element(By.CSS_SELECTOR, ".heading").text for item in findings] == [
        *("Verdicts", "Best map", "Surprise"),
    ]
    assert "Of 2 claims, 1 is reproduced and 1 is not reproduced." in findings[0].text
    assert "M11 has the best relative error (Frobenius) in all 4 comparisons" in findings[1].text
    assert "“Wrong” is not reproduced" in findings[2].text
    findings[2].find_element(By.TAG_NAME, "a").click()
    claim = driver.find_element(By.ID, fragment(driver))
    assert "Wrong" in claim.text
    assert driver.execute_script("return arguments[0].getBoundingClientRect().top < innerHeight", claim)


def test_the_first_screen_has_the_findings_and_a_figure(wide):
    """And each verdict says what it means where it stands."""
    wide.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    findings, figure = visible(wide, ".findings li"), wide.find_element(By.CSS_SELECTOR, FIGURE)
    assert [item.rect["y"] + item.rect["height"] < 900 for item in findings] == [True] * 3
    panels = visible(wide, PANEL)
    assert min(panel.rect["y"] for panel in panels) < 700
    assert "Not reproduced: “Wrong”." in findings[0].text
    after = wide.find_element(By.CSS_SELECTOR, "#made_up > .findings + *")
    assert after == figure
    (meaning,) = {item.get_attribute("title") for item in visible(wide, ".verdict.not-reproduced")}
    assert meaning.startswith("The claim fails significantly")


@pytest.mark.parametrize("width", [390, 1400])
def test_a_card_does_not_cover_what_opened_it(page, width):
    """Opened from the legend and from a row of a table, at the edges of the window too."""
    with visit(page) as driver:
        metrics = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
        openers = [
            LEGEND,
            f"{GRID} tbody tr:nth-child(3) button.method",
            f"{GRID} tbody tr:nth-child(3) td:last-child",
        ]
        places = set()
        for opener in openers:
            item = driver.find_element(By.CSS_SELECTOR, opener)
            for block in ("start", "center", "end"):
                driver.execute_script("arguments[0].scrollIntoView({block: arguments[1]})", item, block)
                covers = driver.execute_script(
                    """const item = arguments[0];
                    item.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
                    const card = document.getElementById("card");
                    const [a, b] = [card, item].map((part) => part.getBoundingClientRect());
                    const beside = a.right < b.left || a.left > b.right;
                    return card.hidden || !(beside || a.bottom < b.top || a.top > b.bottom);""",
                    item,
                )
                assert covers is False, (opener, block)
                places.add(driver.find_element(By.ID, "card").get_attribute("data-at"))
        assert len(places) > 1, "it was in the way somewhere"


def test_the_search_moves_to_its_hits(wide):
    """The first one while one types, the next one by Enter, and round; one in closed details too."""
    field = wide.find_element(By.ID, "search")
    field.send_keys("letter gaussian m0")

    def hit():
        (item,) = wide.find_elements(By.CSS_SELECTOR, ".hit")
        box = wide.execute_script("return arguments[0].getBoundingClientRect().toJSON()", item)
        nav = wide.find_element(By.TAG_NAME, "nav").size["height"]
        assert nav < box["top"] < box["bottom"] < wide.execute_script("return innerHeight")
        assert field.is_displayed()
        return item.find_elements(By.TAG_NAME, "td")[2].text if item.tag_name == "tr" else item.text

    said = wide.find_element(By.ID, "found")
    assert hit() == "M00"
    number = int(re.search(r"1 of (\d+) rows", said.text)[1])
    assert number >= 10
    field.send_keys(Keys.ENTER)
    assert hit() == "M01"
    field.send_keys(Keys.SHIFT + Keys.ENTER + Keys.ENTER + Keys.NULL)
    assert said.text.startswith(f"{number} of {number} rows")
    hit()
    field.clear()
    field.send_keys("nothing of the kind")
    assert said.text == "No rows, methods or headings contain “nothing of the kind”."
    assert wide.find_elements(By.CSS_SELECTOR, ".hit") == []


def test_a_phone_shows_the_verdict_without_scrolling_sideways(page):
    with visit(page) as driver:
        metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        root = driver.find_element(By.TAG_NAME, "html")
        assert root.get_property("scrollWidth") == root.get_property("clientWidth") == 360
        cells = visible(driver, "table[data-name='Claims of made_up'] td")
        assert len(cells) == 10
        assert visible(driver, "table[data-name='Claims of made_up'] th") == [], "cells below each other"
        for cell in cells:
            assert cell.rect["x"] + cell.rect["width"] <= 360
        for panel in visible(driver, PANEL):
            assert 300 < panel.rect["width"] <= 360
        driver.find_element(By.CSS_SELECTOR, LEGEND).click()
        card = driver.find_element(By.ID, "card").rect
        assert card["x"] >= 0
        assert card["x"] + card["width"] <= 360


def test_a_phone_shows_why_a_job_failed_without_scrolling_sideways(page):
    folder = page.parent
    failed = {"job": "scores of made_up", "log": "results/logs/scores/" + "long/" * 20 + "a.log"}
    failed["message"] = "error: MVORF: n_components must be an integer of at least 1, got 'many'."
    state = {"missing": 1, "failed": [failed]}
    write_page([folder / "made_up.yaml"], folder / "results", folder / "partial.html", partial=state)
    with visit(folder / "partial.html") as driver:
        metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        cells = visible(driver, "table[data-name='Failed jobs'] td")
        assert [cell.text for cell in cells] == [failed["job"], failed["message"], failed["log"]]
        for cell in cells:
            assert cell.rect["x"] + cell.rect["width"] <= 360
            assert cell.get_property("scrollWidth") <= cell.get_property("clientWidth")


def test_figures_are_dark_on_a_dark_page(driver):
    driver.execute_script("document.documentElement.dataset.theme = 'dark'")
    panel = driver.find_element(By.CSS_SELECTOR, PANEL)
    paper = driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    assert panel.find_element(By.CSS_SELECTOR, "[fill='#ffffff']").value_of_css_property(
        "fill"
    ) == paper.replace("rgba", "rgb").replace(", 1)", ")")
    for text in panel.find_elements(By.TAG_NAME, "text"):
        channels = re.findall(r"\d+", text.value_of_css_property("fill"))
        assert min(map(int, channels[:3])) > 150


def test_paper_shows_panels_and_no_buttons(driver):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.execute_script(
        "document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint'))"
    )
    assert len(visible(driver, PANEL)) == 2
    assert visible(driver, ".bar, #card, .choose, .numbers") == []
    assert len(visible(driver, ".legend button")) == 2
    paper = driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    assert paper == "rgba(255, 255, 255, 1)"
    metrics = {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    root = driver.find_element(By.TAG_NAME, "html")
    assert root.get_property("scrollWidth") == root.get_property("clientWidth")


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_fault_in_what_opens(wide, theme):
    wide.find_element(By.CSS_SELECTOR, LEGEND).click()
    focus(wide, PANEL)
    press(wide, Keys.ARROW_RIGHT)
    wide.find_element(By.CSS_SELECTOR, f"{FIGURE} .numbers summary").click()
    assert accessibility(wide, theme)["faults"] == []
