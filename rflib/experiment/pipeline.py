"""What the Snakefile asks: the checked configuration, the plans of all studies, and each rule's parameters.

Parameters are canonical JSON text of just the slice that a job needs, so that a change elsewhere in a study
reruns nothing.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rflib.datasets.fetch import held
from rflib.datasets.registry import entry_of
from rflib.experiment.fingerprint import fingerprint, fingerprint_of_definitions
from rflib.experiment.names import canonical, hint, module_of
from rflib.experiment.plan import Data, Error, ExactEntry, Score, StudyPlan, Unit, plan_study
from rflib.experiment.studies import check, load_study

UNKNOWN_ROWS = 20_000


class Pipeline:
    """Configuration and plans, looked up by the wildcards of the rules.

    Parameters
    ----------
    config : mapping
        Content of config.yaml with the command line's changes.
    base : Path
        Folder of the Snakefile.
    extra_mirrors : str
        Mirrors that come first, separated like a search path (``RFLIB_MIRRORS``).

    Raises
    ------
    ValueError
        For anything wrong in the configuration or a study.
    """

    def __init__(self, config: Mapping[str, Any], base: Path, extra_mirrors: str = "") -> None:
        check(dict(config), "config", "config.yaml")
        self.config = config
        self.base = base
        self.results = config["results"].rstrip("/")
        self.raw = config["data"]["raw"]
        self.mirrors = [m for m in extra_mirrors.split(os.pathsep) if m] + list(config["data"]["mirrors"])
        self.study_folder = base / "workflow/studies"
        self.study_files = {path.stem: path for path in sorted(self.study_folder.glob("*.yaml"))}

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What decides the plans besides the study files: sizes, and the optional data sets that are not held."""
        sizes = {key: self.config[key] for key in ("preset", "repetitions", "seed_block")}
        return {**sizes, "absent": sorted(name for name in self._optional if not self._held(name))}

    def _held(self, dataset: str) -> bool:
        """Whether a data set is prepared, or can be without the network."""
        prepared = Path(self.results) / "data" / dataset / "meta.json"
        return prepared.exists() or held(dataset, self.raw, self.mirrors)

    @cached_property
    def _optional(self) -> set[str]:
        return {d["name"] for study in self._loaded.values() for d in study["datasets"] if d.get("optional")}

    @cached_property
    def _loaded(self) -> dict[str, Mapping[str, Any]]:
        return {name: load_study(path) for name, path in self.study_files.items()}

    @property
    def settings_text(self) -> str:
        """The settings as text."""
        return canonical(self.settings)

    @cached_property
    def studies(self) -> dict[str, StudyPlan]:
        """The plan of every study file, by name."""
        return {name: plan_study(name, study, self.settings) for name, study in self._loaded.items()}

    def code(self, *modules: str) -> str:
        """Return the fingerprint of modules."""
        return fingerprint(*modules)

    # data

    def has_files(self, dataset: str) -> bool:
        """Whether the data set is one with official files to fetch."""
        return "file" not in self._datasets[dataset] and bool(entry_of(dataset).files)

    @property
    def mirror_options(self) -> str:
        """The options that name the mirrors."""
        return " ".join(f"--mirror {shlex.quote(mirror)}" for mirror in self.mirrors)

    def data_spec(self, dataset: str) -> str:
        """Return the name of a registered data set, or a user's file with its columns as JSON."""
        spec = self._datasets[dataset]
        if "file" not in spec:
            return dataset
        return canonical({k: v for k, v in spec.items() if k not in ("preprocess", "max_train", "max_test")})

    def data_code(self, dataset: str) -> str:
        """Return what decides a prepared data set besides its files: its entry, and the code that reads it."""
        write = ("rflib.datasets.prepare", "_write")
        if "file" in self._datasets[dataset]:
            return fingerprint_of_definitions(write, ("rflib.datasets.user", "read_user_file"))
        entry = entry_of(dataset)
        code = fingerprint_of_definitions(write, ("rflib.datasets.readers", "READERS", entry.reader))
        sums = [file.sha256 or file.md5 for file in entry.files]
        return canonical([code, entry.task, entry.split, sums])

    def source(self, data: str) -> str:
        """Return the options that tell a step which data to read."""
        found = self._data[data]
        limits = "".join(
            f" --{name.replace('_', '-')} {value}"
            for name in ("max_train", "max_test")
            if (value := getattr(found, name)) is not None
        )
        folder = shlex.quote(f"{self.results}/data/{found.dataset}")
        return (
            f"--data {folder} --preprocess {found.preprocess} --precision {self.config['precision']}{limits}"
        )

    def meta(self, data: str) -> str:
        """Return the file that says that a data set is prepared."""
        return f"{self.results}/data/{self._data[data].dataset}/meta.json"

    # spectra and features

    def kernel(self, kernel: str) -> str:
        """Return the specification of a kernel."""
        return canonical(self._kernels[kernel])

    def measure(self, data: str, kernel: str, measure: str) -> str:
        """Return the specification of a construction."""
        return self._measures[data, kernel, measure][0]

    def measure_code(self, data: str, kernel: str, measure: str) -> str:
        """Return the fingerprint of a construction."""
        return self._measures[data, kernel, measure][1]

    def method(self, wildcards: Any) -> str:
        """Return the specification of a unit's method."""
        return canonical(self._unit(wildcards).method_spec)

    def method_code(self, step: str, wildcards: Any, *modules: str) -> str:
        """Return the fingerprint of a step together with a unit's kernel, measure and method."""
        return fingerprint(f"rflib.experiment.{step}", *self._unit(wildcards).modules, *modules)

    def spectrum(self, wildcards: Any) -> list[str]:
        """Return the file of a unit's measure; none for closed forms."""
        unit = self._unit(wildcards)
        if unit.measure is None:
            return []
        return [f"{self.results}/spectra/{unit.data.id}/{unit.kernel}/{unit.measure_id}.npz"]

    def spectrum_option(self, wildcards: Any) -> str:
        """Return the option that names the file of a unit's measure; empty for closed forms."""
        return "".join(f"--spectrum {shlex.quote(file)}" for file in self.spectrum(wildcards))

    def block(self, wildcards: Any) -> str:
        """Return the options that tell numbers of columns and seeds of a block."""
        block = self._blocks[self._path(wildcards), wildcards.block]
        columns = " ".join(map(str, block.n_components))
        return f"--n-components {columns} --seeds {block.first_seed}:{block.stop_seed}"

    # errors and scores

    def memory(self, wildcards: Any) -> int:
        """Return the megabytes that a learner needs for the largest features of a block, generously.

        16 bytes an entry are liblinear's, 8 each are the features' and those of one copy.
        """
        rows = sum(self._rows(wildcards))
        return (
            1000 + rows * max(self._blocks[self._path(wildcards), wildcards.block].n_components) * 32 // 10**6
        )

    def exact_memory(self, wildcards: Any) -> int:
        """Return the megabytes that a learner with the exact kernel needs, generously.

        Of training rows: the kernel matrix, its making, and the learner's copy; of test rows the first two.
        """
        train, test = self._rows(wildcards)
        return 1000 + (24 * train + 16 * test) * train // 10**6

    def _rows(self, wildcards: Any) -> tuple[int, int]:
        """At most so many rows to train on and to test on; all are training rows where the study sets no limit."""
        data = self._data[wildcards.data]
        rows = UNKNOWN_ROWS if "file" in self._datasets[data.dataset] else entry_of(data.dataset).rows
        train = min(rows, data.max_train or rows)
        return train, min(rows - train, data.max_test or rows)

    def error(self, error: str) -> str:
        """Return the options that tell how the error of kernel matrices is measured."""
        found = self._errors[error]
        flags = {
            "--unit-diagonal": found.unit_diagonal,
            "--eigenvalues": found.eigenvalues,
            "--degrees": found.degrees,
        }
        return " ".join([f"--rows {found.rows}", *(flag for flag, given in flags.items() if given)])

    def learner(self, learner: str) -> str:
        """Return the specification of a learner."""
        return canonical(self._scores[learner].spec)

    def learner_module(self, learner: str) -> str:
        """Return the module of a learner."""
        return module_of("learner", self._scores[learner].spec["type"])

    def exact_seeds(self, wildcards: Any) -> str:
        """Return the option that tells the seeds of a job with the exact kernel."""
        first, stop = self._exact[f"{wildcards.data}/{wildcards.kernel}/{wildcards.job}"].seeds
        return f"--seeds {first}:{stop}"

    def exact_learner(self, wildcards: Any) -> str:
        """Return the specification of the learner of a job with the exact kernel."""
        return canonical(self._exact[f"{wildcards.data}/{wildcards.kernel}/{wildcards.job}"].score.spec)

    def exact_code(self, wildcards: Any) -> str:
        """Return the fingerprint of a job with the exact kernel."""
        entry = self._exact[f"{wildcards.data}/{wildcards.kernel}/{wildcards.job}"]
        return fingerprint(
            "rflib.experiment.exact",
            module_of("kernel", entry.kernel_spec["type"]),
            module_of("learner", entry.score.spec["type"]),
        )

    # reports

    def files(self, study: str) -> list[str]:
        """Return the files of results that a study's table of cells is made of."""
        return self.studies[study].files(self.results)

    def asked(self, words: Sequence[str]) -> list[str]:
        """Return the studies among the words of a command line; all of them if it names none.

        Raises
        ------
        ValueError
            For a word that is almost the name of a study.
        """
        for word in words:
            if word not in self.study_files and (question := hint(word, self.study_files, likeness=0.8)):
                raise ValueError(
                    f"There is no study {word!r}.{question} There are {', '.join(self.study_files)}."
                )
        return [name for name in self.study_files if name in words] or list(self.study_files)

    def texts(self, studies: Iterable[str]) -> str:
        """Return what the report page takes from the study files themselves."""
        return canonical({name: self.studies[name].study for name in studies})

    @cached_property
    def assets(self) -> str:
        """A hash of what the page is made with besides code: its templates and the texts on methods."""
        folder = self.base / "rflib/report"
        files = sorted([*folder.glob("templates/*"), *folder.glob("*.yaml")])
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]

    def published(self, folder: str, study: str, *keys: str) -> list[str]:
        """Return the files of published numbers that these parts of a study name."""
        return [
            f"{folder}/{paper}.csv"
            for paper in sorted(_papers([self.studies[study].study.get(key) for key in keys]))
        ]

    def part(self, study: str, *keys: str) -> str:
        """Return the part of a study file that a table or figure depends on."""
        return canonical({key: self.studies[study].study.get(key) for key in keys})

    # tables for look-up

    def _path(self, wildcards: Any) -> str:
        return f"{wildcards.data}/{wildcards.kernel}/{wildcards.method}"

    def _unit(self, wildcards: Any) -> Unit:
        return self._units[self._path(wildcards)]

    @cached_property
    def _units(self) -> dict[str, Unit]:
        return {e.unit.path: e.unit for plan in self.studies.values() for e in plan.entries}

    @cached_property
    def _blocks(self) -> dict[tuple[str, str], Any]:
        return {(e.unit.path, e.block.name): e.block for plan in self.studies.values() for e in plan.entries}

    @cached_property
    def _errors(self) -> dict[str, Error]:
        return {e.error.id: e.error for plan in self.studies.values() for e in plan.entries if e.error}

    @cached_property
    def _scores(self) -> dict[str, Score]:
        return {s.id: s for plan in self.studies.values() for e in plan.entries for _, s in e.scores}

    @cached_property
    def _exact(self) -> dict[str, ExactEntry]:
        return {e.path: e for plan in self.studies.values() for e in plan.exact}

    @cached_property
    def _kernels(self) -> dict[str, Mapping[str, Any]]:
        units = {unit.kernel: unit.kernel_spec for unit in self._units.values()}
        return units | {e.kernel: e.kernel_spec for e in self._exact.values()}

    @cached_property
    def _data(self) -> dict[str, Data]:
        units = {unit.data.id: unit.data for unit in self._units.values()}
        return units | {e.data.id: e.data for e in self._exact.values()}

    @cached_property
    def _datasets(self) -> dict[str, Mapping[str, Any]]:
        return {data.dataset: data.spec for data in self._data.values()}

    @cached_property
    def _measures(self) -> dict[tuple[str, str, str], tuple[str, str]]:
        found = {}
        for unit in self._units.values():
            if unit.measure is not None:
                code = fingerprint(
                    "rflib.experiment.spectra",
                    module_of("kernel", unit.kernel_spec["type"]),
                    f"rflib.measures.{unit.measure['type']}",
                )
                found[unit.data.id, unit.kernel, unit.measure_id] = (canonical(unit.measure), code)
        return found


def _papers(part: Any) -> set[str]:
    """Every ``paper`` that entries of tables, figures or claims name, however deep."""
    if isinstance(part, Mapping):
        named = {part["paper"]} if "paper" in part else set()
        return named.union(*map(_papers, part.values()))
    return set().union(*map(_papers, part)) if isinstance(part, list) else set()
