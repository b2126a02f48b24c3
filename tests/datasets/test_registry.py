"""A data set is one file, found by its name, and what it is made with reaches no other data set."""

import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from rflib.datasets import entries, registry
from rflib.datasets.entries import letter
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare, sources_of
from rflib.experiment.fingerprint import closure

GUIDE = Path(__file__).parents[2] / "docs/add-a-kernel-data-set-or-study.md"


def test_a_data_set_is_one_file(tmp_path, monkeypatch):
    """The file of the guide is found, prepared and known by its own module."""
    (code,) = re.findall(r"```python\n# rflib/datasets/entries/waves\.py\n(.*?)```", GUIDE.read_text(), re.S)
    (tmp_path / "waves.py").write_text(code)
    monkeypatch.setattr(entries, "__path__", [str(tmp_path)])
    found = runpy.run_path(registry.__file__)
    for table in ("REGISTRY", "MODULES"):
        assert set(found[table]) == {"waves"}
        monkeypatch.setitem(getattr(registry, table), "waves", found[table]["waves"])
    (tmp_path / "waves.csv").write_text("wind,swell,height\n3.5,1,0.9\n8,0,1.6\n5.5,1,1.4\n")
    prepare("waves", tmp_path, tmp_path / "out")
    data = load(tmp_path / "out")
    assert data.X_train.shape == (2, 2)
    assert sorted([*data.y_train, *data.y_test]) == [0.9, 1.4, 1.6]
    assert "rflib.datasets.entries.waves" in closure(*sources_of("waves"))
    monkeypatch.delitem(sys.modules, "rflib.datasets.entries.waves")


@pytest.mark.parametrize("name", [*registry.REGISTRY, "a_users_file"])
def test_no_data_set_is_made_with_the_code_of_another(name):
    reached = closure(*sources_of(name))
    others = {module for module in registry.MODULES.values() if module != registry.MODULES.get(name)}
    assert not reached & {*others, "rflib.datasets.registry", "rflib.datasets.prepare"}
    assert ("rflib.datasets.user" in reached) == (name == "a_users_file")


def test_no_name_stands_twice():
    assert sum(len(import_module(m).ENTRIES) for m in {*registry.MODULES.values()}) == len(registry.REGISTRY)


def test_a_plan_loads_no_library_that_reads_files():
    command = "import sys, rflib.datasets.prepare; print(*{'pandas', 'pyarrow', 'sklearn'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_other_row_numbers_than_those_that_come_with_rflib(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.arange(18_000))
    monkeypatch.setattr(letter, "_ROWS", tmp_path / "rows.npy")
    with pytest.raises(ValueError, match=r"rows\.npy is not the file that comes with rflib: sha256 is"):
        next(registry.REGISTRY["letter"].read([]))
