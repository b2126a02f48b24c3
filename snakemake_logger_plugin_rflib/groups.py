"""What a dry run says about a cluster: how many jobs are submitted, and what the largest one asks for."""

from __future__ import annotations

from typing import Any

from snakemake.resources import GroupResources


def submitted(dag: Any) -> str:
    """Return the number of jobs that are submitted, groups among them, with the most that one of them asks for.

    Parameters
    ----------
    dag : DAG
        Snakemake's jobs after a dry run of a profile that groups them.
    """
    here = dag.workflow._localrules  # `is_local` calls every rule of a dry run local
    jobs = [
        job
        for job in dag.get_jobs_or_groups()
        if job.is_group() or (dag.needrun(job) and not (job.rule.name in here or job.rule.norun))
    ]
    groups = [job for job in jobs if job.is_group()]
    asked = [_of_group(job) if job.is_group() else dict(job.resources.items()) for job in jobs]
    cores, megabytes, minutes = (
        max(resources.get(name, 0) for resources in asked) for name in ("_cores", "mem_mb", "runtime")
    )
    steps = max(len(group.jobs) for group in groups)
    return (
        f"On a cluster: {len(jobs)} jobs, of which {len(groups)} are groups of up to {steps} steps. The most that "
        f"a job asks for: {cores} cores, {megabytes:,} MB of memory, {minutes:,} minutes."
    )


def _of_group(group: Any) -> dict[str, Any]:
    """Return what a group asks for when it is submitted. Its own `resources` are those of a run on one machine."""
    group.finalize()
    return dict(
        GroupResources.basic_layered(
            toposorted_jobs=group.toposorted,
            constraints=group.global_resources,
            run_local=False,
            additive_resources=["runtime"],
            sortby=["runtime"],
        )
    )
