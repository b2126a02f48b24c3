"""What to run: from the configuration and the study files to units, blocks and the files of every step.

A cell is (data, kernel, method, n_components, seed). A unit is (data, kernel, method); a block is a named set of
n_components and seeds of a unit, run in one job. Identities come from what a thing is, not from what a study
calls it, so studies share cells; blocks come from the study's grid, so a new s or more repetitions add blocks and
change none. Everything here is pure: no file but the study files is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rflib.datasets.registry import describe
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.names import (
    build,
    build_kernel,
    build_map,
    identity,
    module_of,
    shorten,
)
from rflib.measures.construct import CONSTRUCTIONS

Mappings = Mapping[str, Any]

FULL_REPETITIONS = 20
SMOKE_REPETITIONS = 2
SMOKE_ROWS = 300


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
    unit_diagonal: bool = field(default=False, compare=False)

    @property
    def path(self) -> str:
        """Folder of the unit below that of a step."""
        return f"{self.data.id}/{self.kernel}/{self.method}"

    @cached_property
    def measure(self) -> str | None:
        """Name of the construction that the spectra step computes for the unit; None for closed forms."""
        asked = self.method_spec.get("measure", getattr(self.feature_map, "measure", None))
        name = asked.get("type") if isinstance(asked, Mapping) else asked
        if "measure" not in self.feature_map.get_params() or name == "exact":
            return None
        return name

    @cached_property
    def measure_id(self) -> str:
        """Identity of the construction, which other methods may share."""
        asked = self.method_spec.get("measure", getattr(self.feature_map, "measure", None))
        if isinstance(asked, Mapping):
            return shorten(
                "-".join([asked["type"], *(f"{k}={v}" for k, v in sorted(asked.items()) if k != "type")])
            )
        return str(asked)

    @cached_property
    def feature_map(self) -> Any:
        """The unfitted map."""
        return build_map(self.method_spec, build_kernel(self.kernel_spec))

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules that define the kernel, the measure and the method."""
        names = [module_of("kernel", self.kernel_spec["type"])]
        spec: Any = self.method_spec
        while isinstance(spec, Mapping):
            names.append(module_of("method", spec["type"]))
            spec = spec.get("base")
        if self.measure:
            name = "minimum_variance" if self.measure == "auto" else self.measure
            names += [f"rflib.measures.{name}"] if name in CONSTRUCTIONS else []
        return tuple(names)


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
        names = {f"{results}/errors/{e.unit.path}/{e.block.name}.parquet" for e in self.entries}
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
        ``repetitions``, ``seed_block`` and ``scale`` of the configuration; None leaves the study's own.

    Raises
    ------
    ValueError
        For anything unknown or out of range; the message names the study and the entry.
    """
    study = _scaled(study, settings.get("preset", "paper"))
    repetitions = settings.get("repetitions") or study["repetitions"]
    seed_block = settings.get("seed_block") or study.get("seed_block", repetitions)
    seeds = [(a, min(a + seed_block, repetitions)) for a in range(0, repetitions, seed_block)]
    entries: list[Entry] = []
    exact: list[ExactEntry] = []
    skipped: list[tuple[str, str, str]] = []
    for dataset in study["datasets"]:
        data, task, columns = _data(name, dataset)
        learners = {
            label: spec for label, spec in study.get("learners", {}).items() if spec.get("task", task) == task
        }
        scores = tuple((label, _score(name, label, spec)) for label, spec in learners.items())
        for kernel_label, kernel in study["kernels"].items():
            with _context(f"study {name!r}, kernel {kernel_label!r}"):
                kernel_spec = _without(kernel, "datasets", "methods")
                kernel_id = identity("kernel", kernel_spec)
                kernel_object = build_kernel(kernel_spec)
            if dataset["name"] not in kernel.get("datasets", [dataset["name"]]):
                continue
            for label, spec in learners.items():
                if "exact" in spec:
                    score = _score(name, f"{label}, exact", spec["exact"])
                    exact += [
                        ExactEntry(data, kernel_id, kernel_label, label, score, seed, kernel_spec)
                        for seed in seeds
                    ]
            for method_label, method in study["methods"].items():
                if method_label not in kernel.get("methods", [method_label]):
                    continue
                if kernel_label not in method.get("kernels", [kernel_label]):
                    continue
                with _context(f"study {name!r}, method {method_label!r}"):
                    method_spec = _without(method, "kernels", "unit_diagonal")
                    unit = Unit(
                        data,
                        kernel_id,
                        identity("method", method_spec)
                        + ("-diagonal" if method.get("unit_diagonal") else ""),
                        kernel_spec,
                        method_spec,
                        bool(method.get("unit_diagonal", False)),
                    )
                    reason = unit.feature_map.unsupported(kernel_object)
                if reason:
                    skipped.append((kernel_label, method_label, reason))
                    continue
                for group in _groups(name, study["s"], columns):
                    for block, of_s in _blocks(group, unit, study, seeds):
                        entries.append(Entry(unit, block, kernel_label, method_label, of_s, scores))
    return StudyPlan(name, study, tuple(entries), tuple(exact), tuple(dict.fromkeys(skipped)))


def _scaled(study: Mappings, preset: str) -> Mappings:
    """Return the study in the size of a preset."""
    if preset == "full":
        return {**study, "repetitions": max(study["repetitions"], FULL_REPETITIONS)}
    if preset == "smoke":
        small = [
            {**dataset, "max_train": SMOKE_ROWS, "max_test": SMOKE_ROWS} for dataset in study["datasets"]
        ]
        return {**study, "datasets": small, "repetitions": SMOKE_REPETITIONS, "seed_block": SMOKE_REPETITIONS}
    return study


def _blocks(
    group: Sequence[tuple[str, float]], unit: Unit, study: Mappings, seeds: Sequence[tuple[int, int]]
) -> Iterator[tuple[Block, tuple[tuple[str, float, int], ...]]]:
    """Blocks of one group of s values, with (label, s, columns) of each; both budgets if the study asks."""
    budget = study.get("budget", "columns")
    factors = []
    if budget in ("paper", "both"):
        factors.append(unit.feature_map.columns_per_s)
    if budget in ("columns", "both") and 4 not in factors:
        factors.append(4)
    for factor in factors:
        of_s = tuple((label, s, max(1, round(factor * s))) for label, s in group)
        columns = tuple(sorted({n for _, _, n in of_s}))
        for first, stop in seeds:
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


def _data(name: str, dataset: Mappings) -> tuple[Data, str, int | None]:
    """Return the data, the task and the number of input columns (None if not known)."""
    with _context(f"study {name!r}, data set {dataset['name']!r}"):
        about = dataset if "file" in dataset else describe(dataset["name"])
    preprocess = dataset.get("preprocess", "raw")
    limits = {k: dataset[k] for k in ("max_train", "max_test") if k in dataset}
    words = [
        dataset["name"],
        *([preprocess] if preprocess != "raw" else []),
        *(f"{k}={v}" for k, v in limits.items()),
    ]
    data = Data(shorten(".".join(words)), dataset["name"], dataset, preprocess, **limits)
    return data, about["task"], about.get("columns")


def _score(name: str, label: str, spec: Mappings) -> Score:
    with _context(f"study {name!r}, learner {label!r}"):
        wanted = _without(spec, "task", "exact")
        build("learner", _without(wanted, "signed"))
        return Score(identity("learner", wanted), wanted)


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


def code(step: str, *modules: str) -> str:
    """Return the fingerprint of a step's module together with the modules that decide its result."""
    return fingerprint(f"rflib.experiment.{step}", *modules)
