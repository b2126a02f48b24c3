"""The jobs of the pipeline: each is one frozen value that knows its file, what it reads, its code and its needs.

A cell is (data, kernel, method, n_components, seed). A job draws, compares or trains a block of cells: some
numbers of columns and a range of seeds of one unit (data, kernel, method). Its file is named by what it computes,
not by what a study calls that, so studies share jobs. The command line takes a job as JSON.

A new setting of a step is a field of its job, an entry in the schema of studies, and its use in the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rflib.experiment.specs import (
    LONGEST,
    Spec,
    build_kernel,
    build_map,
    identity,
    module_of,
    shorten,
)
from rflib.experiment.values import Value

if TYPE_CHECKING:
    from rflib.measures.base import SpectralMeasure

Seeds = tuple[int, int]

_UNKNOWN_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Data(Value):
    """Prepared rows, as jobs read them: their folder among the prepared data, and what is done to them.

    ``precision`` is no part of the name: results of another precision take the place of the old ones.
    """

    folder: str
    preprocess: str = "raw"
    max_train: int | None = None
    max_test: int | None = None
    precision: str = "float64"

    @cached_property
    def id(self) -> str:
        """Readable identity, safe as a file name."""
        limits = ("max_train", "max_test")
        words = [self.folder, *([self.preprocess] if self.preprocess != "raw" else [])]
        words += [f"{name}={value}" for name in limits if (value := getattr(self, name)) is not None]
        return shorten(".".join(words))

    @property
    def meta(self) -> str:
        """File below the results that says that the data are prepared."""
        return f"data/{self.folder}/meta.json"

    @property
    def rows(self) -> tuple[int, int]:
        """At most so many rows to train on and to test on; all are training rows where nothing limits them."""
        from rflib.datasets.registry import REGISTRY

        rows = REGISTRY[self.folder].rows if self.folder in REGISTRY else _UNKNOWN_ROWS
        train = min(rows, self.max_train or rows)
        return train, min(rows - train, self.max_test or rows)


@dataclass(frozen=True, eq=False)
class Unit(Value):
    """A method for a kernel on some data."""

    data: Data
    kernel: Spec
    method: Spec

    @cached_property
    def path(self) -> str:
        """Identity of the unit, which decides its random numbers too, and its folder below that of a step."""
        return f"{self.data.id}/{identity(self.kernel)}/{identity(self.method)}"

    @cached_property
    def feature_map(self) -> Any:
        """The unfitted map."""
        return build_map(self.method, build_kernel(self.kernel))

    @cached_property
    def spectra(self) -> SpectraJob | None:
        """The job that constructs the spectral measure, which methods may share; None for closed forms."""
        measure = _construction(self.feature_map)
        return None if measure is None else SpectraJob(self.data, self.kernel, measure)

    def measure(self, results: Path) -> SpectralMeasure:
        """Read what the job ``spectra`` constructed; the code that reads it is in the modules."""
        from rflib.measures.store import load

        assert self.spectra is not None
        return load(results / self.spectra.path)

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules that define the kernel, the measure and the method."""
        names = [module_of("kernel", self.kernel["type"])]
        feature_map: Any = self.feature_map
        spec: Any = self.method
        while spec is not None:
            names.append(module_of("method", spec["type"]))
            if measure := _construction(feature_map):
                names += ["rflib.measures.store", f"rflib.measures.{measure['type']}"]
            feature_map, spec = getattr(feature_map, "base", None), spec.get("base")
        return tuple(names)


def _construction(feature_map: Any) -> Mapping[str, Any] | None:
    """Return the construction that a map asks for, as a mapping; None for closed forms."""
    asked = feature_map.construction() if hasattr(feature_map, "construction") else None
    if not isinstance(asked, str | Mapping):
        return None
    from rflib.measures.construct import CONSTRUCTIONS, construction_of

    construction = construction_of(asked, feature_map.kernel)
    return construction if construction["type"] in CONSTRUCTIONS else None


class Job(Value):
    """A step of the command line with all that it is told.

    Attributes
    ----------
    step : str
        The subcommand, and the module of `rflib.experiment` that does the work.
    folder, suffix : str
        Where the files of such jobs lie below the results, and how their names end.
    name : str
        Identity of the job among those of its kind, the file's name between the two.
    data : Data
        The rows that it works on.
    after : tuple of Job
        The jobs whose files it reads.
    modules : tuple of str
        The modules that decide the result, together with all that they import.
    megabytes, minutes : int
        Memory and time to ask a cluster for, generously.
    """

    step: ClassVar[str]
    folder: ClassVar[str]
    suffix: ClassVar[str]
    name: Any
    data: Any
    after: Any = ()
    modules: Any
    megabytes: Any = 2000
    minutes = 60

    @cached_property
    def path(self) -> str:
        """The file that the job makes, below the results."""
        return f"{self.folder}/{self.name}.{self.suffix}"

    @property
    def needs(self) -> list[str]:
        """The files below the results that the job reads."""
        return [self.data.meta, *(job.path for job in self.after)]


@dataclass(frozen=True, eq=False)
class SpectraJob(Job):
    """Construct a spectral measure that has no closed form."""

    data: Data
    kernel: Spec
    measure: Spec

    step, folder, suffix = "spectra", "spectra", "npz"
    minutes = 30

    @cached_property
    def name(self) -> str:
        return f"{self.data.id}/{identity(self.kernel)}/{identity(self.measure)}"

    @property
    def modules(self) -> tuple[str, ...]:
        kernel = module_of("kernel", self.kernel["type"])
        return (f"rflib.experiment.{self.step}", kernel, f"rflib.measures.{self.measure['type']}")


@dataclass(frozen=True, eq=False)
class SampleJob(Job):
    """Draw the features of a block of cells; what is stored are frequencies and the like, not the features."""

    unit: Unit
    n_components: tuple[int, ...]
    seeds: Seeds

    step, folder, suffix = "sample", "features", "npz"

    @cached_property
    def block(self) -> str:
        """Identity of the columns and seeds, safe as a file name; the seeds stand in it as they are."""
        seeds = _text_of(self.seeds)
        return shorten("_".join(map(str, self.n_components)), LONGEST - len(seeds)) + seeds

    @cached_property
    def name(self) -> str:
        return f"{self.unit.path}/{self.block}"

    @property
    def data(self) -> Data:
        return self.unit.data

    @property
    def after(self) -> tuple[Job, ...]:
        return (self.unit.spectra,) if self.unit.spectra else ()

    @property
    def modules(self) -> tuple[str, ...]:
        return (f"rflib.experiment.{self.step}", *self.unit.modules)


class CellJob(Job):
    """A job that measures cells: its table has rows for the seeds of a range.

    Attributes
    ----------
    names : dict of str
        Identities of the data, the kernel and the method.
    stored : str
        The file whose name tells of which range of seeds there are results.
    """

    names: Any
    stored: Any

    def with_seeds(self, seeds: Seeds) -> Self:
        """Return the job for other seeds."""
        raise NotImplementedError


class BlockJob(CellJob):
    """A job that measures the cells of a block whose features were drawn."""

    sample: SampleJob

    @property
    def data(self) -> Data:
        return self.sample.unit.data

    @property
    def after(self) -> tuple[Job, ...]:
        return (self.sample,)

    @property
    def modules(self) -> tuple[str, ...]:
        return (f"rflib.experiment.{self.step}", *self.sample.unit.modules)

    @property
    def names(self) -> Mapping[str, str]:
        return dict(zip(("data", "kernel_id", "method_id"), self.sample.unit.path.split("/"), strict=True))

    @property
    def stored(self) -> str:
        return self.sample.path

    def with_seeds(self, seeds: Seeds) -> Self:
        return replace(self, sample=replace(self.sample, seeds=seeds))  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class EvaluateJob(BlockJob):
    """Measure the error of a block's approximate kernel matrices.

    Attributes
    ----------
    rows : int
        Rows of the kernel matrix.
    unit_diagonal : bool
        Overwrite the diagonal of K_hat by ones, as the authors of luo2021 do.
    eigenvalues : bool
        Compare the eigenvalues of K_hat with those of K too.
    degrees : bool
        Also the degrees of freedom of K, by which liu2020 counts the features needed.
    parts : bool
        Also the errors of the diagonal and of the nearest 1 % of pairs of rows.
    ridges : tuple of float
        Also the regularised spectral error with each of these ridges lambda.
    """

    sample: SampleJob
    rows: int = 1000
    unit_diagonal: bool = False
    eigenvalues: bool = False
    degrees: bool = False
    parts: bool = False
    ridges: tuple[float, ...] = ()

    step, folder, suffix = "evaluate", "errors", "parquet"

    @cached_property
    def name(self) -> str:
        flags = [f.name for f in fields(self) if getattr(self, f.name) is True]
        flags += [f"ridges={'_'.join(map(str, self.ridges))}"] * bool(self.ridges)
        return f"{self.sample.name}/{'-'.join([f'rows={self.rows}', *flags])}"


@dataclass(frozen=True, eq=False)
class TrainJob(BlockJob):
    """Train a learner on the features of a block of cells and score it."""

    sample: SampleJob
    learner: Spec

    step, folder, suffix = "train", "scores", "parquet"
    minutes = 120

    @cached_property
    def name(self) -> str:
        return f"{self.sample.name}/{identity(self.learner)}"

    @property
    def modules(self) -> tuple[str, ...]:
        return (*super().modules, module_of("learner", self.learner["type"]))

    @property
    def megabytes(self) -> int:
        """For the largest features: 16 bytes an entry are liblinear's, 8 each the features' and one copy's."""
        return 1000 + sum(self.data.rows) * max(self.sample.n_components) * 32 // 10**6


@dataclass(frozen=True, eq=False)
class ExactJob(CellJob):
    """Train a learner with the exact kernel and score it."""

    data: Data
    kernel: Spec
    learner: Spec
    seeds: Seeds

    step, folder, suffix = "exact", "exact", "parquet"
    minutes = 120

    @cached_property
    def name(self) -> str:
        return f"{self.data.id}/{identity(self.kernel)}/{identity(self.learner)}{_text_of(self.seeds)}"

    @property
    def modules(self) -> tuple[str, ...]:
        kernel, learner = module_of("kernel", self.kernel["type"]), module_of("learner", self.learner["type"])
        return (f"rflib.experiment.{self.step}", kernel, learner)

    @property
    def megabytes(self) -> int:
        """Of training rows: the kernel matrix, its making, and the learner's copy; of test rows the first two."""
        train, test = self.data.rows
        return 1000 + (24 * train + 16 * test) * train // 10**6

    @property
    def names(self) -> Mapping[str, str]:
        return {"data": self.data.id, "kernel_id": identity(self.kernel), "method_id": "exact"}

    @property
    def stored(self) -> str:
        return self.path

    def with_seeds(self, seeds: Seeds) -> Self:
        return replace(self, seeds=seeds)


JOBS: dict[str, type[Job]] = {
    kind.step: kind for kind in (SpectraJob, SampleJob, EvaluateJob, TrainJob, ExactJob)
}


def _text_of(seeds: Seeds) -> str:
    """Return a range of seeds as the end of a file's name."""
    return f"-r{seeds[0]}_{seeds[1]}"
