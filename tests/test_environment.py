"""The lock holds what pyproject.toml asks for, with digests and no index; conda's environment is the lock."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "envs/lock.txt").read_text()
CONDA = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())


def test_every_dependency_is_pinned_as_asked():
    pinned = dict(re.findall(r"^([a-z0-9_.-]+)==([^ ;]+)", LOCK, re.MULTILINE))
    asked = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for requirement in map(Requirement, asked):
        name = re.sub(r"[-_.]+", "-", requirement.name.lower())
        assert pinned[name] in requirement.specifier, name


def test_every_pin_has_digests_and_none_an_index():
    entries = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)
    assert all("--hash=sha256:" in entry for entry in entries if "==" in entry)
    assert "://" not in LOCK


def test_the_conda_environment_is_the_lock():
    python, pip, packages = CONDA["dependencies"]
    assert pip == "pip"
    assert packages["pip"] == ["--require-hashes", "-r lock.txt"]
    assert python.startswith(f"python{PROJECT['requires-python']},")
