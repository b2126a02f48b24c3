"""The wheel and the sdist, installed where there is nothing but what the core of rflib needs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rflib import learners, maps

from .test_readme import printed_example

ROOT = Path(__file__).parents[1]
# A user's file for mypy: each line with an error ends with its code.
USER = """\
from typing import Any

import numpy as np
from rflib.kernels import DeltaGaussian, Gaussian, Matern
from rflib.learners import KRR, ExactKRR, LinearSVM
from rflib.maps import GORF, MVORF, ORF, MercerFeatures, Nystroem

Gaussian(sigma=2)
Gaussian(sigma="median")
Gaussian(sigma=np.ones(3))
Matern(1.5, length_scale=[1.0, 2.0])
DeltaGaussian(coefficients=[1, -1], sigmas=[1, 10], width="scale")
MVORF(Gaussian(), n_components=64, random_state=np.random.default_rng(0)).fit(np.eye(3)).transform([[1.0]])
ORF(lambda z: np.exp(-z), 64)
KRR(feature_map=ORF(), alphas=(0.1, 1)).fit([[1.0]], [1.0])
LinearSVM(C="cv")
Nystroem(landmarks=np.eye(3)).fit(np.eye(3)).landmarks_.shape
Nystroem(landmarks=[0, 2])
Gaussian(sigma="a")  # arg-type
Gaussian(sigma=None)  # arg-type
Gaussian(width=2.0)  # call-arg
ORF(Gaussian(), n_components="64")  # arg-type
ORF(kernel="gaussian")  # arg-type
MVORF(random_state="seed")  # arg-type
LinearSVM(C="best")  # arg-type
GORF(directions="ortogonal")  # arg-type
MercerFeatures(axes="principle")  # arg-type
Nystroem(landmarks="kmean")  # arg-type
ExactKRR(solver="cgg")  # arg-type
KRR(criterion="error_rate")  # arg-type
KRR().fit([[1.0]], [1.0]).predikt([[1.0]])  # attr-defined
from rflib.maps import NoMap  # attr-defined
"""
ESTIMATORS = [
    (package.__name__, name, found)
    for package in (maps, learners)
    for name in dir(package)
    if hasattr(found := getattr(package, name), "get_params") and name != "RandomFeatureMap"
]
# Every public name loads, and what is not installed is an error that says how to install it.
WITHOUT_EXTRAS = """\
from rflib import *
import rflib.kernels, rflib.learners, rflib.maps, rflib.measures, rflib.plotting
for package in (rflib.kernels, rflib.learners, rflib.maps, rflib.measures, rflib.plotting):
    for name in dir(package):
        getattr(package, name)
import rflib.metrics

def datasets(): import rflib.datasets.load
def experiment(): import rflib.experiment.specs
def report(): import rflib.report.page
def svm(): rflib.learners.LinearSVM().fit([[0.0], [1.0]], [0, 1])
def parquet(): rflib.learners.ParquetRows("rows.parquet", target="y")
def plot(): rflib.plotting.KernelErrorDisplay.from_estimator(rflib.maps.ORF(), [[0.0], [1.0]])
for use in (datasets, experiment, report, svm, parquet, plot):
    try:
        use()
    except ImportError as error:
        print(error)
rflib.learners.LinearSVM(solver="newton").fit([[0.0], [1.0]], [0, 1])
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of this tree, and that of its sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = "from flit_core.buildapi import build_wheel, build_sdist; import sys; "
    run(sys.executable, "-c", f"{build} build_wheel(sys.argv[1]); build_sdist(sys.argv[1])", folder, cwd=ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run("tar", "-xzf", sdist, cwd=folder)
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-c", f"{build} build_wheel('.')", cwd=unpacked)
    (of_sdist,) = unpacked.glob("*.whl")
    return {"wheel": wheel, "sdist": of_sdist}


@pytest.fixture(scope="module")
def python(
    request: pytest.FixtureRequest, built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The interpreter of an environment with rflib, and links to the distributions that its core needs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python"]
    run(*pip, "install", "--no-deps", "--no-index", "--no-compile", built[getattr(request, "param", "wheel")])
    (site,) = folder.glob("lib/python*/site-packages")
    (metadata,) = site.glob("rflib-*.dist-info")
    for top, origin in needed(PathDistribution(metadata)):
        if not (site / top).exists():
            (site / top).symlink_to(origin)
    return folder / "bin/python"


def needed(dist: PathDistribution) -> Iterator[tuple[str, Path]]:
    """The files and folders in site-packages of what a distribution needs without its extras."""
    for requirement in map(Requirement, dist.requires or []):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found = distribution(requirement.name)
            for top in {path.parts[0] for path in found.files or []} - {"..", "__pycache__"}:
                yield top, Path(found.locate_file(top))
            yield from needed(found)


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("python", [pytest.param("sdist", marks=pytest.mark.nightly), "wheel"], indirect=True)
def test_the_readme_s_example_runs(python: Path) -> None:
    code, expected = printed_example()
    assert run(python, "-IW", "error", "-c", code).splitlines() == expected


def test_what_is_missing_is_named_with_the_command_that_installs_it(python: Path) -> None:
    said = run(python, "-IW", "error", "-c", WITHOUT_EXTRAS).splitlines()
    datasets, experiment, report, svm, parquet, plot = said
    assert datasets.startswith(
        "rflib.datasets needs pandas, pyarrow, requests, tqdm, which are not installed."
    )
    assert datasets.endswith('Run in the checkout: pip install ".[data]"')
    assert experiment.startswith("rflib.experiment needs pandas")
    assert report.startswith("rflib.report needs pandas") and report.endswith(
        'Run in the checkout: pip install ".[pipeline]"'
    )
    assert svm.startswith("The solver 'liblinear'") and svm.endswith(
        'Run in the checkout: pip install ".[svm]"'
    )
    assert parquet.startswith("ParquetRows needs pyarrow") and parquet.endswith(
        'Run in the checkout: pip install ".[data]"'
    )
    assert plot.startswith("KernelErrorDisplay needs matplotlib") and plot.endswith('pip install ".[plot]"')


def test_the_command_line_says_its_version_and_what_it_lacks(python: Path) -> None:
    command = python.with_name("rflib")
    assert run(command, "--version").startswith("rflib ")
    fetch = [command, "fetch", "--name", "letter", "--folder", "nowhere"]
    failed = subprocess.run(fetch, capture_output=True, text=True)
    assert failed.returncode == 1
    assert re.fullmatch(
        r'error: rflib.experiment needs .* Run in the checkout: pip install "\.\[pipeline\]"\n', failed.stderr
    )


def uses() -> Iterator[str]:
    """Lines of a user's file for each estimator: all that it has, and what it has not."""
    yield "anything: Any = None"
    for package, name, found in ESTIMATORS:
        learned = (found.__doc__ or "").partition("\n    Attributes\n")[2].partition("\n\n")[0]
        documented = re.findall(r"\w+", " ".join(re.findall(r"^    (\w[^:\n]*)", learned, re.M)))
        named = [p for p in inspect.signature(found).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        yield f"from {package} import {name}"
        yield f"{name}(nonsense=1)  # call-arg"
        yield f"{name}({', '.join(['anything'] * (len(named) + 1))})  # call-arg"
        yield f"def use_{name}(fitted: {name}) -> None:"
        for attribute in (*documented, *(each for each in dir(found) if each[0] != "_")):
            yield f"    fitted.{attribute}"
        yield "    fitted.nonsense  # attr-defined"


def test_a_type_checker_finds_wrong_arguments_in_a_user_s_file(python: Path, tmp_path: Path) -> None:
    file, text = tmp_path / "user.py", USER + "".join(f"{line}\n" for line in uses())
    file.write_text(text)
    check = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", tmp_path, "--python-executable"]
    # Not in this folder, where mypy would find the sources before the installed package.
    said = subprocess.run([*check, python, file], cwd=tmp_path, capture_output=True, text=True).stdout
    lines = enumerate(text.splitlines(), 1)
    expected = [(number, code) for number, line in lines if (code := line.partition("  # ")[2])]
    found = [line.split(":") for line in said.splitlines() if ": error: " in line]
    assert [(int(words[1]), words[-1].split("[")[-1].rstrip("]")) for words in found] == expected, said
