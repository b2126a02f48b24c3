"""A Slurm cluster on this host: munge, one controller, several nodes, no accounting; root, on Debian.

No systemd and no cgroups are needed. Several slurmd have each its own name and port.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue")
# Snakemake's job step clears all SLURM_ variables, so the configuration must lie where Slurm looks by default.
CONFIGURATION = Path("/etc/slurm/slurm.conf")
_TEXT = """\
ClusterName=rflib
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
KillWait=3
SlurmctldTimeout=30
SlurmdTimeout=10
MinJobAge=300
JobRequeue=0
{nodes}
PartitionName=debug Nodes=n[1-{n}] Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Why no cluster can be started here, or None."""
    if os.geteuid() != 0:
        return "a cluster of one's own needs root"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"no {', '.join(absent)}: tests/cluster/install.sh installs them on Debian"
    if CONFIGURATION.exists() and not _left_over():
        return f"{CONFIGURATION} is there already: this host has a Slurm of its own"
    return None


def _left_over() -> bool:
    """Whether the configuration is that of a cluster of these tests, killed before it could end."""
    return CONFIGURATION.is_symlink() and CONFIGURATION.read_text().startswith("ClusterName=rflib\n")


class Cluster:
    """Three nodes of two CPUs and 6 GB as a context manager; what it started it ends."""

    def __init__(self, folder: Path, nodes: int = 3) -> None:
        self.folder = folder
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self._munge: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Cluster:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        if CONFIGURATION.exists():
            Cluster(CONFIGURATION.resolve().parent).__exit__()
        CONFIGURATION.unlink(missing_ok=True)
        (self.folder / "state").mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        lines = (
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={17001 + i} CPUs=2 RealMemory=6000"
            for i, name in enumerate(self.nodes)
        )
        path = self.folder / "slurm.conf"
        path.write_text(
            _TEXT.format(host=host, folder=self.folder, nodes="\n".join(lines), n=len(self.nodes))
        )
        CONFIGURATION.symlink_to(path)
        self._munge = self._start_munge()
        self.start_controller()
        for name in self.nodes:
            self.start_node(name)
        self.wait(
            lambda: slurm("sinfo", "-h", "-t", "idle", "-o", "%D") == str(len(self.nodes)), "idle nodes"
        )

    def __exit__(self, *_: object) -> None:
        subprocess.run(["scancel", "--user=root"], check=False, timeout=60)
        for path in sorted(self.folder.glob("*.pid"), key=lambda path: path.name == "slurmctld.pid"):
            _end(path)
        if self._munge is not None:
            self._munge.terminate()
            self._munge.wait()
        CONFIGURATION.unlink(missing_ok=True)

    def start_controller(self) -> None:
        subprocess.run(["slurmctld"], check=True)
        self.wait(lambda: "UP" in slurm("scontrol", "ping"), "the controller")

    def kill_controller(self) -> None:
        """Once the submitted jobs are in its file, which it writes seconds later: it would forget them."""
        time.sleep(1)
        told = time.time()
        for job in self.running():
            slurm("scontrol", "update", f"jobid={job}", "comment=a change to be saved")
        saved = self.folder / "state/job_state"
        self.wait(lambda: saved.exists() and saved.stat().st_mtime > told, "the controller's saved jobs")
        _end(self.folder / "slurmctld.pid", signal.SIGKILL)

    def start_node(self, name: str) -> None:
        (self.folder / f"spool-{name}").mkdir(exist_ok=True)
        subprocess.run(["slurmd", "-N", name], check=True)

    def take_down(self, name: str) -> None:
        """As if the machine lost its power: its slurmd and its jobs die, and the controller is told."""
        _end(self.folder / f"slurmd-{name}.pid", signal.SIGKILL)
        lost = [job for job, node in self.running().items() if node == name]
        for step in psutil.process_iter(["cmdline"]):
            words = " ".join(step.info["cmdline"] or [])
            if any(words.startswith(f"slurmstepd: [{job}.") for job in lost):
                for process in (*step.children(recursive=True), step):
                    process.kill()
        slurm("scontrol", "update", f"nodename={name}", "state=down", "reason=test")

    def running(self) -> dict[str, str]:
        """Node by running job."""
        lines = slurm("squeue", "-h", "-t", "R", "-o", "%i %N").splitlines()
        return {job: node for job, node in map(str.split, lines)}

    @staticmethod
    def wait(done: Callable[[], bool], what: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            time.sleep(0.2)

    def _start_munge(self) -> subprocess.Popen[bytes] | None:
        """Munge, if none runs here."""
        if subprocess.run(["munge", "-n"], capture_output=True).returncode == 0:
            return None
        Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        process = subprocess.Popen(
            ["munged", "--foreground"],
            user="munge",
            group="munge",
            extra_groups=[],
            stderr=subprocess.DEVNULL,
        )
        self.wait(
            lambda: subprocess.run(["munge", "-n"], capture_output=True).returncode == 0, "munge", seconds=20
        )
        return process


def slurm(*command: str) -> str:
    """What a Slurm command prints; nothing if the controller does not answer."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()


def _end(path: Path, number: int = signal.SIGTERM) -> None:
    """End the process whose number a file holds, and wait until it is gone."""
    if not path.exists():
        return
    pid = int(path.read_text())
    try:
        os.kill(pid, number)
        for _ in range(100):
            os.kill(pid, 0)
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    path.unlink(missing_ok=True)
