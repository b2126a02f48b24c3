"""Wrong configurations, studies and data: one clear message, no traceback, nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import TABLE, Workspace

pytestmark = pytest.mark.workflow
Copy = Callable[[Workspace], Workspace]

STUDIES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown method": (
        {"methods": {"mine": {"type": "MVORFF"}}},
        ["tiny", "mine", "no method 'MVORFF'", "Did you mean 'MVORF'?"],
    ),
    "unknown parameter of a method": (
        {"methods": {"mine": {"type": "GORF", "direction": "frame"}}},
        ["tiny", "mine", "'direction'", "Did you mean 'directions'?"],
    ),
    "unknown kernel": ({"kernels": {"k": {"type": "Gausian"}}}, ["tiny", "Gausian", "'Gaussian'"]),
    "parameter of a kernel out of range": (
        {"kernels": {"k": {"type": "Gaussian", "sigma": -1}}},
        ["tiny", "sigma must be a positive number"],
    ),
    "unknown data set": ({"datasets": [{"name": "digitz"}]}, ["tiny", "digitz", "digits"]),
    "unknown learner": (
        {"learners": {"l": {"type": "LinearSVC"}}},
        ["tiny", "LinearSVC", "LinearSVM"],
    ),
    "negative s": ({"s": [4, -8]}, ["tiny.yaml", "s.1", "-8", "positive integer"]),
    "unknown key": ({"kernal": {}}, ["tiny.yaml", "'kernal'", "Did you mean 'kernels'?"]),
    "a needed key is missing": ({"datasets": []}, ["tiny.yaml", "datasets"]),
    "a method asked for a kernel it cannot take": (
        {"methods": {"RFF": {"type": "RFF", "kernels": ["delta"]}}},
        ["tiny", "RFF", "positive spectral measure", "GORF"],
    ),
}


@pytest.mark.parametrize("case", STUDIES)
def test_a_wrong_study(case: str, fresh: Workspace, copy_of: Copy) -> None:
    changes, words = STUDIES[case]
    workspace = copy_of(fresh)
    workspace.study(**changes)
    _assert_says(workspace.snakemake(TABLE, "--dry-run", fails=True), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--config", "repetition=3"), ["'repetition'", "Did you mean 'repetitions'?"]),
        (("--config", "repetitions=-3"), ["repetitions", "-3", "positive integer"]),
        (("--config", "precision=float16"), ["precision", "float16", "float32 or float64"]),
    ],
)
def test_a_wrong_configuration(arguments: tuple[str, ...], words: list[str], fresh: Workspace) -> None:
    _assert_says(fresh.snakemake(TABLE, "--dry-run", *arguments, fails=True), ["config.yaml", *words])


def test_a_study_that_is_not_yaml(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    workspace.append("workflow/studies/tiny.yaml", "s: [1\n")
    _assert_says(workspace.snakemake(TABLE, "--dry-run", fails=True), ["tiny.yaml", "not valid YAML"])


def test_an_unknown_study(fresh: Workspace) -> None:
    _assert_says(fresh.snakemake("tinny", "--dry-run", fails=True), ["'tinny'", "Did you mean 'tiny'?"])


def test_rows_that_are_not_of_unit_norm(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    workspace.study(
        datasets=[{"name": "digits", "max_train": 80, "max_test": 50}],
        kernels={"p": {"type": "SphericalPolynomial"}},
        methods={"MVORF": {"type": "MVORF"}},
    )
    output = workspace.snakemake(TABLE, "--retries", "0", fails=True)
    _assert_says(output, ["needs rows of unit norm", "row 0 has norm"])
    workspace.study()
    workspace.snakemake(TABLE)


def _assert_says(output: str, words: list[str]) -> None:
    assert "Traceback" not in output, output
    for word in words:
        assert word in output, output
