"""Whatever a study, a data file or a log says, the page has the same elements: read back by a parser of HTML."""

from html.parser import HTMLParser

import pytest
import yaml

from rflib.files import write_table
from rflib.report import style
from rflib.report.figures import write_figures
from rflib.report.page import write_page
from rflib.report.tables import write_tables

from .made_up import ERROR, made_up_cells

HOSTILE = (
    "</td></table></script><script>alert(1)</script> ]]><svg onload=alert(1)> $x_{ \\frac$",
    "\" onload=alert(1) x=' <img src=//example.org/x onerror=alert(1)> {{ 7 * 7 }}{% raw %} <!-- ",
    "&lt;b&gt; & &#60;script&#62; '\"`</title><base href=//x>",
)


class Structure(HTMLParser):
    """The elements of a page with the names of their attributes, and all that is said in them."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.text += [value or "" for _, value in attrs]

    def handle_comment(self, data):
        self.elements.append(("comment", data))

    def handle_data(self, data):
        self.text.append(data)


def page_that_says(text, published, folder):
    """The page of a run in which every free text is the given one: study, labels, cells, published file, logs."""
    method, kernel, learner = f"m {text}", f"k {text}", f"l {text}"
    selection = {"paper": "mine", "table": "T", "kernels": {kernel: "delta_gaussian"}}
    claim = {"type": "better", "title": text, "source": text, "metric": ERROR, "method": method, "than": "B"}
    study = {
        **dict.fromkeys(("title", "text", "paper"), text),
        "datasets": [{"name": "letter"}, {"name": "usps"}],
        "kernels": {kernel: {"type": "DeltaGaussian"}},
        "methods": {method: {"type": "GRFF"}, "B": {"type": "GRFF"}},
        "learners": {learner: {"type": "LinearSVM"}},
        "s": ["d"],
        "repetitions": 20,
        "tables": [
            {"type": "grid", "title": text, "metric": ERROR, "caption": text},
            {"type": "published", "title": "P", "metric": ERROR, **selection, "methods": {"B": "GORF"}},
        ],
        "figures": [{"type": "lines", "title": text, "metric": ERROR, "caption": text}],
        "claims": [claim],
    }
    cells = made_up_cells({method: 0.1, "B": 0.2}).assign(kernel=kernel)
    cells[["fingerprint", "versions", "host"]] = text
    made = folder / "results/made_up"
    made.mkdir(parents=True)
    write_table(made / "cells.parquet", cells)
    write_tables(study, made / "cells.parquet", published, made / "tables")
    write_figures(study, made / "cells.parquet", published, made / "figures")
    log = folder / "results/logs/features/letter.unit_norm/DeltaGaussian/B/b.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"rflib sample {text}\n", encoding="utf-8")
    (folder / "made_up.yaml").write_text(yaml.safe_dump(study))
    write_page([folder / "made_up.yaml"], folder / "results", folder / "index.html")
    return Structure((folder / "index.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", HOSTILE)
def test_the_page_has_the_same_elements(text, published, tmp_path, monkeypatch):
    monkeypatch.setattr(style, "_from_hash", lambda method: (0, 0, 0))  # markers have elements of their own
    hostile = page_that_says(text, published, tmp_path / "hostile")
    harmless = page_that_says("x" * len(text), published, tmp_path / "harmless")
    assert hostile.elements == harmless.elements
    assert sum(text in part for part in hostile.text) > 10
