"""What to run: from the configuration and the study files to units, blocks and the files of every step.

A cell is (data, kernel, method, n_components, seed). A unit is (data, kernel, method); a block is a named set of
n_components and seeds of a unit, run in one job. Identities come from what a thing is, not from what a study
calls it, so studies share cells. A study's plan has one block for each set of n_components, with all its seeds;
``divided`` cuts it into jobs. Everything here is pure: no file is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from rflib.datasets.load import check_preprocess
from rflib.datasets.registry import describe
from rflib.experiment.blame import within
from rflib.experiment.names import (
    LEARNER_TREATMENTS,
    LONGEST,
    build,
    build_kernel,
    build_map,
    identity,
    module_of,
    normalised,
    shorten,
)
from rflib.experiment.seeds import Demand
from rflib.measures.construct import CONSTRUCTIONS, construction_of
from rflib.validation import hint

Mappings = Mapping[str, Any]
Seeds = tuple[int, int]

SEED_BLOCK = 10
ROWS = 1000
FULL_REPETITIONS = 20
SMOKE_REPETITIONS = 2
SMOKE_ROWS = 300
SMOKE_COLUMNS = 2048
LIMITS = ("max_train", "max_test")
RESTRICTED = ("datasets", "kernels", "methods", "learners")


@dataclass(frozen=True)
class Data:
    """A data set with its preprocessing: its name in the study, and its folder among the prepared data."""

    id: str
    dataset: str
    folder: str
    spec: Mappings = field(compare=False)
    preprocess: str = "raw"
    max_train: int | None = None
    max_test: int | None = None


def _seeds_text(first: int, stop: int) -> str:
    """Return a range of seeds as the end of a file's name."""
    return f"-r{first}_{stop}"


@dataclass(frozen=True)
class Block:
    """Numbers of columns and seeds of one job."""

    n_components: tuple[int, ...]
    first_seed: int
    stop_seed: int

    @property
    def name(self) -> str:
        """Readable identity, safe as a file name; the seeds stand in it as they are."""
        seeds = _seeds_text(self.first_seed, self.stop_seed)
        return shorten("_".join(map(str, self.n_components)), LONGEST - len(seeds)) + seeds


@dataclass(frozen=True)
class Unit:
    """A method for a kernel on some data."""

    data: Data
    kernel: str
    method: str
    kernel_spec: Mappings = field(compare=False)
    method_spec: Mappings = field(compare=False)

    @property
    def path(self) -> str:
        """Folder of the unit below that of a step."""
        return f"{self.data.id}/{self.kernel}/{self.method}"

    @cached_property
    def measure(self) -> Mappings | None:
        """The construction that the spectra step computes for the unit; None for closed forms."""
        return _construction(self.feature_map)

    @property
    def measure_id(self) -> str:
        """Identity of the construction, which other methods may share."""
        return identity(self.measure or {})

    @cached_property
    def feature_map(self) -> Any:
        """The unfitted map."""
        return build_map(self.method_spec, build_kernel(self.kernel_spec))

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules that define the kernel, the measure and the method."""
        names = [module_of("kernel", self.kernel_spec["type"])]
        feature_map: Any = self.feature_map
        spec: Any = self.method_spec
        while spec is not None:
            names.append(module_of("method", spec["type"]))
            if measure := _construction(feature_map):
                names += ["rflib.measures.store", f"rflib.measures.{measure['type']}"]
            feature_map, spec = getattr(feature_map, "base", None), spec.get("base")
        return tuple(names)


def _construction(feature_map: Any) -> Mappings | None:
    """Return the construction that a map's ``measure`` asks for, as a mapping; None for closed forms."""
    asked = feature_map.get_params(deep=False).get("measure")
    if not isinstance(asked, str | Mapping):
        return None
    construction = construction_of(asked, feature_map.kernel)
    return construction if construction["type"] in CONSTRUCTIONS else None


@dataclass(frozen=True)
class Error:
    """How K_hat is compared with K: on how many rows, with its diagonal set to 1, and by eigenvalues too."""

    rows: int
    unit_diagonal: bool
    eigenvalues: bool
    degrees: bool

    @property
    def id(self) -> str:
        """Readable identity."""
        flags = ("unit_diagonal", "eigenvalues", "degrees")
        return "-".join([f"rows={self.rows}", *(flag for flag in flags if getattr(self, flag))])


@dataclass(frozen=True)
class Score:
    """A learner to train on the cells of a block."""

    id: str
    spec: Mappings = field(compare=False)


@dataclass(frozen=True)
class Entry:
    """A study's use of one block: its labels, and the study's s of each number of columns."""

    unit: Unit
    block: Block
    demand: Demand
    kernel_label: str
    method_label: str
    s: tuple[tuple[str, float, int], ...]
    error: Error | None
    scores: tuple[tuple[str, Score], ...]

    @property
    def stored(self) -> str:
        """File below the results that holds the block."""
        return f"features/{self.unit.path}/{self.block.name}.npz"

    def with_seeds(self, first: int, stop: int) -> Entry:
        """Return the entry with a block of other seeds."""
        return replace(self, block=Block(self.block.n_components, first, stop))


@dataclass(frozen=True)
class ExactEntry:
    """A study's use of an exact-kernel learner."""

    data: Data
    kernel: str
    kernel_label: str
    learner_label: str
    score: Score
    seeds: tuple[int, int]
    demand: Demand
    kernel_spec: Mappings = field(compare=False)

    @property
    def path(self) -> str:
        """File below that of the step, without suffix."""
        return f"{self.data.id}/{self.kernel}/{self.score.id}{_seeds_text(*self.seeds)}"

    @property
    def stored(self) -> str:
        """File below the results that holds the scores."""
        return f"exact/{self.path}.parquet"

    def with_seeds(self, first: int, stop: int) -> ExactEntry:
        """Return the entry with other seeds."""
        return replace(self, seeds=(first, stop))


@dataclass(frozen=True)
class StudyPlan:
    """All that one study needs."""

    name: str
    study: Mappings
    entries: tuple[Entry, ...]
    exact: tuple[ExactEntry, ...]
    skipped: tuple[tuple[str, str, str], ...]

    @property
    def wanted(self) -> tuple[Entry | ExactEntry, ...]:
        """All entries."""
        return (*self.entries, *self.exact)

    def divided(self, seeds_of: Callable[[Entry | ExactEntry], Iterable[Seeds]]) -> StudyPlan:
        """Return the plan with its entries cut into jobs, each of a range (first, stop) of seeds."""
        entries = (entry.with_seeds(*seeds) for entry in self.entries for seeds in seeds_of(entry))
        exact = (entry.with_seeds(*seeds) for entry in self.exact for seeds in seeds_of(entry))
        return replace(self, entries=tuple(entries), exact=tuple(exact))

    def files(self, results: str) -> list[str]:
        """Every file of results that the study's table of cells is made of."""
        names = {
            f"{results}/errors/{e.unit.path}/{e.block.name}/{e.error.id}.parquet"
            for e in self.entries
            if e.error
        }
        names |= {
            f"{results}/scores/{e.unit.path}/{e.block.name}/{score.id}.parquet"
            for e in self.entries
            for _, score in e.scores
        }
        names |= {f"{results}/exact/{e.path}.parquet" for e in self.exact}
        return sorted(names)


def plan_study(name: str, study: Mappings, settings: Mappings) -> StudyPlan:
    """Plan one (validated) study: what it wants of which cells, not yet cut into jobs (`StudyPlan.divided`).

    Parameters
    ----------
    name : str
        Name of the study.
    study : mapping
        Content of the study file.
    settings : mapping
        ``preset``, ``repetitions`` and ``seed_block`` of the configuration; None leaves the study's own.
        ``absent``: names of data sets whose files are not to be had; where optional, they are left out.
        ``folders``: for the data sets that are files of the user, their folders among the prepared data.

    Raises
    ------
    ValueError
        For anything unknown or out of range; the message names the entry.
    """
    _check_labels(study)
    study = _scaled(study, settings.get("preset", "paper"))
    absent = set(settings.get("absent", ()))
    parts = [_plan_grid(grid, settings, absent) for grid in _grids(study)]
    entries, exact, skipped = (tuple(dict.fromkeys(chain(*column))) for column in zip(*parts, strict=True))
    return StudyPlan(name, study, entries, exact, skipped)


def folders_of(names: Iterable[str], ids: Iterable[str]) -> dict[str, str]:
    """Return the folders among the prepared data, by name of the data set, from the identities of data."""
    return {name: identity.split(".")[0] for name, identity in zip(names, ids, strict=True)}


def _grids(study: Mappings) -> Iterator[Mappings]:
    """Yield the study as each of its grids restricts and changes it; itself if it has none."""
    for grid in study.get("grids", [{}]):
        changed = {key: value for key, value in grid.items() if key not in RESTRICTED}
        datasets = [d for d in study["datasets"] if d["name"] in grid.get("datasets", [d["name"]])]
        labelled = {
            role: {
                label: spec for label, spec in study.get(role, {}).items() if label in grid.get(role, [label])
            }
            for role in RESTRICTED[1:]
        }
        yield {**study, **changed, "datasets": datasets, **labelled}


def _plan_grid(
    study: Mappings, settings: Mappings, absent: Set[str]
) -> tuple[list[Entry], list[ExactEntry], list[tuple[str, str, str]]]:
    """Plan one grid: what to run for features and for exact kernels, and the methods that were skipped."""
    demand = Demand(
        settings.get("repetitions") or study["repetitions"],
        settings.get("seed_block") or study.get("seed_block", SEED_BLOCK),
    )
    entries: list[Entry] = []
    exact: list[ExactEntry] = []
    skipped: list[tuple[str, str, str]] = []
    for dataset, (kernel_label, kernel) in product(study["datasets"], study["kernels"].items()):
        if dataset["name"] not in kernel.get("datasets", [dataset["name"]]):
            continue
        if dataset.get("optional") and dataset["name"] in absent:
            continue
        data, task, columns, varies = _data(dataset, kernel, settings.get("folders", {}))
        learners = {
            label: spec for label, spec in study.get("learners", {}).items() if spec.get("task", task) == task
        }
        scores = tuple((label, _score(label, spec)) for label, spec in learners.items())
        with within(f"kernel {kernel_label!r}"):
            kernel_object = build_kernel(_without(kernel, "datasets", "methods", "preprocess"))
            kernel_spec = normalised("kernel", _without(kernel, "datasets", "methods", "preprocess"))
            kernel_id = identity(kernel_spec)
        for label, spec in learners.items():
            if "exact" in spec:
                score = _score(f"{label}, exact", spec["exact"])
                wanted = demand if varies else Demand(1, 1)
                seeds = (0, wanted.repetitions)
                exact.append(
                    ExactEntry(data, kernel_id, kernel_label, label, score, seeds, wanted, kernel_spec)
                )
        for method_label, method in study["methods"].items():
            if method_label not in kernel.get("methods", [method_label]):
                continue
            if kernel_label not in method.get("kernels", [kernel_label]):
                continue
            with within(f"method {method_label!r}"):
                method_spec = _without(method, "kernels", "unit_diagonal")
                reason = build_map(method_spec, kernel_object).unsupported(kernel_object)
                if reason and "kernels" in method:
                    raise ValueError(reason)
                method_spec = normalised("method", method_spec)
            if reason:
                skipped.append((kernel_label, method_label, reason))
                continue
            unit = Unit(data, kernel_id, identity(method_spec), kernel_spec, method_spec)
            about = study.get("kernel_error", {})
            error = None
            if about is not None:
                asked = (about.get(key, False) for key in ("eigenvalues", "degrees"))
                flags = (method.get("unit_diagonal", False), *asked)
                error = Error(about.get("rows", ROWS), *flags)
            groups = list(_groups(study["s"], columns))
            for n_components, of_s in _blocks(groups, unit, study):
                block = Block(n_components, 0, demand.repetitions)
                entries.append(Entry(unit, block, demand, kernel_label, method_label, of_s, error, scores))
    return entries, exact, skipped


def _check_labels(study: Mappings) -> None:
    """Raise ValueError if a restriction names a data set, kernel or method that the study does not have."""
    known = {role: set(study.get(role, {})) for role in RESTRICTED[1:]}
    known["datasets"] = {dataset["name"] for dataset in study["datasets"]}
    restricting = [
        *((f"kernel {label!r}", spec, ("methods", "datasets")) for label, spec in study["kernels"].items()),
        *((f"method {label!r}", spec, ("kernels",)) for label, spec in study["methods"].items()),
        *((f"grids[{i}]", grid, RESTRICTED) for i, grid in enumerate(study.get("grids", []))),
    ]
    for place, spec, roles in restricting:
        for role in roles:
            for word in spec.get(role, []):
                if word not in known[role]:
                    raise ValueError(
                        f"{place}: {role} names {word!r}, which the study does not "
                        f"have.{hint(word, known[role])} It has {', '.join(sorted(known[role]))}."
                    )


def _scaled(study: Mappings, preset: str) -> Mappings:
    """Return the study in the size of a preset."""
    if preset == "full":
        grids = [
            {**grid, "repetitions": max(grid.get("repetitions", study["repetitions"]), FULL_REPETITIONS)}
            for grid in study.get("grids", [{}])
        ]
        return {**study, "grids": grids}
    if preset == "smoke":
        small = [
            {**dataset, **{key: min(SMOKE_ROWS, dataset.get(key, SMOKE_ROWS)) for key in LIMITS}}
            for dataset in study["datasets"]
        ]
        size = {"repetitions": SMOKE_REPETITIONS, "seed_block": SMOKE_REPETITIONS}
        grids = [
            {**grid, **size, "s": _one_block(grid.get("s", study["s"])), "max_columns": SMOKE_COLUMNS}
            for grid in study.get("grids", [{}])
        ]
        return {**study, "datasets": small, "grids": grids}
    return study


def _one_block(grid: Sequence[Any]) -> list[list[Any]]:
    """Join the blocks of s values to one: where cells are small, the start of a job costs more than they do."""
    return [[value for item in grid for value in (item if isinstance(item, list) else [item])]]


def _blocks(
    groups: Sequence[Sequence[tuple[str, float]]],
    unit: Unit,
    study: Mappings,
) -> Iterator[tuple[tuple[int, ...], tuple[tuple[str, float, int], ...]]]:
    """Numbers of columns of the groups of s values, with (label, s, columns); both budgets if the study asks.

    Of values that lead to more than ``max_columns`` only the smallest is kept, where no other is left.
    """
    budget = study.get("budget", "columns")
    factors = []
    if budget in ("paper", "both"):
        factors.append(unit.feature_map.columns_per_s)
    if budget in ("columns", "both") and 4 not in factors:
        factors.append(4)
    if budget == "n_components":
        factors.append(1)
    for factor in factors:
        columns_of = [[(label, s, max(1, round(factor * s))) for label, s in group] for group in groups]
        limit = max(study.get("max_columns", math.inf), min(n for group in columns_of for _, _, n in group))
        for group in columns_of:
            of_s = tuple(value for value in group if value[2] <= limit)
            if of_s:
                yield tuple(sorted({n for _, _, n in of_s})), of_s


def _groups(grid: Sequence[Any], d: int | None) -> Iterator[list[tuple[str, float]]]:
    for item in grid:
        values = item if isinstance(item, list) else [item]
        yield [(str(value), _s_value(value, d)) for value in values]


def _s_value(value: Any, d: int | None) -> float:
    """Return s: a number, or an expression such as d/2, d or 8d in the number of input columns."""
    if isinstance(value, int):
        return value
    match = re.fullmatch(r"(\d*)d(?:/(\d+))?", value)
    if not match:
        raise ValueError(f"s must be a positive integer or like d/2, d, 8d, got {value!r}.")
    if d is None:
        raise ValueError(f"s = {value!r} needs the number of input columns; give the data set's ``columns``.")
    return int(match[1] or 1) * d / int(match[2] or 1)


def _data(
    dataset: Mappings, kernel: Mappings, folders: Mapping[str, str]
) -> tuple[Data, str, int | None, bool]:
    """Return the data as a kernel gets them, the task, the number of input columns (None if not known).

    And whether repetitions have other rows: not where the split is given and no limit draws some of them.
    """
    preprocess = kernel.get("preprocess", dataset.get("preprocess", "raw"))
    with within(f"data set {dataset['name']!r}"):
        about = dataset if "file" in dataset else describe(dataset["name"])
        check_preprocess(preprocess)
    folder = folders.get(dataset["name"], dataset["name"])
    limits = {k: dataset[k] for k in LIMITS if k in dataset}
    words = [
        folder,
        *([preprocess] if preprocess != "raw" else []),
        *(f"{k}={v}" for k, v in limits.items()),
    ]
    data = Data(shorten(".".join(words)), dataset["name"], folder, dataset, preprocess, **limits)
    given = about.get("split") == "given" or "test_file" in about
    return data, about["task"], about.get("columns"), bool(limits) or not given


def _score(label: str, spec: Mappings) -> Score:
    with within(f"learner {label!r}"):
        wanted = _without(spec, "task", "exact")
        build("learner", _without(wanted, *LEARNER_TREATMENTS))
        wanted = normalised("learner", wanted)
        return Score(identity(wanted), wanted)


def _without(spec: Mappings, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}
