"""Plans: the jobs whose cells a study shows, with the labels of the study. No file is read here."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

from rflib.datasets.preprocess import check_preprocess
from rflib.datasets.registry import describe
from rflib.experiment.blame import within
from rflib.experiment.columns import Columns, blocks_of_columns
from rflib.experiment.cost_job import CostJob
from rflib.experiment.data import Data
from rflib.experiment.estimators import build_estimator, missing_packages, of_task
from rflib.experiment.grids import LIMITS, NO_KERNEL, Study, grids
from rflib.experiment.jobs import CellJob, EvaluateJob, SampleJob, Seeds, TrainJob, Unit
from rflib.experiment.jobs_on_rows import ExactJob, FitJob
from rflib.experiment.seeds import Demand
from rflib.experiment.specs import (
    LEARNER_TREATMENTS,
    Spec,
    build,
    build_kernel,
    build_map,
    device_of,
    identity,
    is_streaming,
    normalised,
    streams_features,
)

EXACT = "exact kernel"
# Parameters that every method or learner gets from the study, each with what in the study decides it.
_OF_METHODS = {
    "n_components": "by s and budget",
    "random_state": "another in each of its repetitions",
    "kernel": "each of its kernels",
}
_OF_LEARNERS = {"feature_map": "each of its methods", "signature": "with the features"}
_OF_STREAMING = {"random_state": _OF_METHODS["random_state"]}
_OF_EXACT = {"kernel": _OF_METHODS["kernel"]}
_SEED_BLOCK = 10


@dataclass(frozen=True)
class Wanted:
    """A job whose cells a study shows, with the study's labels, and its s for each number of columns.

    ``method_id`` is the identity of the method, if the job's table has several.
    """

    job: CellJob
    demand: Demand
    dataset: str
    kernel: str
    method: str
    learner: str | None = None
    s: tuple[Columns, ...] = ()
    method_id: str | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of columns."""
        return tuple(n for _, _, n in self.s)


@dataclass(frozen=True)
class StudyPlan:
    """All jobs that one study wants, and the combinations (kernel, method, reason) that were left out."""

    name: str
    study: Study
    wanted: tuple[Wanted, ...]
    skipped: tuple[tuple[str, str, str], ...]

    def divided(self, ranges: Iterable[Iterable[Seeds]]) -> Self:
        """Return the plan with each job divided into jobs of ranges of seeds, which are given job by job."""
        each = zip(self.wanted, ranges, strict=True)
        cut = (replace(wanted, job=wanted.job.with_seeds(seeds)) for wanted, of in each for seeds in of)
        return replace(self, wanted=tuple(cut))


def plan_study(name: str, study: Study, settings: Mapping[str, Any]) -> StudyPlan:
    """Plan one (validated) study: what it measures on which cells. `StudyPlan.divided` divides it into jobs.

    Parameters
    ----------
    name : str
        Name of the study.
    study : mapping
        Content of the study file.
    settings : mapping
        ``preset``, ``repetitions``, ``seed_block`` and ``precision`` of the configuration; None leaves the study's
        own. ``datasets``: the names of the data sets to run on; None for all. ``absent``: the names of data sets
        whose files are not available, and of packages that are not installed; data sets and estimators that need
        them are left out if they are optional. ``folders``: the folders among the prepared data of data sets that
        are user files.

    Raises
    ------
    ValueError
        For anything unknown or out of range; the message names the entry. Also if the study has none of
        ``datasets``.
    """
    check_chosen(study, settings)
    wanted: dict[Wanted, None] = {}
    skipped: dict[tuple[str, str, str], None] = {}
    for grid in grids(study, settings.get("preset", "paper")):
        for dataset, estimator in product(grid["datasets"], grid["estimators"]):
            asked = grid["estimators"][estimator]
            if _is_there(dataset, settings) and dataset["name"] in asked.get("datasets", [dataset["name"]]):
                try:
                    wanted |= dict.fromkeys(_estimated(grid, dataset, estimator, settings))
                except Unsupported as error:
                    skipped[NO_KERNEL, estimator, str(error)] = None
        for dataset, kernel in product(grid["datasets"], grid["kernels"]):
            if _applies(grid, dataset, kernel, settings):
                part = _KernelOnData(grid, dataset, kernel, settings)
                wanted |= dict.fromkeys(part.exact())
                for method in grid["methods"]:
                    if _goes_with(grid, kernel, method):
                        try:
                            wanted |= dict.fromkeys(part.of_method(method))
                        except Unsupported as error:
                            skipped[kernel, method, str(error)] = None
                wanted |= dict.fromkeys(part.cost())
    return StudyPlan(name, study, tuple(wanted), tuple(skipped))


def check_chosen(study: Study, settings: Mapping[str, Any]) -> None:
    """Raise ValueError if a study has none of the data sets that the configuration names."""
    asked = settings.get("datasets")
    names = {dataset["name"]: None for dataset in study["datasets"]}
    if asked is not None and names.keys().isdisjoint(asked):
        raise ValueError(
            f"the study has none of the data sets that the configuration names ({', '.join(asked)}). It has "
            f"{', '.join(names)}."
        )


def folders_of(names: Iterable[str], ids: Iterable[str]) -> dict[str, str]:
    """Return the folders among the prepared data by name of the data set, from the identities of the data."""
    return {name: identity.split(".")[0] for name, identity in zip(names, ids, strict=True)}


def _applies(grid: Study, dataset: Study, kernel: str, settings: Mapping[str, Any]) -> bool:
    """Whether a kernel is used on a data set that is available and asked for."""
    name = dataset["name"]
    return _is_there(dataset, settings) and name in grid["kernels"][kernel].get("datasets", [name])


def _is_there(dataset: Study, settings: Mapping[str, Any]) -> bool:
    """Whether a data set is available and asked for."""
    name = dataset["name"]
    absent = dataset.get("optional", False) and name in settings.get("absent", ())
    return name in (settings.get("datasets") or [name]) and not absent


def _goes_with(grid: Study, kernel: str, method: str) -> bool:
    """Whether neither the kernel nor the method is restricted so that they are not used together."""
    of_kernel, of_method = grid["kernels"][kernel], grid["methods"][method]
    return method in of_kernel.get("methods", [method]) and kernel in of_method.get("kernels", [kernel])


def _data(dataset: Study, settings: Mapping[str, Any], preprocess: str, **fit: Any) -> Data:
    """Return the rows of a data set with the study's limits."""
    name = dataset["name"]
    limits = {key: dataset[key] for key in LIMITS if key in dataset}
    folder, precision = settings.get("folders", {}).get(name, name), settings.get("precision", "float64")
    return Data(folder, preprocess, **limits, precision=precision, **fit)


def _demand(grid: Study, settings: Mapping[str, Any]) -> Demand:
    """Return the repetitions, and how many are in one job."""
    return Demand(
        settings.get("repetitions") or grid["repetitions"],
        settings.get("seed_block") or grid.get("seed_block", _SEED_BLOCK),
    )


def _estimated(grid: Study, dataset: Study, label: str, settings: Mapping[str, Any]) -> Iterator[Wanted]:
    """Yield the job of an estimator on a data set, if the study has it for the data set's task.

    Raises
    ------
    Unsupported
        If it is optional and needs a package that is absent.
    """
    asked, name = grid["estimators"][label], dataset["name"]
    with within(f"data set {name!r}"):
        task = (dataset if "file" in dataset else describe(name))["task"]
    with within(f"estimator {label!r}"):
        spec = of_task(asked, task)
        if spec is None:
            return
        missing = missing_packages(spec) if asked.get("optional", False) else []
        if absent := [package for package in missing if package in settings.get("absent", ())]:
            raise Unsupported(f"the package {absent[0]} is not installed")
        if not missing:
            build_estimator(spec)
    demand = _demand(grid, settings)
    job = FitJob(_data(dataset, settings, "raw"), spec, (0, demand.repetitions))
    yield Wanted(job, demand, name, NO_KERNEL, label, s=(("", 0.0, 0),))


class _KernelOnData:
    """A kernel on a data set, in a grid."""

    def __init__(self, grid: Study, dataset: Study, kernel: str, settings: Mapping[str, Any]) -> None:
        self.grid, self.kernel, self.dataset = grid, kernel, dataset["name"]
        asked = grid["kernels"][kernel]
        with within(f"data set {self.dataset!r}"):
            about = dataset if "file" in dataset else describe(self.dataset)
            preprocess = asked.get("preprocess", dataset.get("preprocess", "raw"))
            check_preprocess(preprocess)
            check_preprocess(asked.get("fit_preprocess", "raw"))
        self.data = _data(dataset, settings, preprocess, fit_preprocess=asked.get("fit_preprocess"))
        self.columns: int | None = about.get("columns")
        self.blocks: defaultdict[tuple[int, ...], list[tuple[str, Spec, tuple[Columns, ...]]]] = defaultdict(
            list
        )
        given = about.get("split") == "given" or "test_file" in about
        self.rows_vary = not given or not dataset.keys().isdisjoint(LIMITS)
        with within(f"kernel {kernel!r}"):
            spec = _without(asked, "datasets", "methods", "preprocess", "fit_preprocess")
            self.kernel_object = build_kernel(spec)
            self.kernel_spec = normalised("kernel", spec)
        self.demand = _demand(grid, settings)
        task = about["task"]
        asked_learners = {
            label: spec for label, spec in grid.get("learners", {}).items() if spec.get("task", task) == task
        }
        self.learners = {label: _learner(label, spec, _OF_LEARNERS) for label, spec in asked_learners.items()}
        self.exact_learners = {
            label: _learner(f"{label}, exact", spec["exact"], _OF_EXACT)
            for label, spec in asked_learners.items()
            if "exact" in spec
        }

    def exact(self) -> Iterator[Wanted]:
        """Yield the learners with the exact kernel, for one repetition if all repetitions have the same rows."""
        demand = self.demand if self.rows_vary else Demand(1, 1)
        for label, learner in self.exact_learners.items():
            job = ExactJob(self.data, self.kernel_spec, learner, (0, demand.repetitions))
            yield Wanted(job, demand, self.dataset, self.kernel, EXACT, label)

    def of_method(self, method: str) -> Iterator[Wanted]:
        """Yield the jobs of a method.

        Raises
        ------
        Unsupported
            If the method does not apply to the kernel and does not name it.
        """
        asked = self.grid["methods"][method]
        with within(f"method {method!r}"):
            spec = _without(asked, "kernels", "unit_diagonal")
            _refuse_given(spec, _OF_METHODS)
            if isinstance(spec.get("base"), Mapping):
                with within("base"):
                    _refuse_given(spec["base"], _OF_EXACT)
            if reason := build_map(spec, self.kernel_object).unsupported(self.kernel_object):
                raise ValueError(reason) if "kernels" in asked else Unsupported(reason)
            unit = Unit(self.data, self.kernel_spec, normalised("method", spec))
        device, stream_above = self.grid.get("device", "cpu"), self.grid.get("stream_above")
        for s in blocks_of_columns(self.grid, self.columns, unit.feature_map.columns_per_s):
            columns = tuple(sorted({n for _, _, n in s}))
            sample = SampleJob(unit, columns, (0, self.demand.repetitions))
            self.blocks[columns].append((method, unit.method, s))
            labels = (self.demand, self.dataset, self.kernel, method)
            error = self.grid.get("kernel_error", {})
            if error is not None:
                unit_diagonal = asked.get("unit_diagonal", False)
                job = EvaluateJob(sample, **error, unit_diagonal=unit_diagonal, device=device)
                yield Wanted(job, *labels, s=s)
            for label, learner in self.learners.items():
                streams = streams_features(learner) and bool(stream_above)
                where = device_of(learner, device)
                train = TrainJob(sample, learner, where, stream_above if streams else None)
                yield Wanted(train, *labels, learner=label, s=s)

    def cost(self) -> Iterator[Wanted]:
        """Yield the measurements of seconds and memory of the methods so far, if the study asks for them."""
        if not self.grid.get("cost", False):
            return
        for columns, block in self.blocks.items():
            specs = {identity(spec): spec for _, spec, _ in block}
            seeds = (0, self.demand.repetitions)
            job = CostJob(self.data, self.kernel_spec, tuple(specs.values()), columns, seeds)
            for method, spec, s in block:
                labels = (self.demand, self.dataset, self.kernel, method)
                yield Wanted(job, *labels, s=s, method_id=identity(spec))


class Unsupported(Exception):
    """A method does not apply to a kernel."""


def _learner(label: str, asked: Spec, given: dict[str, str]) -> Spec:
    """Return the specification of a learner in its normal form, after a trial construction."""
    with within(f"learner {label!r}"):
        spec = _without(asked, "task", "exact")
        _refuse_given(spec, given | (_OF_STREAMING if is_streaming(spec) else {}))
        build("learner", _without(spec, *LEARNER_TREATMENTS))
        return normalised("learner", spec)


def _refuse_given(spec: Spec, given: Mapping[str, str]) -> None:
    """Raise ValueError if a specification has a parameter that the study gives."""
    for key in spec:
        if key in given:
            raise ValueError(
                f"{spec['type']} gets {key} from the study ({given[key]}). Remove the key {key!r}."
            )


def _without(spec: Spec, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}
