"""Threads: those of all running jobs' linear algebra add up to what Snakemake was given."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rflib import cli
from rflib.threads import variables

RULES = sorted((Path(__file__).parents[2] / "workflow/rules").glob("*.smk"))


def counted(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> set[int]:
    """The threads that each BLAS and OpenMP pool has inside a step."""
    seen: set[int] = set()
    monkeypatch.setattr(
        cli, "_fingerprint", lambda **_: seen.update(pool["num_threads"] for pool in threadpool_info())
    )
    with threadpool_limits(2):
        cli.main(["fingerprint", *arguments, "rflib"])
    return seen


def test_a_step_has_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(monkeypatch) == {1}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_step_has_the_threads_it_is_given(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(monkeypatch, "--threads", str(threads)) == {threads}


def test_libraries_that_a_step_loads_have_its_threads() -> None:
    """In a process of its own, a step loads scipy, whose BLAS is not that of numpy, after its threads are set."""
    code = (
        "from threadpoolctl import threadpool_info\n"
        "from rflib import cli\n"
        "def show(**_):\n"
        "    import rflib.experiment.evaluate, rflib.experiment.train\n"
        "    print(*{pool['num_threads'] for pool in threadpool_info()})\n"
        "cli._fingerprint = show\n"
        "cli.main(['fingerprint', 'rflib'])\n"
    )
    two = os.environ | variables(2)
    seen = subprocess.run([sys.executable, "-c", code], env=two, capture_output=True, text=True, check=True)
    assert seen.stdout.split() == ["1"]


def test_every_rule_that_sets_threads_hands_them_on() -> None:
    """Snakemake keeps the sum of the rules' ``threads`` within its cores; a step without them has one."""
    for path in RULES:
        for rule in re.split(r"\nrule ", path.read_text())[1:]:
            takes = "threads:" in rule
            assert not takes or "--threads {threads}" in rule, f"{path.name}: {rule.split(':')[0]}"
