"""A copy of the pipeline with one tiny study, run once; tests change copies of that copy and count jobs."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

from .forks import Run

ROOT = Path(__file__).parents[2]
SOURCES = ("rflib", "snakemake_logger_plugin_rflib", "workflow", "profiles", "Snakefile", "config.yaml")
TINY = {
    "title": "Tiny",
    "datasets": [{"name": "digits", "preprocess": "unit_norm", "max_train": 80, "max_test": 50}],
    "kernels": {"delta": {"type": "DeltaGaussian", "coefficients": [1, -1], "sigmas": [0.5, 5]}},
    "methods": {
        "GRFF": {"type": "GRFF"},
        "GORF": {"type": "GORF"},
        "SRF": {"type": "SRF", "measure": {"type": "minimum_variance", "deltas": [0.01]}},
    },
    "s": [4],
    "repetitions": 2,
    "seed_block": 2,
    "kernel_error": {"rows": 50},
    "learners": {"SVM": {"type": "LinearSVM", "C": 1}},
}
TABLE = "results/tiny/cells.parquet"


@dataclass
class Workspace:
    """A folder with the pipeline's sources and possibly results."""

    folder: Path
    sources: Path | None = None
    first: Path | None = None  # a file of Python that is run before Snakemake starts

    def command(self, *arguments: str) -> list[str]:
        return ["--cores", "2", *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.sources or self.folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def start(self, *arguments: str) -> Run:
        return Run(self.command(*arguments), self.folder, self.environment, self.first)

    def snakemake(self, *arguments: str, fails: bool = False, seconds: float = 600) -> str:
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=seconds)
        assert (process.returncode != 0) == fails, output
        return output

    @property
    def log(self) -> str:
        """All that the last Snakemake that was not a dry run logged, of which the console shows less."""
        return max((self.folder / ".snakemake/log").iterdir()).read_text()

    def planned(self, *arguments: str, target: str = TABLE) -> dict[str, int]:
        """Jobs by rule that a dry run announces."""
        output = self.snakemake("--dry-run", target, *arguments)
        if "Nothing to be done" in output:
            return {}
        counts = dict(re.findall(r"^(\w+) +(\d+)$", output.split("Job stats:")[1], re.MULTILINE))
        return {rule: int(n) for rule, n in counts.items() if rule != "total"}

    def study(self, **changes: object) -> None:
        path = self.folder / "workflow/studies/tiny.yaml"
        path.write_text(yaml.safe_dump({**TINY, **changes}, sort_keys=False))

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert old in text
        (self.folder / path).write_text(text.replace(old, new, 1))

    def append(self, path: str, text: str) -> None:
        with (self.folder / path).open("a") as file:
            file.write(text)

    def results(self, folder: str = "results", study: str = "tiny") -> pd.DataFrame:
        """What the study's table says, without what depends on time and place, in a fixed order."""
        table = pd.read_parquet(self.folder / folder / study / "cells.parquet")
        table = table[~table["metric"].str.endswith("seconds")]
        keys = ["data", "kernel", "method", "learner", "metric", "n_components", "seed"]
        return table.sort_values(keys)[[*keys, "value"]].reset_index(drop=True)


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Sources and the tiny study, nothing run."""
    workspace = Workspace(tmp_path_factory.mktemp("fresh"))
    for name in SOURCES:
        source = ROOT / name
        if source.is_symlink() or source.is_file():
            shutil.copy2(source, workspace.folder / name, follow_symlinks=False)
        else:
            shutil.copytree(source, workspace.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(workspace.folder, quiet=1)  # valid in copies too, which have the same times
    for path in (workspace.folder / "workflow/studies").glob("*.yaml"):
        path.unlink()
    workspace.study()
    return workspace


@pytest.fixture(scope="session")
def finished(fresh: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The tiny study, run to its table of cells."""
    workspace = _copy(fresh, tmp_path_factory.mktemp("finished"))
    # Not a fork, in which sets have the same order as in all other forks.
    command = [sys.executable, "-m", "snakemake", *workspace.command(TABLE)]
    subprocess.run(command, cwd=workspace.folder, env=workspace.environment, check=True)
    return workspace


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Workspace], Workspace]:
    return lambda workspace: _copy(workspace, tmp_path)


def _copy(workspace: Workspace, folder: Path) -> Workspace:
    shutil.copytree(workspace.folder, folder, dirs_exist_ok=True, symlinks=True)
    return Workspace(folder)
