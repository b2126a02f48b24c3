"""What the rules of jobs say: for the name of a job, Snakemake gets its inputs, text, code, memory and time."""

from typing import Any

from rflib.experiment.cost_job import CostJob
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.jobs import EvaluateJob, Job, SampleJob, SpectraJob, TrainJob
from rflib.experiment.jobs_on_rows import ExactJob, FitJob

JOBS: dict[str, type[Job]] = {
    kind.step: kind for kind in (SpectraJob, SampleJob, EvaluateJob, TrainJob, ExactJob, FitJob, CostJob)
}


class Jobs(dict[str, Job]):
    """Jobs by their paths below the results."""

    def add(self, job: Job) -> None:
        """Add a job, and the jobs that make what it reads."""
        if job.path not in self:
            self[job.path] = job
            for other in job.after:
                self.add(other)

    def __missing__(self, path: str) -> Job:
        raise ValueError(
            f"{path} is not planned, because a study or a data file was changed after this run began. "
            "Start Snakemake again."
        )


class JobRule:
    """What the rule for a kind of jobs says. Its wildcard ``job`` is the name of a job.

    Attributes
    ----------
    output, log : str
        Patterns with the wildcard.
    """

    def __init__(self, jobs: Jobs, kind: type[Job], results: str) -> None:
        self._results, self._jobs, self._step = results, jobs, kind.step
        self._path = f"{kind.folder}/{{job}}.{kind.suffix}"
        self.output = f"{self._results}/{self._path}"
        self.log = f"{self._results}/logs/{kind.folder}/{{job}}.log"

    def input(self, wildcards: Any) -> list[str]:
        """The files that the job reads."""
        return [f"{self._results}/{file}" for file in self._job(wildcards).needs]

    def job(self, wildcards: Any) -> str:
        """The job as JSON."""
        return self._job(wildcards).text

    def step(self, wildcards: Any, output: Any) -> str:
        """The command. As the folder it depends on the output, so that a job does not run again for it."""
        return self._step

    def results(self, wildcards: Any, output: Any) -> str:
        """The folder of the results."""
        return self._results

    def code(self, wildcards: Any) -> str:
        """The fingerprint of the code that decides the result."""
        return fingerprint(*self._job(wildcards).sources)

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Megabytes of memory, more at each attempt."""
        return attempt * self._job(wildcards).megabytes

    def runtime(self, wildcards: Any, attempt: int) -> int:
        """Minutes, more at each attempt."""
        return attempt * self._job(wildcards).minutes

    def gpu(self, wildcards: Any) -> int:
        """Number of GPUs."""
        return int(self._job(wildcards).device != "cpu")

    def _job(self, wildcards: Any) -> Job:
        return self._jobs[self._path.format(job=wildcards.job)]
