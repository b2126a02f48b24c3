"""Kinds of tables, figures and claims: documented, cheap to check, found by their files, and in fingerprints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rflib.experiment.fingerprint import closure
from rflib.report import kind
from rflib.report.docs import list_of
from rflib.report.kind import Shown, Table, kinds
from rflib.report.options import LISTS, check_shown
from rflib.report.wording import METRICS

from .made_up import ERROR, made, made_up_cells

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("cls", LISTS.values(), ids=LISTS)
def test_the_page_lists_all_kinds(cls):
    """``python -m rflib.report.docs`` prints the lists."""
    assert list_of(cls) in DOCS


def test_the_page_lists_all_metrics():
    """An entry with an unknown metric is told the same names."""
    (row,) = re.findall(r"^\| `metric` \| (.*) \|$", DOCS, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(METRICS)


def test_every_kind_says_what_it_shows_and_has_a_caption():
    for cls in LISTS.values():
        for name, one in kinds(cls).items():
            assert one.shows, name
            assert set(one.required) <= {*one.options, "caption"}, name
            if isinstance(one, Shown):
                assert (one.caption is None) == ("caption" in one.required), name


def test_the_pages_example_is_a_kind(study, tmp_path, monkeypatch):
    code = re.search(r"## Adding a type.*?```python\n(.*?)```", DOCS, re.DOTALL)[1]
    (tmp_path / "worst_repetition.py").write_text(code)
    package = kind.import_module("rflib.report.kinds")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    kind._all.cache_clear()
    try:
        entry = {"type": "worst", "title": "Worst", "metric": ERROR}
        check_shown({**study, "tables": [entry]})
        with pytest.raises(ValueError, match=r"unknown type 'worse'\. Did you mean 'worst'"):
            check_shown({**study, "tables": [{**entry, "type": "worse"}]})
        table = made(entry, made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
        assert list(table["method"]) == ["GORF", "GRFF"]
        assert kinds(Table)["worst"].shows.startswith("The greatest value of each method")
    finally:
        kind._all.cache_clear()
        sys.modules.pop("rflib.report.kinds.worst_repetition", None)


def test_a_fingerprint_with_the_modules_of_kinds_has_all_that_writing_tables_and_figures_imports():
    code = """
import sys, rflib.report.tables, rflib.report.figures
from rflib.report.kind import Kind, kinds, modules
kinds(Kind)
files = (name for name, module in sys.modules.items() if not hasattr(module, "__path__"))
print(*(name for name in files if name.startswith("rflib.")))
print(*modules())
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True)
    imported, own = (line.split() for line in run.stdout.splitlines())
    checked = {
        "rflib.extras",
        "rflib.lazy",
    }  # which packages are installed and where names are: they decide nothing
    assert set(imported) - checked <= closure("rflib.report.tables", "rflib.report.figures", *own)
    assert set(own) <= set(imported)


def test_studies_are_checked_without_heavy_libraries():
    code = """
import sys
from pathlib import Path
from rflib.experiment.studies import read_study
from rflib.report.options import check_shown
for path in Path("workflow/studies").glob("*.yaml"):
    check_shown(read_study(path))
heavy = {"pandas", "matplotlib", "sklearn", "scipy"} & set(sys.modules)
sys.exit(", ".join(sorted(heavy)) or 0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("cls", LISTS.values(), ids=LISTS)
def test_no_two_kinds_have_one_name(cls):
    assert len({id(one) for one in kind._all() if isinstance(one, cls)}) == len(kinds(cls))
