"""The pages in docs run as they are printed, and link to what there is."""

import doctest
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from latex2mathml.converter import convert
from sklearn import ensemble, gaussian_process, kernel_approximation, kernel_ridge, svm

import rflib.metrics
from rflib import kernels, learners, maps, measures, plotting

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}

# Blocks of Python that this test does not run, by their first lines: why, or where they are run.
ELSEWHERE = {
    "import torch": "tests/arrays/test_page.py",
    "# SCIPY_ARRAY_API=1 python": "tests/arrays/test_page.py",
    "# mypackage/paired.py": "tests/maps/test_guide.py",
    "# mypackage/test_paired.py": "tests/maps/test_guide.py",
    "# rflib/datasets/entries/waves.py": "tests/datasets/test_registry.py",
    "from rflib.datasets.load import load": "tests/workflow/test_one_number_by_hand.py has the data",
    '"""Table: the worst repetition of each method."""': "tests/report/test_kinds.py",
    "module rflib:": "a rule of Snakemake's: tests/workflow/test_module.py",
}
GUIDE = re.findall(r"^([\w-]+)$", TEXTS["docs/user-guide.md"], re.M)
# The study that docs/add-a-method.md has the reader make: tests/workflow/test_new_method.py.
NEW = ("paired",)
# The studies' commands take minutes to hours, and Slurm's a cluster: their words are checked instead.
PROGRAMS = {
    "make": lambda target: re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M),
    "snakemake": lambda study: study in NEW or (ROOT / f"workflow/studies/{study}.yaml").exists(),
}


def blocks(text: str, *languages: str) -> list[str]:
    return [
        code for name, code in re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M) if name in languages
    ]


def shown(text: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of Python of a page, and what they are said to print.

    That is the block of text that follows, or the comments behind all lines that print.
    """
    block, output = r"^```python\n(.*?)^```\n", r"(?:\n(?:It prints:\n\n)?```text\n(.*?)^```$)?"
    for code, printed in re.findall(block + output, text, re.S | re.M):
        comments = re.findall(r"^print\(.*\)  # (.*)$", code, re.M)
        whole = len(comments) == len(re.findall(r"^ *print\(", code, re.M))
        yield code, printed.splitlines() or (comments if whole else [])


def alike(line: str, other: str) -> bool:
    """Whether two lines differ at most by one in the last digits of their decimal fractions, which is rounding."""
    number = r"-?\d*\.\d+"
    close = all(
        abs(float(a) - float(b)) < 1.5 * 10.0 ** -len(a.partition(".")[2])
        for a, b in zip(re.findall(number, line), re.findall(number, other), strict=False)
    )
    return close and re.sub(number, "#", line) == re.sub(number, "#", other)


@pytest.mark.parametrize("page", [page for page in TEXTS if page != "README.md"])
def test_the_python_of_a_page_runs_as_printed(page, monkeypatch, tmp_path, capsys):
    """The blocks of a page run one after the other, as a reader would run them, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code, expected in shown(TEXTS[page]):
        first = code.split("\n")[0]
        if first not in ELSEWHERE:
            capsys.readouterr()
            exec(compile(code, page, "exec"), names)
            printed = capsys.readouterr().out.splitlines()
            assert len(printed) == len(expected) and all(map(alike, printed, expected)), printed


def test_rounding_alone_is_overlooked():
    assert alike("R2 0.95, 7 rows", "R2 0.96, 7 rows") and alike("[.5 -1.25]", "[.5 -1.26]")
    assert not alike("R2 0.95", "R2 0.97") and not alike("7 rows", "8 rows") and not alike("0.5", "0.5 0.5")


def test_every_warning_has_its_remedy_on_the_page_of_troubles():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rflib").rglob("*.py"))
    found = set(re.findall(r"^class (\w+Warning)\(", code, re.M))
    assert {"WidthWarning", "GridEdgeWarning", "RangeWarning"} <= found
    rows = [line for line in TEXTS["docs/faq.md"].splitlines() if line.startswith("| `")]
    assert all(any(name in row.split("|")[1] for row in rows) for name in found)


def test_blocks_that_run_elsewhere_are_there():
    printed = {code.split("\n")[0] for text in TEXTS.values() for code in blocks(text, "python")}
    assert set(ELSEWHERE) <= printed
    for where in ELSEWHERE.values():
        for path in re.findall(r"tests/\S+\.py", where):
            assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", TEXTS)
def test_commands_name_what_there_is(page):
    """Targets of make are in the Makefile, and Snakemake's are studies."""
    for code in blocks(TEXTS[page], "", "console"):
        for line in code.splitlines():
            program, *words = re.split(r"[#|]", line)[0].split() or [""]
            if program in PROGRAMS:
                for word in targets(words):
                    assert PROGRAMS[program](word), line
    for target in re.findall(r"`make (\w+)", TEXTS[page]):
        assert PROGRAMS["make"](target), target


def targets(words: list[str]) -> list[str]:
    """Drop options and their values; `mine` is the reader's own study."""
    found = [word for before, word in zip(["", *words], words, strict=False) if not before.startswith("--")]
    return [word for word in found if not word.startswith("-") and "=" not in word and word != "mine"]


@pytest.mark.parametrize("page", TEXTS)
def test_parts_of_studies_follow_the_schema(page):
    schema = yaml.safe_load((ROOT / "workflow/schemas/study.schema.yaml").read_text(encoding="utf-8"))
    part = {key: value for key, value in schema.items() if key not in ("required", "if", "then", "else")}
    for text in blocks(TEXTS[page], "yaml"):
        Draft202012Validator(part).validate(yaml.safe_load(text))


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_to_files_and_headings(page):
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        path, _, anchor = target.partition("#")
        if path.startswith("http"):
            continue
        file = (folder / path).resolve() if path else ROOT / page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w\- ]", "", h).lower().replace(" ", "-") for h in headings}, target


def test_the_reference_lists_all_public_names():
    reference = (ROOT / "docs/api.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", reference, re.M))
    for package in (kernels, maps, learners, measures, plotting):
        assert set(package.__all__) <= listed
        for name in package.__all__:
            assert getattr(package, name).__doc__, name
    functions = {
        name
        for name, value in vars(rflib.metrics).items()
        if getattr(value, "__module__", "") == "rflib.metrics" and name[0] != "_"
    }
    assert functions <= listed
    assert {"load", "Dataset"} <= listed


def public_objects():
    """The names of the reference, and the methods and properties that rflib defines for them."""
    for package in (kernels, maps, learners, measures, plotting):
        yield from ((name, getattr(package, name)) for name in package.__all__)
    yield from (
        (name, value)
        for name, value in vars(rflib.metrics).items()
        if getattr(value, "__module__", "") == "rflib.metrics" and name[0] != "_"
    )


def test_first_lines_of_docstrings_are_whole_sentences():
    """The tables of the reference show a docstring up to its first full stop, also that of "et al." or "eq."."""
    seen = 0
    for name, value in public_objects():
        members = inspect.getmembers(value) if inspect.isclass(value) else []
        own = [
            (f"{name}.{each}", member.fget if isinstance(member, property) else member)
            for each, member in members
            if each[0] != "_" and (callable(member) or isinstance(member, property))
        ]
        for where, documented in [(name, value), *own]:
            if getattr(documented, "__module__", "").startswith("rflib"):
                first = (inspect.getdoc(documented) or "").split("\n\n")[0]
                assert first.endswith("."), where
                assert ". " not in first and "\n" not in first, where
                seen += 1
    assert seen > 200


def test_there_are_ten_examples_and_each_has_a_picture():
    examples = sorted((ROOT / "examples").glob("plot_*.py"))
    assert len(examples) >= 10
    for example in examples:
        text = example.read_text(encoding="utf-8")
        assert text.startswith('"""\n'), example
        assert "plt.show()" in text, example
        compile(text, str(example), "exec")


def test_the_templates_of_issues_are_whole():
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))
    assert {form.stem for form in forms} == {"bug", "method", "number"}
    for form in forms:
        asked = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert {"name", "description", "labels", "body"} == set(asked), form
        names = [part["id"] for part in asked["body"]]
        assert len(set(names)) == len(names) > 1, form
        assert all(part["attributes"]["label"] for part in asked["body"]), form
    request = (ROOT / ".github/PULL_REQUEST_TEMPLATE.md").read_text(encoding="utf-8")
    assert all(PROGRAMS["make"](target) for target in re.findall(r"`make ([\w-]+)", request))
    assert all((ROOT / path).exists() for path in re.findall(r"[\w/]+\.md", request))


def test_the_diagram_of_maps_names_what_there_is_and_is_told_in_words():
    diagram = (ROOT / "docs/pictures/which-map.svg").read_text(encoding="utf-8")
    answers = re.findall(r">(\w+)</text>", "".join(re.findall(r'class="answer".*', diagram)))
    assert len(answers) == 8 and all(hasattr(rflib, name) for name in answers)
    told = TEXTS["docs/which-map.md"].partition("](pictures/which-map.svg)")[0]
    assert set(answers) <= set(re.findall(r"\w+", told))


def test_diagrams_name_what_there_is_and_have_colours_of_their_own_in_the_dark():
    style = (ROOT / "docs/_static/site.css").read_text(encoding="utf-8")
    diagrams = {path for path in (ROOT / "docs/pictures").glob("*.svg") if path.stem != "badges"}
    assert {path.name for path in diagrams} == set(re.findall(r'\[src\$="([\w-]+\.svg)"\]', style))
    drawn = "".join(path.read_text(encoding="utf-8") for path in diagrams)
    named = set(re.findall(r"[A-Z][A-Za-z]+", "".join(re.findall(r'class="code".*?>(.*?)</text>', drawn))))
    assert len(named) > 6 and all(hasattr(rflib, name) for name in named)


def test_typeset_formulas_are_those_of_docstrings():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        formulas = import_module("formulas")
    finally:
        sys.path.pop(0)
    texts = "\n".join(formulas.typeset(inspect.getdoc(value) or "") for _, value in public_objects())
    for typeset in formulas.FORMULAS.values():
        assert convert(typeset).startswith("<math") and f":math:`{typeset}`" in texts, typeset


def test_examples_on_the_pages_of_the_reference_are_those_of_docstrings(monkeypatch):
    """Names such as best_ are no markup there, and get no backslash, which they need in the text."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    conf = import_module("conf")
    parsed, n_names = doctest.DocTestParser().get_examples, 0
    for name, value in public_objects():
        text = inspect.getdoc(value) or ""
        lines = text.split("\n")
        conf._plain_formulas(None, "class", name, value, None, lines)
        assert [(e.source, e.want) for e in parsed("\n".join(lines))] == [
            (e.source, e.want) for e in parsed(text)
        ]
        n_names += sum(bool(re.search(r"\w_\b", each.source)) for each in parsed(text))
    assert n_names > 10
    lines = ["The number k_ of rows.", "", ">>> model.best_", "model_", "", "More of k_."]
    conf._plain_formulas(None, "class", "", None, None, lines)
    assert lines == ["The number k\\_ of rows.", "", ">>> model.best_", "model_", "", "More of k\\_."]


def test_scikit_learn_s_names_are_headings_which_a_search_finds_first():
    headings = re.findall(r"^## (.*)$", TEXTS["docs/coming-from-scikit-learn.md"], re.M)
    known = [vars(module) for module in (kernel_approximation, kernel_ridge, svm, gaussian_process, ensemble)]
    named = [
        heading
        for heading in headings
        if any(f"{heading}{end}" in names for names in known for end in ("", "Regressor"))
    ]
    assert len(named) == 7


@pytest.mark.parametrize("page", GUIDE)
def test_a_page_of_the_guide_has_a_picture(page):
    text = TEXTS[f"docs/{page}.md"]
    assert re.search(r"!\[[^\]]*\]\(.*\.svg\)|^\[.*\]\(\.\./examples/\w+\.py\)$", text, re.M)
