"""A study on a Slurm cluster of three nodes: the results of the local run to the bit, through all faults."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

from ..workflow.conftest import ROOT, TABLE, TINY, Workspace, _copy, copy_of, finished, fresh  # noqa: F401
from .cluster import Cluster, missing, slurm
from .often import NOT_NOW

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.reliability,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

OFTEN = Path(__file__).with_name("often.py")


@dataclass
class Submitted(Workspace):
    """A workspace whose jobs go to the cluster, as the slurm profile says."""

    first: Path | None = OFTEN

    def command(self, *arguments: str) -> list[str]:
        profile = ("--workflow-profile", "workflow/profiles/slurm")
        return super().command(*profile, "--slurm-no-account", "--latency-wait", "10", *arguments)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture
def study(cluster: Cluster, fresh: Workspace, copy_of: Callable[[Workspace], Workspace]) -> Submitted:  # noqa: F811
    """The tiny study's two quick methods, nothing run, to be submitted."""
    submitted = Submitted(copy_of(fresh).folder)
    submitted.study(methods={name: TINY["methods"][name] for name in ("GRFF", "GORF")})
    return submitted


def test_the_cluster_results_are_those_of_the_local_run(study: Submitted, finished: Workspace) -> None:  # noqa: F811
    study.study()
    study.snakemake(TABLE)
    _assert_complete(study, finished)
    assert "COMPLETED" in slurm("squeue", "-h", "-t", "all", "-o", "%T").splitlines()


@pytest.mark.nightly
def test_quickstart_on_the_cluster_is_that_of_the_local_run(
    cluster: Cluster,
    fresh: Workspace,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Kernel errors of all methods, each with one kernel, with few rows and repetitions, on one data set."""
    study = yaml.safe_load((ROOT / "workflow/studies/quickstart.yaml").read_text())
    (breast_cancer,) = (dataset for dataset in study["datasets"] if dataset["name"] == "breast_cancer")
    for name, method in study["methods"].items():
        polynomial = "kernels" in method or name in ("RandomMaclaurin", "TensorSketch", "CRAFT")
        method["kernels"] = ["polynomial p=10" if polynomial else "Gaussian"]
    part = {"datasets": ["breast_cancer"], "kernels": ["Gaussian", "polynomial p=10"], "learners": []}
    del study["estimators"]
    shown: dict[str, list] = {key: [] for key in ("tables", "figures", "claims")}
    study |= {"datasets": [breast_cancer], "grids": [part], **shown}
    tables = []
    for kind in (Workspace, Submitted):
        workspace = kind(_copy(fresh, tmp_path_factory.mktemp("quickstart")).folder)
        (workspace.folder / "workflow/studies/quickstart.yaml").write_text(yaml.safe_dump(study))
        workspace.snakemake("results/quickstart/cells.parquet", "--config", "preset=smoke", seconds=3000)
        tables.append(workspace.results(study="quickstart"))
    local, submitted = tables
    assert local["method"].nunique() == 16
    pd.testing.assert_frame_equal(submitted, local, check_exact=True)


def test_a_node_goes_down(study: Submitted, finished: Workspace, cluster: Cluster) -> None:  # noqa: F811
    process = study.start(TABLE)
    cluster.wait(lambda: bool(cluster.running()), "a running job")
    node = next(iter(cluster.running().values()))
    cluster.take_down(node)
    process.communicate(timeout=600)
    cluster.start_node(node)
    cluster.wait(lambda: "down" not in slurm("sinfo", "-h", "-n", node, "-o", "%T"), "the node")
    study.snakemake(TABLE)
    _assert_complete(study, finished)


def test_a_cancelled_job(study: Submitted, finished: Workspace, cluster: Cluster) -> None:  # noqa: F811
    process = study.start(TABLE)
    cluster.wait(lambda: bool(cluster.running()), "a running job")
    subprocess.run(["scancel", next(iter(cluster.running()))], check=True)
    process.communicate(timeout=600)
    study.snakemake(TABLE)
    _assert_complete(study, finished)


@pytest.mark.nightly
def test_the_controller_dies(study: Submitted, finished: Workspace, cluster: Cluster) -> None:  # noqa: F811
    """It is back before the plugin asks for the status: else the plugin waits for `sacct` (docs/cluster.md)."""
    asking = study.folder / NOT_NOW
    asking.touch()
    process = study.start(TABLE)
    cluster.wait(lambda: bool(cluster.running()), "a running job")
    with process.stopped():
        cluster.kill_controller()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    cluster.start_controller()
    asking.unlink()
    process.communicate(timeout=600)
    study.snakemake(TABLE)
    _assert_complete(study, finished)


def test_a_job_over_its_memory(study: Submitted, finished: Workspace) -> None:  # noqa: F811
    memory = [f"{rule}:mem_mb=40*attempt**4" for rule in ("features", "errors", "scores")]
    output = study.snakemake(TABLE, "--set-resources", *memory)
    assert "Trying to restart job" in output
    _assert_complete(study, finished)


def _assert_complete(study: Submitted, finished: Workspace) -> None:  # noqa: F811
    """Every cell once, with the value of the local run, and nothing left to do."""
    found, local = study.results(), finished.results()
    local = local[local["method"].isin(set(found["method"]))].reset_index(drop=True)
    assert set(found["method"]) >= {"GRFF", "GORF"}
    pd.testing.assert_frame_equal(found, local, check_exact=True)
    assert not found.drop(columns="value").duplicated().any()
    assert study.planned() == {}
