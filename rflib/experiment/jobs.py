"""The jobs of the pipeline. Each is a frozen value that knows its file, inputs, code, memory and time.

A cell is (data, kernel, method, n_components, seed). A job draws, compares or trains a block of cells: several
numbers of columns and a range of seeds for one unit (data, kernel, method). Its file is named after what it
computes and not after the labels of a study, so studies share jobs. The command line takes a job as JSON.

A new setting of a step needs a field of its job, an entry in the schema of studies, and its use in the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from sklearn.base import clone

from rflib.experiment.data import Data
from rflib.experiment.specs import (
    LONGEST,
    Spec,
    build_kernel,
    build_map,
    identity,
    meaning,
    module_of,
    shorten,
)
from rflib.experiment.values import Value

if TYPE_CHECKING:
    from rflib.measures.base import SpectralMeasure

Seeds = tuple[int, int]

_BLOCK_ROWS = 4096  # `KRR.block_size`, which no study sets


@dataclass(frozen=True, eq=False)
class Unit(Value):
    """A method for a kernel on a data set."""

    data: Data
    kernel: Spec
    method: Spec

    @cached_property
    def path(self) -> str:
        """Identity of the unit, and its folder within that of a step."""
        return f"{self.data.id}/{identity(self.kernel)}/{identity(self.method)}"

    @cached_property
    def stream(self) -> str:
        """What decides its random numbers, beside D and the seed: the data set, and what kernel and method mean.

        How many rows are used, how they are preprocessed, and how parameters are spelled changes no random number.
        Two methods of one type have the same ones if they have the same values for different parameters; the
        comparisons in a report are between cells of the same seed, and hold then too.
        """
        return f"{self.data.folder}/{meaning('kernel', self.kernel)}/{meaning('method', self.method)}"

    @cached_property
    def feature_map(self) -> Any:
        """The unfitted map."""
        return build_map(self.method, build_kernel(self.kernel))

    @cached_property
    def spectra(self) -> SpectraJob | None:
        """The job that constructs the spectral measure, which methods may share, or None for closed forms."""
        measure = _construction(self.feature_map)
        return None if measure is None else SpectraJob(self.data, self.kernel, measure)

    def measure(self, results: Path) -> SpectralMeasure:
        """Read the measure that the job ``spectra`` constructed. The code that reads it is among the modules."""
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
            names += [module_of("method", spec["type"]), *_modules_of_measure(feature_map)]
            if hasattr(feature_map, "candidates_for"):
                for candidate in feature_map.candidates_for(feature_map.kernel):
                    with_kernel = clone(candidate).set_params(kernel=feature_map.kernel)
                    names += [type(candidate).__module__, *_modules_of_measure(with_kernel)]
            feature_map, spec = getattr(feature_map, "base", None), spec.get("base")
        return tuple(names)


def _construction(feature_map: Any) -> Mapping[str, Any] | None:
    """Return the construction that a map asks for, as a mapping, or None for closed forms."""
    asked = getattr(feature_map, "measure", None)
    if not isinstance(asked, str | Mapping):
        return None
    from rflib.measures.construct import CONSTRUCTIONS, construction_of

    construction = construction_of(asked, feature_map.kernel)
    return construction if construction["type"] in CONSTRUCTIONS else None


def _modules_of_measure(feature_map: Any) -> list[str]:
    """Return the modules that construct the spectral measure of a map and read it; none for closed forms."""
    measure = _construction(feature_map)
    return ["rflib.measures.store", f"rflib.measures.{measure['type']}"] if measure else []


class Job(Value):
    """A step of the command line with all its input.

    Attributes
    ----------
    step : str
        The subcommand, and the module of `rflib.experiment` that does the work.
    folder, suffix : str
        The folder of such jobs' files in that of the results, and the suffix of their names.
    name : str
        Identity of the job among those of its kind, which is the file's name without folder and suffix.
    data : Data
        The rows that it uses.
    after : tuple of Job
        The jobs whose files it reads.
    modules : tuple of str
        The modules that decide the result of the prepared data, together with all that they import.
    megabytes, minutes : int
        Generous bounds of memory and time, which a cluster needs.
    device : str
        Where features are computed: "cpu", or a device of torch such as "cuda". Results differ by rounding only.
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
    device: Any = "cpu"

    @cached_property
    def path(self) -> str:
        """The file that the job makes, in the folder of the results."""
        return f"{self.folder}/{self.name}.{self.suffix}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The modules that decide the result, and those that prepare the data."""
        from rflib.datasets.prepare import sources_of

        return (*self.modules, *sources_of(self.data.folder))

    @property
    def needs(self) -> list[str]:
        """The files in the folder of the results that the job reads."""
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
    """Draw the features of a block of cells. It stores frequencies or hashes, not the features themselves."""

    unit: Unit
    n_components: tuple[int, ...]
    seeds: Seeds

    step, folder, suffix = "sample", "features", "npz"

    def with_seeds(self, seeds: Seeds) -> SampleJob:
        """Return the same job for other seeds."""
        return replace(self, seeds=seeds)

    @cached_property
    def block(self) -> str:
        """Identity of the numbers of columns and the seeds."""
        return block_of(self.n_components, self.seeds)

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
    """A job that measures cells. Its table has rows for a range of seeds.

    Attributes
    ----------
    names : dict of str
        Identities of the data, the kernel and, unless the table has several methods, the method.
    """

    names: Any

    @property
    def stored(self) -> str:
        """The file whose name gives the range of seeds that have results."""
        return self.path

    def with_seeds(self, seeds: Seeds) -> Self:
        """Return the same job for other seeds."""
        return cast(Self, replace(cast(Any, self), seeds=seeds))


class BlockJob(CellJob):
    """A job that measures the cells of a block after its features were drawn."""

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
        return cast(Self, replace(cast(Any, self), sample=self.sample.with_seeds(seeds)))


@dataclass(frozen=True, eq=False)
class EvaluateJob(BlockJob):
    """Measure the errors of the approximate kernel matrices of a block.

    Attributes
    ----------
    rows : int
        Number of rows of the kernel matrix.
    unit_diagonal : bool
        Overwrite the diagonal of K_hat with ones, as the authors of luo2021 do.
    eigenvalues : bool
        Also compare the eigenvalues of K_hat with those of K.
    degrees : bool
        Also compute the degrees of freedom of K, which give the number of features needed in liu2020.
    parts : bool
        Also measure the errors of the diagonal and of the nearest 1 % of pairs of rows.
    held_out : bool
        Take test rows, which the map has not seen, in place of training rows.
    ridges : tuple of float
        Also measure the regularised spectral error with each of these ridges lambda.
    """

    sample: SampleJob
    rows: int = 1000
    unit_diagonal: bool = False
    eigenvalues: bool = False
    degrees: bool = False
    parts: bool = False
    held_out: bool = False
    ridges: tuple[float, ...] = ()
    device: str = "cpu"

    step, folder, suffix = "evaluate", "errors", "parquet"

    @cached_property
    def name(self) -> str:
        flags = [f.name for f in fields(self) if getattr(self, f.name) is True]
        flags += [f"ridges={'_'.join(map(str, self.ridges))}"] * bool(self.ridges)
        flags += _not_default(self, "device")
        return f"{self.sample.name}/{'-'.join([f'rows={self.rows}', *flags])}"


@dataclass(frozen=True, eq=False)
class TrainJob(BlockJob):
    """Train a learner on the features of a block of cells and score it.

    Attributes
    ----------
    stream_above : int or None
        With more training rows than that, ridge regression makes its features in blocks and does not store them.
        The result is the same to rounding. On another device than the CPU it always does so.
    """

    sample: SampleJob
    learner: Spec
    device: str = "cpu"
    stream_above: int | None = None

    step, folder, suffix = "train", "scores", "parquet"
    minutes = 120

    @cached_property
    def name(self) -> str:
        settings = _not_default(self, "device", "stream_above")
        return "-".join([f"{self.sample.name}/{identity(self.learner)}", *settings])

    @property
    def modules(self) -> tuple[str, ...]:
        return (*super().modules, module_of("learner", self.learner["type"]))

    @property
    def megabytes(self) -> int:
        """For the largest features: an entry takes 16 bytes in liblinear, 8 in the features and 8 in a copy.

        In blocks: the matrices of 5 folds, those of a solution and a block of features, beside the rows.
        """
        rows, columns = sum(self.data.rows), max(self.sample.n_components)
        if self.stream_above is not None and self.data.rows[0] > self.stream_above:
            return 1000 + self.data.megabytes + 8 * (7 * columns + 2 * _BLOCK_ROWS) * columns // 10**6
        return self.data.megabytes + 32 * rows * columns // 10**6


def block_of(n_components: tuple[int, ...], seeds: Seeds) -> str:
    """Return the identity of numbers of columns and seeds as the safe name of a file; it ends with the seeds."""
    text = text_of(seeds)
    return shorten("_".join(map(str, n_components)), LONGEST - len(text)) + text


def _not_default(job: Job, *names: str) -> list[str]:
    """Return the settings that are not at their defaults, as parts of the job's name."""
    defaults = {field.name: field.default for field in fields(cast(Any, job))}
    values = {name: getattr(job, name) for name in names}
    return [f"{name}={value}" for name, value in values.items() if value != defaults[name]]


def text_of(seeds: Seeds) -> str:
    """Return a range of seeds in the form in which it ends the name of a file."""
    return f"-r{seeds[0]}_{seeds[1]}"
