"""What jobs read is what Snakemake knows: each file is an input of the rule, or in a hash that is its parameter.

The project's own studies quickstart and luo2021 (its part on letter) run in a tiny size while Python's audit hook
notes every file that a step opens (`audit/sitecustomize.py`).
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from rflib.datasets.registry import MODULES, REGISTRY
from rflib.experiment import pipeline as pipeline_module
from rflib.experiment.fingerprint import closure, fingerprint
from rflib.experiment.pipeline import Pipeline
from rflib.report.kind import modules

from ..datasets.conftest import MIRROR
from .conftest import ROOT, Workspace, _copy

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]
needs_mirror = pytest.mark.skipif(
    not MIRROR.is_dir(), reason=f"letter needs a mirror, and none is at {MIRROR}"
)

SIZE = {"max_train": 60, "max_test": 40}
KEPT = {
    "quickstart": {"datasets": ["diabetes"], "kernels": ["delta-Gaussian"], "methods": ["SRF"]},
    "luo2021": {"datasets": ["letter"], "kernels": ["polynomial"], "methods": ["GORF as run"]},
}
ENVIRONMENT = [
    *(os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))),
    *("/proc", "/sys", "/dev", "/etc", "/usr", "/lib"),
    str(Path.home() / ".cache"),  # matplotlib's list of fonts
]
# They run each step, or import what others define, and decide nothing.
RUNNERS = {
    *("rflib.__main__", "rflib.cli", "rflib.warm", "rflib.lazy", "rflib.extras", "rflib.threads"),
    *("rflib.experiment.sources", "rflib.experiment.jobs", "rflib.experiment.data"),
    "rflib.experiment.values",
}
# Their rules have what they use of a study as a parameter: all but what is shown, or just that.
READ_A_STUDY = {"aggregate", "tables", "figures", "report"}
READERS = {"rflib.experiment.studies", "rflib.experiment.blame"}
# They plan the study again, and so build what it names, for labels and names of files: those are the rule's input.
PLAN_AGAIN = {"aggregate", "report"}
NAMED = ("rflib.kernels.", "rflib.measures.", "rflib.frequencies.", "rflib.maps.", "rflib.learners.")
# Looking up a data set imports all of them. Only the job's own is in its fingerprint.
LOOKED_UP = closure(*MODULES.values())
# They find a data set and its verified files, or read a user file, whose fingerprint has them. For others they
# decide nothing: the rest is left to the modules of `prepare.sources_of`.
FIND_THE_DATA = {"rflib.datasets.prepare", "rflib.datasets.registry", *closure("rflib.datasets.user")}


class Job(NamedTuple):
    """A step that was run, what it read, and what Snakemake knows of it."""

    command: list[str]
    opened: list[Path]
    modules: set[str]
    record: dict[str, Any]

    @property
    def step(self) -> str:
        return self.command[0]

    def option(self, name: str) -> str:
        return self.command[self.command.index(name) + 1]


@pytest.fixture(scope="module")
def audited(
    fresh: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Workspace, list[Job]]]:
    workspace = _copy(fresh, tmp_path_factory.mktemp("audited"))
    (workspace.folder / "workflow/studies/tiny.yaml").unlink()
    studies = [name for name in KEPT if name != "luo2021" or MIRROR.is_dir()]
    for name in studies:
        path = workspace.folder / f"workflow/studies/{name}.yaml"
        path.write_text(yaml.safe_dump(_reduced(name), sort_keys=False))
    notes = tmp_path_factory.mktemp("notes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RFLIB_AUDIT", str(notes))
        patch.setenv("RFLIB_WARM", "")
        patch.setenv("RFLIB_MIRRORS", str(MIRROR))
        patch.setattr(Workspace, "environment", _audited_environment(workspace))
        workspace.snakemake(*studies)
        patch.chdir(workspace.folder)
        yield workspace, list(_jobs(workspace, notes))


def _audited_environment(workspace: Workspace) -> dict[str, str]:
    found = {key: value for key, value in workspace.environment.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**found, "PYTHONPATH": f"{workspace.folder}:{Path(__file__).parent / 'audit'}"}


def _reduced(name: str) -> dict[str, Any]:
    """The study of the project with a few of its parts, and all that it shows of these alone."""
    study = yaml.safe_load((ROOT / f"workflow/studies/{name}.yaml").read_text())
    kept = KEPT[name]
    study["datasets"] = [{**d, **SIZE} for d in study["datasets"] if d["name"] in kept["datasets"]]
    for role in ("kernels", "methods"):
        study[role] = {label: study[role][label] for label in kept[role]}
    study["methods"] = {label: _restricted(spec, kept) for label, spec in study["methods"].items()}
    for key in ("tables", "figures", "claims"):
        restricted = [_restricted(entry, kept) for entry in study[key]]
        one_of_each = {entry["type"]: entry for entry in restricted[::-1] if entry and "than" not in entry}
        study[key] = list(one_of_each.values())
    study.pop("grids", None)
    return {**study, "s": [[4]], "budget": "columns", "repetitions": 1}


def _restricted(entry: dict[str, Any], kept: dict[str, list[str]]) -> dict[str, Any]:
    """An entry without the labels that the reduced study has not; empty if none of a kind is left."""
    found = {}
    for key, value in entry.items():
        if key in kept:
            labels = [label for label in value if label in kept[key]]
            value = {label: value[label] for label in labels} if isinstance(value, dict) else labels
        elif key in ("published", "explanation"):
            value = _restricted(value, kept)
        elif key in ("dimensions", "cutoffs"):
            value = value[:1]
        if value in ([], {}):
            return {}
        found[key] = value
    return found


def _jobs(workspace: Workspace, notes: Path) -> Iterator[Job]:
    records = {}
    folder = workspace.folder / ".snakemake/metadata"
    for path in folder.rglob("*"):
        if path.is_file():
            name = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            records[base64.b64decode(name).decode()] = json.loads(path.read_text())
    for path in sorted(notes.iterdir()):
        note = json.loads(path.read_text())
        job = Job(note["command"], [*map(Path, note["opened"])], set(note["modules"]), {})
        if job.step == "fetch":
            output = f"results/data/{job.option('--name')}/meta.json"
        elif job.step == "prepare":
            output = f"{job.option('--output')}/meta.json"
        else:
            output = job.option("--output" if "--output" in job.command else "--out")
        yield job._replace(record=records[output])


def _undeclared(job: Job, workspace: Workspace) -> list[str]:
    """The files that a job read and Snakemake does not know."""
    known = [workspace.folder / file for file in (*job.record["input"], *job.record["log"])]
    # Arrays come and go together with the meta.json beside them.
    known += [path.parent for path in known if path.name == "meta.json"]
    package = workspace.folder / "rflib"
    if job.step in ("fetch", "prepare"):
        entry = REGISTRY[job.option("--name" if job.step == "fetch" else "--spec")]
        # The modules there are in the rule's parameter ``code``, and hold the sha256 of all other files.
        known.append(package / "datasets/entries")
        for file in entry.files:
            known += [workspace.folder / "data" / file.name, MIRROR / file.name, MIRROR / f"{file.name}.xz"]
    if job.step in READ_A_STUDY:
        known.append(workspace.folder / "workflow/studies")
    if job.step == "report":
        # The rule's parameter ``assets`` is their hash; logs are those of the jobs whose results are shown.
        known += [
            package / "report/templates",
            package / "report/methods.yaml",
            workspace.folder / "results/logs",
        ]
    return [
        str(path)
        for path in job.opened
        if path.is_file()
        and not (path.is_relative_to(package) and path.suffix in (".py", ".pyi", ".pyc"))
        and not any(os.path.realpath(path).startswith(f"{folder}/") for folder in ENVIRONMENT)
        and not path.is_relative_to(Path(__file__).parent)
        and not any(path.is_relative_to(place) for place in known)
    ]


def _of(study: str, job: Job) -> bool:
    return (study == "luo2021") == any("letter" in word or "luo2021" in word for word in job.command)


@pytest.mark.parametrize("study", ["quickstart", pytest.param("luo2021", marks=needs_mirror)])
def test_every_file_that_a_job_reads_is_declared(study: str, audited: tuple[Workspace, list[Job]]) -> None:
    workspace, jobs = audited
    steps = {job.step for job in jobs if _of(study, job)}
    assert steps >= {"prepare", "spectra", "sample", "evaluate", "train", "aggregate", "tables", "figures"}
    undeclared = {
        " ".join(job.command[:3]): files
        for job in jobs
        if _of(study, job) and (files := _undeclared(job, workspace))
    }
    assert undeclared == {}


def test_every_module_that_a_job_imports_is_in_its_fingerprint(
    audited: tuple[Workspace, list[Job]], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, jobs = audited
    monkeypatch.chdir(workspace.folder)
    modules_of = _modules_of_fingerprints(workspace, monkeypatch)
    for job in jobs:
        if job.step != "fetch":
            (code,) = [word for word in modules_of if any(word in text for text in job.record["params"])]
            known = modules_of[code] | RUNNERS | LOOKED_UP
            strange = {name for name in job.modules - known if not _is_package(name)}
            if job.step == "prepare":
                strange -= FIND_THE_DATA
            if job.step in READ_A_STUDY:
                strange -= READERS
            if job.step in PLAN_AGAIN:
                strange = {name for name in strange if not name.startswith(NAMED)}
            assert strange == set(), (job.command[:3], code)


def _modules_of_fingerprints(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """The modules of each fingerprint that a rule of the pipeline has as a parameter."""
    found: dict[str, set[str]] = {}

    def noted(*modules: str) -> str:
        code = fingerprint(*modules)
        found[code] = closure(*modules)
        return code

    monkeypatch.setattr(pipeline_module, "fingerprint", noted)
    pipeline = Pipeline({}, workspace.folder / "workflow")
    for job in pipeline.jobs.values():
        pipeline.code(*job.sources)
    pipeline.code("rflib.experiment.aggregate", "rflib.experiment.held")
    for step in ("tables", "figures", "page"):
        pipeline.code(f"rflib.report.{step}", *(modules() if step != "page" else ()))
    for name in REGISTRY:
        pipeline.data_code(name)
    return found


def _is_package(name: str) -> bool:
    """Packages offer names from their modules, which are imported, and found, one by one."""
    return (ROOT / name.replace(".", "/") / "__init__.py").exists()
