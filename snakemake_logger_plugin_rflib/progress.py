"""The progress of a run: its jobs by rule, the rate at which they finish, and the time that is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping


class Progress:
    """The jobs of one run. All times are in seconds of the same clock."""

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
        self.failed: set[int] = set()
        self._left: Counter[str] = Counter()
        self._running: dict[int, tuple[str, float]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._finished: Counter[str] = Counter()
        self._began = self._busy = 0.0

    def plan(self, jobs: Mapping[str, int], now: float) -> None:
        """Take the number of jobs of each rule, before the first of them starts."""
        self._left.update(jobs)
        self.total = self._left.total()
        self._began = now

    def start(self, job: int, rule: str, now: float) -> None:
        """Note that a job starts, perhaps once more after it failed."""
        self._running[job] = rule, now
        self.failed.discard(job)

    def finish(self, job: int, now: float) -> None:
        """Note that a job is done."""
        self.done += 1
        if job in self._running:
            rule, began = self._running[job]
            self._left[rule] -= 1
            self._seconds[rule] += now - began
            self._finished[rule] += 1
            self.stop(job, now)

    def stop(self, job: int, now: float) -> None:
        """Note that a job no longer runs."""
        if job in self._running:
            self._busy += now - self._running.pop(job)[1]

    def seconds_left(self, now: float) -> float | None:
        """Return the time that the remaining jobs will take, or None while too few are done to estimate it.

        A job is expected to take the mean time of the finished jobs of its rule, and as many jobs to run at once
        as on average so far. Jobs of rules without a finished job take the mean over all rules, unless most of the
        remaining jobs are of this kind.
        """
        left = sum(self._left.values())
        known = sum(self._left[rule] for rule in self._finished)
        if not self._finished or known < left / 2:
            return None
        overall = sum(self._seconds.values()) / self._finished.total()
        mean = {rule: self._seconds[rule] / n for rule, n in self._finished.items()}
        work = sum(jobs * mean.get(rule, overall) for rule, jobs in self._left.items())
        work -= sum(min(now - began, mean.get(rule, overall)) for rule, began in self._running.values())
        busy = self._busy + sum(now - began for _, began in self._running.values())
        return max(work, 0.0) * (now - self._began) / busy if busy > 0 else None

    def line(self, now: float) -> str:
        """Return the progress in one line."""
        left = self.seconds_left(now)
        parts = [
            f"{self.done} of {self.total} jobs ({self.done * 100 // self.total}%)",
            *([f"{len(self.failed)} failed"] if self.failed else []),
            _rate(self.done, now - self._began),
            f"time left {'--' if left is None else clock(left)}",
        ]
        running = Counter(rule for rule, _ in self._running.values())
        if running:
            parts.append("running: " + " ".join(f"{n} {rule}" for rule, n in running.most_common()))
        return ", ".join(parts)

    def summary(self, now: float) -> str:
        """Return what the run has done at its end."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.done} of {self.total} jobs done in {clock(now - self._began)}{failed}"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, with hours before them from one hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _rate(done: int, seconds: float) -> str:
    a_second = done / seconds if seconds > 0 else 0.0
    return f"{a_second:.1f} jobs/s" if a_second >= 1 else f"{a_second * 60:.1f} jobs/min"
