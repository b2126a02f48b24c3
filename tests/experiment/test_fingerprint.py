"""Fingerprints: change with the code that a job uses, and with nothing else."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rflib.experiment import fingerprint as module
from rflib.experiment.fingerprint import closure, fingerprint

FILES = {
    "__init__.py": "MODULES = {'One': 'one', 'Two': 'two'}\n",
    "one.py": '"""One."""\nfrom typing import TYPE_CHECKING\nfrom PACKAGE import Two\nfrom .helper import shared\n'
    "if TYPE_CHECKING:\n    from .other import z\n"
    'class One(Two):\n    """A class."""\n    x = 1\n',
    "two.py": "class Two:\n    y = 2\n",
    "helper.py": "def shared():\n    '''Share.'''\n    return 3\n",
    "other.py": "z = 4\n",
}
_numbers = itertools.count()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Callable[..., None]]]:
    """A package of its own for each test, and a function that edits one of its files."""
    name = f"rflib_test_package_{next(_numbers)}"
    folder = tmp_path / name
    folder.mkdir()
    for file, text in FILES.items():
        (folder / file).write_text(text.replace("PACKAGE", name))
    monkeypatch.syspath_prepend(tmp_path)

    def edit(file: str, old: str, new: str) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))
        forget()

    yield name, edit
    for loaded in [key for key in sys.modules if key.startswith(name)]:
        del sys.modules[loaded]
    forget()


def forget() -> None:
    for function in (module.fingerprint, module._parsed, module._spec, module._folder):
        function.cache_clear()


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("one.py", "x = 1", "x = 2", True),
        ("one.py", "x = 1", "x = 1  # a comment", False),
        ("one.py", "x = 1", "x   =   (1)", False),
        ("one.py", '"""A class."""', '"""Another text."""', False),
        ("two.py", "y = 2", "y = 3", True),
        ("helper.py", "return 3", "return 5", True),
        ("helper.py", "Share.", "Shared.", False),
        ("other.py", "z = 4", "z = 5", False),
        ("__init__.py", "'two'}", "'two', 'New': 'other'}", False),
    ],
)
def test_a_module_and_what_it_imports(
    package: tuple[str, Callable[..., None]], file: str, old: str, new: str, changes: bool
) -> None:
    name, edit = package
    before = fingerprint(f"{name}.one")
    edit(file, old, new)
    assert (fingerprint(f"{name}.one") != before) == changes


@pytest.mark.parametrize("statement", ["from PACKAGE import {}", "import PACKAGE"])
@pytest.mark.parametrize(
    ("offered", "file", "old", "new"),
    [
        ("z = 4", "__init__.py", "z = 4", "z = 5"),
        ("from PACKAGE.other import z", "other.py", "z = 4", "z = 5"),
        ("from .other import z as z", "other.py", "z = 4", "z = 5"),
        ("from .other import *", "other.py", "z = 4", "z = 5"),
    ],
)
def test_names_that_a_package_offers_in_its_init(
    package: tuple[str, Callable[..., None]], statement: str, offered: str, file: str, old: str, new: str
) -> None:
    name, edit = package
    edit("__init__.py", "MODULES", f"{offered.replace('PACKAGE', name)}\nMODULES")
    edit("two.py", "y = 2", f"{statement.replace('PACKAGE', name).format('z')}\ny = 2")
    before = fingerprint(f"{name}.two")
    edit(file, old, new)
    assert fingerprint(f"{name}.two") != before


def test_modules_and_packages_in_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are followed, as are folders without an ``__init__``; installed packages are not."""
    (tmp_path / "rflib_test_scripts").mkdir()
    for file, text in {
        "rflib_test_map.py": "import numpy, sys\nfrom rflib_test_help import f\nimport rflib_test_scripts.more\n",
        "rflib_test_help.py": "from rflib_test_scripts import last\nimport rflib_test_scripts\nf = 1\n",
        "rflib_test_scripts/more.py": "g = 1\n",
        "rflib_test_scripts/last.py": "h = 1\n",
    }.items():
        (tmp_path / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    assert closure("rflib_test_map") == {
        "rflib_test_map",
        "rflib_test_help",
        "rflib_test_scripts",
        "rflib_test_scripts.more",
        "rflib_test_scripts.last",
    }
    before = fingerprint("rflib_test_map")
    (tmp_path / "rflib_test_help.py").write_text("f = 2\n")
    forget()
    assert fingerprint("rflib_test_map") != before
    assert {name.split(".")[0] for name in closure("jinja2.utils")} == {"jinja2"}


@pytest.mark.parametrize(
    "statement",
    [
        "if x:\n    pass\nelif x == 1:\n    {}",
        "for _ in []:\n    pass\nelse:\n    {}",
        "while x:\n    {}",
        "with x:\n    {}",
        "try:\n    {}\nfinally:\n    pass",
        "try:\n    pass\nexcept ValueError:\n    {}",
        "try:\n    pass\nexcept* ValueError:\n    {}",
        "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    {}",
        "try:\n    pass\nfinally:\n    {}",
        "match x:\n    case 1:\n        {}",
        "class C:\n    async def f(self):\n        async with x:\n            {}",
    ],
)
def test_all_statements_are_read(package: tuple[str, Callable[..., None]], statement: str) -> None:
    """Imports are followed and docstrings left out wherever they stand."""
    name, edit = package
    edit("two.py", "y = 2\n", f"y = 2\nx = 3\n{statement.format('from .other import z')}\n")
    assert f"{name}.other" in closure(f"{name}.two")
    edit("two.py", "from .other import z", f"def f():\n{16 * ' '}'One text.'\n")
    before = fingerprint(f"{name}.two")
    edit("two.py", "One text.", "Another text.")
    assert fingerprint(f"{name}.two") == before


def test_maps_differ_from_each_other() -> None:
    names = ("rff", "orf", "qmc", "grff", "gorf", "mvorf", "srf")
    assert len({fingerprint(f"rflib.maps.{name}") for name in names}) == len(names)


def test_an_edit_of_one_learner_leaves_the_other_alone() -> None:
    ridge, svm = "rflib.learners.exact_ridge", "rflib.learners.exact_svm"
    assert svm not in closure(ridge)
    assert not {ridge, "rflib.learners.ridge_system", "rflib.learners.folds"} & closure(svm)


def test_a_module_without_source_is_an_error() -> None:
    with pytest.raises(ValueError, match="no Python source"):
        fingerprint("rflib.nothing_here")
