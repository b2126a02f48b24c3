"""The first hour: what docs/get-started.md leads a new user through, with the files and commands as printed.

The first steps, which need the library alone, are in tests/test_readme.py and tests/test_docs.py; the law test of
the method is in tests/maps/test_guide.py, and a real cluster in tests/cluster.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import yaml

from .conftest import ROOT, Workspace
from .forks import Run

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]


def test_own_method_own_study_own_data_report_and_cluster(
    fresh: Workspace, copy_of: Callable[[Workspace], Workspace]
) -> None:
    home = copy_of(fresh)
    study = home.folder / "workflow/studies/mine.yaml"

    name, code = next(iter(re.findall(r"```python\n# (\S+)\n(.*?)```", page("add-a-method"), re.S)))
    (home.folder / name).parent.mkdir()
    (home.folder / name).write_text(code)

    guide = page("add-a-kernel-data-set-or-study").split("## A study\n")[1].split("\n## ")[0]
    (text,) = re.findall(r"```yaml\n(.*?)```", guide, re.S)
    study.write_text(text)
    run, *_, dry_run = printed(guide)
    assert re.search(r"^features +[1-9]", run_as_printed(home, dry_run), re.M)

    data = page("data").split("## Your own data\n")[1]
    entry, *_ = re.findall(r"```yaml\n(.*?)```", data, re.S)
    own_files(home)
    study.write_text(yaml.safe_dump({**yaml.safe_load(text), **yaml.safe_load(entry), "repetitions": 2}))
    output = run_as_printed(home, run)
    assert "results/report/index.html" in output
    report = (home.folder / "results/report/index.html").read_text()
    for shown in ("Do pairs of columns help?", "Pairs help", "paired", "mine", "prices"):
        assert shown in report
    cells = pd.read_parquet(home.folder / "results/mine/cells.parquet")
    assert set(cells["method"]) >= {"RFF", "MVORF", "paired"}
    assert "Nothing to be done" in run_as_printed(home, dry_run)

    *_, cluster = (c for c in printed(page("cluster").split("## ")[0]) if "slurm" in c)
    changed = home.folder / name
    changed.write_text(code + "\nEDITED = True\n")
    planned = run_as_printed(home, cluster.replace("luo2021", "mine") + " --dry-run")
    assert re.search(r"^features +2$", planned, re.M)


def page(name: str) -> str:
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


def printed(text: str) -> list[str]:
    """The commands of Snakemake in a text, in their order."""
    return re.findall(r"^(snakemake .*)$", text, re.M) or re.findall(r"`(snakemake [^`]*)`", text)


def run_as_printed(home: Workspace, command: str) -> str:
    process = Run(shlex.split(command)[1:], home.folder, home.environment)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output
    return output


def own_files(home: Workspace) -> None:
    """The files that docs/data.md names: a table with labels, and two with prices."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.standard_normal((90, 12)), columns=[f"x{i}" for i in range(12)])
    labels = np.where(rows["x0"] > 0, "yes", "no")
    rows.assign(label=labels).to_csv(home.folder / "mine.csv", index=False)
    prices = rows.assign(price=rows["x0"] ** 2 + rows["x1"])
    prices[:60].to_parquet(home.folder / "train.parquet")
    prices[60:].to_parquet(home.folder / "test.parquet")
