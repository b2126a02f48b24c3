"""The lock holds what pyproject.toml asks for, with digests and no index; conda's environment is the lock.

The recipe of the conda package asks for what the core does, and holds what the extras ask for.
"""

import re
import tomllib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import rflib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "envs/lock.txt").read_text()
CONDA = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())
RECIPE = yaml.safe_load((ROOT / "envs/recipe.yaml").read_text())
EXTRAS = PROJECT["optional-dependencies"]
# Packages with another name at conda-forge; liblinear-official is not there.
AT_CONDA_FORGE = {"dask": "dask-core", "matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}


def test_every_dependency_is_pinned_as_asked():
    pinned = dict(re.findall(r"^([a-z0-9_.-]+)==([^ ;]+)", LOCK, re.MULTILINE))
    for requirement in map(Requirement, chain(PROJECT["dependencies"], *EXTRAS.values())):
        name = re.sub(r"[-_.]+", "-", requirement.name.lower())
        if name == PROJECT["name"]:
            assert requirement.extras <= EXTRAS.keys()
        else:
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


def test_the_recipe_asks_for_the_same_versions():
    needs = RECIPE["requirements"]
    assert versions(needs["run"][1:]) == versions(PROJECT["dependencies"])
    extras = chain.from_iterable(
        EXTRAS[extra] for extra in ("pipeline", "plot", "data", "dask", "fast", "array")
    )
    optional = versions(line for line in extras if not line.startswith("rflib["))
    constraints = {AT_CONDA_FORGE.get(name, name): found for name, found in optional.items()}
    assert versions(needs["run_constraints"]) == constraints
    assert RECIPE["context"]["version"] == rflib.__version__
    assert PROJECT["requires-python"] == f">={RECIPE['context']['python_min']}"


def versions(lines: Iterable[str]) -> dict[str, SpecifierSet]:
    return {requirement.name: requirement.specifier for requirement in map(Requirement, lines)}
