"""What to run: from the configuration and the study files to units, blocks and the files of every step.

A cell is (data, kernel, method, n_components, seed). A unit is (data, kernel, method); a block is a named set of
n_components and seeds of a unit, run in one job. Identities come from what a thing is, not from what a study
calls it, so studies share cells; blocks come from the study's grid, so a new s or more repetitions add blocks and
change none. Everything here is pure: no file but the study files is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from typing import Any

from rflib.datasets.registry import describe
from rflib.experiment.names import (
    LEARNER_TREATMENTS,
    build,
    build_kernel,
    build_map,
    hint,
    identity,
    module_of,
    normalised,
    shorten,
)
from rflib.measures.construct import CONSTRUCTIONS, resolved

Mappings = Mapping[str, Any]

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
    """A data set with its preprocessing."""

    id: str
    dataset: str
    spec: Mappings = field(compare=False)
    preprocess: str = "raw"
    max_train: int | None = None
    max_test: int | None = None


@dataclass(frozen=True)
class Block:
    """Numbers of columns and seeds of one job."""

    n_components: tuple[int, ...]
    first_seed: int
    stop_seed: int

    @property
    def name(self) -> str:
        """Readable identity, safe as a file name."""
        columns = "_".join(map(str, self.n_components))
        return shorten(f"{columns}-r{self.first_seed}_{self.stop_seed}")


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
    construction = resolved(asked, feature_map.kernel)
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
    kernel_label: str
    method_label: str
    s: tuple[tuple[str, float, int], ...]
    error: Error | None
    scores: tuple[tuple[str, Score], ...]


@dataclass(frozen=True)
class ExactEntry:
    """A study's use of an exact-kernel learner."""

    data: Data
    kernel: str
    kernel_label: str
    learner_label: str
    score: Score
    seeds: tuple[int, int]
    kernel_spec: Mappings = field(compare=False)

    @property
    def path(self) -> str:
        """File below that of the step, without suffix."""
        return f"{self.data.id}/{self.kernel}/{self.score.id}-r{self.seeds[0]}_{self.seeds[1]}"


@dataclass(frozen=True)
class StudyPlan:
    """All that one study needs."""

    name: str
    study: Mappings
    entries: tuple[Entry, ...]
    exact: tuple[ExactEntry, ...]
    skipped: tuple[tuple[str, str, str], ...]

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
    """Plan one (validated) study.

    Parameters
    ----------
    name : str
        Name of the study, for messages.
    study : mapping
        Content of the study file.
    settings : mapping
        ``preset``, ``repetitions`` and ``seed_block`` of the configuration; None leaves the study's own.
        ``absent``: names of data sets whose files are not to be had; where optional, they are left out.

    Raises
    ------
    ValueError
        For anything unknown or out of range; the message names the study and the entry.
    """
    _check_labels(name, study)
    study = _scaled(study, settings.get("preset", "paper"))
    absent = set(settings.get("absent", ()))
    parts = [_plan_grid(name, grid, settings, absent) for grid in _grids(study)]
    entries, exact, skipped = (tuple(dict.fromkeys(chain(*column))) for column in zip(*parts, strict=True))
    return StudyPlan(name, study, entries, exact, skipped)


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
    name: str, study: Mappings, settings: Mappings, absent: Set[str]
) -> tuple[list[Entry], list[ExactEntry], list[tuple[str, str, str]]]:
    """Plan one grid: what to run for features and for exact kernels, and the methods that were skipped."""
    repetitions = settings.get("repetitions") or study["repetitions"]
    seed_block = settings.get("seed_block") or study.get("seed_block", SEED_BLOCK)
    seeds = [(a, min(a + seed_block, repetitions)) for a in range(0, repetitions, seed_block)]
    entries: list[Entry] = []
    exact: list[ExactEntry] = []
    skipped: list[tuple[str, str, str]] = []
    for dataset, (kernel_label, kernel) in product(study["datasets"], study["kernels"].items()):
        if dataset["name"] not in kernel.get("datasets", [dataset["name"]]):
            continue
        if dataset.get("optional") and dataset["name"] in absent:
            continue
        data, task, columns, varies = _data(name, dataset, kernel)
        learners = {
            label: spec for label, spec in study.get("learners", {}).items() if spec.get("task", task) == task
        }
        scores = tuple((label, _score(name, label, spec)) for label, spec in learners.items())
        with _context(f"study {name!r}, kernel {kernel_label!r}"):
            kernel_object = build_kernel(_without(kernel, "datasets", "methods", "preprocess"))
            kernel_spec = normalised("kernel", _without(kernel, "datasets", "methods", "preprocess"))
            kernel_id = identity(kernel_spec)
        for label, spec in learners.items():
            if "exact" in spec:
                score = _score(name, f"{label}, exact", spec["exact"])
                exact += [
                    ExactEntry(data, kernel_id, kernel_label, label, score, seed, kernel_spec)
                    for seed in (seeds if varies else [(0, 1)])
                ]
        for method_label, method in study["methods"].items():
            if method_label not in kernel.get("methods", [method_label]):
                continue
            if kernel_label not in method.get("kernels", [kernel_label]):
                continue
            with _context(f"study {name!r}, method {method_label!r}"):
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
            groups = list(_groups(name, study["s"], columns))
            for block, of_s in _blocks(groups, unit, study, seeds):
                entries.append(Entry(unit, block, kernel_label, method_label, of_s, error, scores))
    return entries, exact, skipped


def _check_labels(name: str, study: Mappings) -> None:
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
                        f"study {name!r}, {place}: {role} names {word!r}, which the study does not "
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
    seeds: Sequence[tuple[int, int]],
) -> Iterator[tuple[Block, tuple[tuple[str, float, int], ...]]]:
    """Blocks of the groups of s values, with (label, s, columns) of each; both budgets if the study asks.

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
            columns = tuple(sorted({n for _, _, n in of_s}))
            for first, stop in seeds if columns else ():
                yield Block(columns, first, stop), of_s


def _groups(name: str, grid: Sequence[Any], d: int | None) -> Iterator[list[tuple[str, float]]]:
    for item in grid:
        values = item if isinstance(item, list) else [item]
        yield [(str(value), _s_value(name, value, d)) for value in values]


def _s_value(name: str, value: Any, d: int | None) -> float:
    """Return s: a number, or an expression such as d/2, d or 8d in the number of input columns."""
    if isinstance(value, int):
        return value
    match = re.fullmatch(r"(\d*)d(?:/(\d+))?", value)
    if not match:
        raise ValueError(f"study {name!r}: s must be a positive integer or like d/2, d, 8d, got {value!r}.")
    if d is None:
        raise ValueError(
            f"study {name!r}: s = {value!r} needs the number of input columns; give the data set's ``columns``."
        )
    return int(match[1] or 1) * d / int(match[2] or 1)


def _data(name: str, dataset: Mappings, kernel: Mappings) -> tuple[Data, str, int | None, bool]:
    """Return the data as a kernel gets them, the task, the number of input columns (None if not known).

    And whether repetitions have other rows: not where the split is given and no limit draws some of them.
    """
    with _context(f"study {name!r}, data set {dataset['name']!r}"):
        about = dataset if "file" in dataset else describe(dataset["name"])
    preprocess = kernel.get("preprocess", dataset.get("preprocess", "raw"))
    limits = {k: dataset[k] for k in LIMITS if k in dataset}
    words = [
        dataset["name"],
        *([preprocess] if preprocess != "raw" else []),
        *(f"{k}={v}" for k, v in limits.items()),
    ]
    data = Data(shorten(".".join(words)), dataset["name"], dataset, preprocess, **limits)
    given = about.get("split") == "given" or "test_file" in about
    return data, about["task"], about.get("columns"), bool(limits) or not given


def _score(name: str, label: str, spec: Mappings) -> Score:
    with _context(f"study {name!r}, learner {label!r}"):
        wanted = _without(spec, "task", "exact")
        build("learner", _without(wanted, *LEARNER_TREATMENTS))
        wanted = normalised("learner", wanted)
        return Score(identity(wanted), wanted)


def _without(spec: Mappings, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}


class _context:
    """Prefix the message of a ValueError with the place that it is about."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, ValueError):
            raise ValueError(f"{self.place}: {error}") from error
