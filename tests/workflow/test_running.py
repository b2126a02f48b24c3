"""The documented command, `snakemake --cores N STUDY`: what it finds, says and leaves when jobs fail."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable

import pandas as pd
import psutil
import pytest

from rflib.experiment.pipeline import Pipeline

from .conftest import ROOT, TABLE, TINY, Workspace, _copy
from .faults import jobs

pytestmark = pytest.mark.workflow
Copy = Callable[[Workspace], Workspace]
BROKEN = """
import numpy as np
from rflib.maps.grff import GRFF

class Broken(GRFF):
    def fit(self, X, y=None):
        np.ones(3) + np.ones(4)
"""


@pytest.fixture(scope="module")
def failed(finished: Workspace, tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, str]:
    """The tiny study with one broken method of a user's, run to what can be had."""
    workspace = _copy(finished, tmp_path_factory.mktemp("failed"))
    (workspace.folder / "mypackage").mkdir()
    (workspace.folder / "mypackage/broken.py").write_text(BROKEN)
    error = {"title": "Errors", "metric": "relative_frobenius_error"}
    workspace.study(
        methods={**TINY["methods"], "mine": {"type": "mypackage.broken:Broken"}},  # type: ignore[dict-item]
        tables=[{"type": "grid", **error}],
        figures=[{"type": "lines", **error}],
        claims=[{"type": "better", "method": "GORF", "than": "mine", **error}],
    )
    too_much = ("--set-resources", "features:mem_mb=10**9")
    return workspace, workspace.snakemake("tiny", *too_much, fails=True)


def test_the_default_profile_is_found(failed: tuple[Workspace, str]) -> None:
    assert "specific profile profiles/default" in failed[1]


def test_other_paths_of_the_profiles_still_work() -> None:
    for folder in ("profiles", "workflow/profiles"):
        for name in ("default", "slurm"):
            assert (ROOT / folder / name / "config.yaml").is_file()


def test_memory_is_bounded_by_the_machine_and_a_job_beyond_it_still_runs(
    failed: tuple[Workspace, str],
) -> None:
    bound = psutil.virtual_memory().total // 10**6
    assert re.search(rf'Provided resources: .*\bmem_mb=Resource\("mem_mb", {bound}\)', failed[0].log)
    assert re.search(rf"rule features:[^[]*mem_mb={bound}\b", failed[0].log)


def test_a_users_error_is_shown_where_it_happened(failed: tuple[Workspace, str]) -> None:
    _, output = failed
    assert re.search(r'mypackage/broken.py", line 7, in fit', output)
    assert "np.ones(3) + np.ones(4)" in output
    assert "error: operands could not be broadcast together" in output
    assert "Another Snakemake" not in output


def test_what_is_there_makes_a_page_that_says_what_failed(failed: tuple[Workspace, str]) -> None:
    workspace, output = failed
    assert "Failed jobs: 1\nfeatures: error: operands" in output
    assert "A report of the complete results: results/report/partial.html" in output
    page = (workspace.folder / "results/report/partial.html").read_text()
    assert "<title>Incomplete: " in page
    assert "2 result files are missing" in page
    assert "error: operands could not be broadcast together" in page
    assert "results/logs/features/digits" in page
    assert {"GRFF", "GORF", "SRF"} <= set(re.findall(r"<td>(\w+)</td>", page))
    assert "no data" in page
    assert not (workspace.folder / "results/report/index.html").exists()
    assert not (workspace.folder / "results/tiny/tables").exists()


@pytest.mark.nightly
def test_the_complete_page_replaces_the_partial_one(failed: tuple[Workspace, str], copy_of: Copy) -> None:
    workspace = copy_of(failed[0])
    workspace.edit("mypackage/broken.py", "np.ones(3) + np.ones(4)", "return super().fit(X, y)")
    output = workspace.snakemake("tiny")
    assert "The report: results/report/index.html" in output
    assert {path.name for path in (workspace.folder / "results/report").iterdir()} >= {
        "index.html",
        "findings.txt",
    }
    assert not (workspace.folder / "results/report/partial.html").exists()
    assert "Incomplete" not in (workspace.folder / "results/report/index.html").read_text()
    assert "Nothing to be done" in workspace.snakemake("tiny")


def test_tables_and_figures_have_the_numbers_of_their_papers_as_inputs() -> None:
    pipeline = Pipeline({"studies": ["luo2021", "quickstart"]}, ROOT / "workflow")
    numbers = [str(pipeline.published_folder / "luo2021.csv")]
    assert pipeline.published("luo2021", "tables", "claims") == numbers
    assert pipeline.published("luo2021", "figures") == numbers
    assert pipeline.published("quickstart", "tables", "claims", "figures") == []


@pytest.mark.reliability
def test_published_numbers_changed(failed: tuple[Workspace, str], copy_of: Copy) -> None:
    workspace = copy_of(failed[0])
    entry = {"metric": "accuracy", "paper": "luo2021", "table": "tab", "kernels": {"delta": "delta"}}
    claim = {"type": "agrees", "title": "T", "methods": {"GORF": "GORF"}, **entry}
    workspace.study(claims=[claim], repetitions=8)  # two might by chance be no evidence
    published = workspace.folder / "workflow/published/luo2021.csv"
    published.write_text(
        "kernel,dataset,method,s,metric,table,mean,std\ndelta,digits,GORF,4,accuracy,tab,0.01,0.001\n"
    )
    workspace.snakemake("results/tiny/tables")
    claims = workspace.folder / "results/tiny/tables/claims.csv"
    assert list(pd.read_csv(claims)["verdict"]) == ["not reproduced"]
    (workspace.folder / "workflow/published/liu2020.csv").write_text("another paper\n")
    assert workspace.planned(target="results/tiny/tables") == {}
    published.write_text(published.read_text().replace("0.01,0.001", "0.50,9"))
    workspace.snakemake("results/tiny/tables")
    assert list(pd.read_csv(claims)["verdict"]) == ["undecided"], "with this spread, any number would agree"


def test_options_are_not_taken_for_studies(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    studies = workspace.folder / "workflow/studies"
    shutil.copy(studies / "tiny.yaml", studies / "other.yaml")
    (workspace.folder / "other").mkdir()
    shutil.copy(workspace.folder / "config.yaml", workspace.folder / "other")
    output = workspace.snakemake("--dry-run", "--printshellcmds", "--directory", "other", "tiny")
    assert "results/tiny/tables" in output
    assert "results/other" not in output


def test_a_local_run_looks_for_jobs_only_when_one_has_ended(finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(finished)
    for file in (workspace.folder / TABLE, *(workspace.folder / "results/errors").rglob("*.parquet")):
        file.unlink()
    workspace.first = workspace.folder / "first.py"
    workspace.first.write_text(
        "from snakemake.scheduling.job_scheduler import JobScheduler\n"
        "select = JobScheduler.job_selector\n"
        "def shown(self, jobs):\n"
        "    print(f'looks at {len(jobs)} jobs\\n', end='', flush=True)\n"
        "    return select(self, jobs)\n"
        "JobScheduler.job_selector = shown\n"
    )
    output = workspace.snakemake("--cores", "1", "--max-jobs-per-timespan", "100/10ms", TABLE, seconds=120)
    assert re.findall(r"looks at (\d) jobs", output) == ["3", "2", "1", "1"], output


@pytest.mark.parametrize("moment", ["run", "job_selector"], ids=["while jobs run", "between jobs"])
def test_after_an_interruption_the_console_says_how_to_go_on_and_to_see_what_is_there(
    moment: str, fresh: Workspace, copy_of: Copy
) -> None:
    workspace = copy_of(fresh)
    workspace.first = workspace.folder / "first.py"
    workspace.first.write_text(
        "import glob, os, signal\n"
        "from snakemake.scheduling.job_scheduler import JobScheduler\n"
        f"step = JobScheduler.{moment}\n"
        "def interrupted(self, *arguments, **named):\n"
        "    found = step(self, *arguments, **named)\n"
        "    if glob.glob('results/errors/**/*.parquet', recursive=True):\n"
        "        os.killpg(0, signal.SIGINT)\n"
        "    return found\n"
        f"JobScheduler.{moment} = interrupted\n"
    )
    output = workspace.snakemake("--cores", "1", TABLE, fails=True)
    workspace.first = None
    (command,) = re.findall(r"Finished jobs stay: the same command goes on\. A page of them: (.*)", output)
    told = subprocess.run(
        command, shell=True, cwd=workspace.folder, env=workspace.environment, capture_output=True, text=True
    )
    assert not told.returncode, told.stderr
    page = (workspace.folder / "results/report/partial.html").read_text(encoding="utf-8")
    assert re.search(r"Incomplete</strong> \d+ result file", page)
    workspace.snakemake(TABLE)


def test_a_dry_run_during_a_run_says_so(fresh: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    process = workspace.start(TABLE)
    deadline = time.monotonic() + 120
    while not jobs(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGSTOP)
    try:
        output = workspace.snakemake("--dry-run", TABLE)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert "Another Snakemake process is running in this folder" in output
    assert "IncompleteFiles" not in output
