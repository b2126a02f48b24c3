"""Kills at random moments: the next run completes and its results are the undisturbed ones to the bit."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable

import pytest

from .conftest import TABLE, Workspace
from .faults import assert_next_run_completes, jobs

pytestmark = [pytest.mark.workflow, pytest.mark.reliability]
Copy = Callable[[Workspace], Workspace]


@pytest.mark.parametrize("seed", range(int(os.environ.get("RFLIB_KILLS", "21"))))
def test_killed_at_a_random_moment(seed: int, fresh: Workspace, finished: Workspace, copy_of: Copy) -> None:
    workspace = copy_of(fresh)
    moment = random.Random(seed)
    process = workspace.start(TABLE)
    begun = moment.randrange(12)  # of the run's twelve jobs, each of which begins a log
    while process.poll() is None and len([*workspace.folder.glob("results/logs/**/*.log")]) < begun:
        time.sleep(0.02)
    time.sleep(moment.uniform(0, 0.5))
    if process.poll() is None:
        match seed % 3:
            case 0:
                process.kill()
            case 1:
                os.killpg(process.pid, signal.SIGKILL)
            case 2:
                for job in jobs(process.pid)[:1]:
                    job.kill()
    process.communicate(timeout=300)
    assert_next_run_completes(workspace, finished)
