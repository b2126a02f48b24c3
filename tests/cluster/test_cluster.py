"""A study on a Slurm cluster of three nodes: the results of the local run to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd
import pytest

from ..workflow.conftest import TABLE, Workspace, copy_of, finished, fresh  # noqa: F401
from .cluster import Cluster, missing, slurm

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.reliability,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]


@dataclass
class Submitted(Workspace):
    """A workspace whose jobs go to the cluster, as the slurm profile says."""

    def command(self, *arguments: str) -> list[str]:
        command = super().command("--slurm-no-account", *arguments)
        command[command.index("workflow/profiles/default")] = "workflow/profiles/slurm"
        return [*command, "--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "10"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


def test_the_cluster_results_are_those_of_the_local_run(
    cluster: Cluster,
    fresh: Workspace,  # noqa: F811
    finished: Workspace,  # noqa: F811
    copy_of: Callable[[Workspace], Workspace],  # noqa: F811
) -> None:
    study = Submitted(copy_of(fresh).folder)
    study.snakemake(TABLE)
    assert "COMPLETED" in slurm("squeue", "-h", "-t", "all", "-o", "%T").splitlines()
    found = study.results()
    pd.testing.assert_frame_equal(found, finished.results(), check_exact=True)
    assert not found.drop(columns="value").duplicated().any()
    assert study.planned() == {}
