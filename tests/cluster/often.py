"""Have Snakemake ask Slurm for the status of its jobs every two seconds, and not while a file is there.

The plugin waits ten seconds longer each time that no job has ended.
"""

import asyncio
from pathlib import Path

from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

NOT_NOW = "do not ask for the status now"


async def _sleep(_: RemoteExecutor) -> None:
    await asyncio.sleep(2)
    while Path(NOT_NOW).exists():
        await asyncio.sleep(0.2)


if __name__ == "__main__":
    RemoteExecutor.sleep = _sleep  # type: ignore[method-assign]
