"""What the Snakefile asks: the checked configuration, the plans of the studies, and each rule's parameters.

A study that is wrong is set aside with what is wrong (``Pipeline.broken``), and the others are planned.

Parameters are canonical JSON text of just the slice that a job needs, so that a change elsewhere in a study
reruns nothing.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from rflib.datasets.fetch import held
from rflib.datasets.prepare import sources_of
from rflib.datasets.registry import REGISTRY, entry_of
from rflib.experiment.blame import place, within
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.names import canonical, module_of
from rflib.experiment.plan import Data, Error, ExactEntry, Score, StudyPlan, Unit, plan_study
from rflib.experiment.studies import check, load_study
from rflib.validation import hint

UNKNOWN_ROWS = 20_000
SHOWN = {"title", "text", "paper", "tables", "figures", "claims"}
_RENAME = "Give one of them another name."


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
    also_check : callable
        A check of a study beside those of the plan, which raises ValueError: of what the study shows.

    Attributes
    ----------
    broken : dict
        What is wrong with each study that cannot be run, by name; the message names its file.

    Raises
    ------
    ValueError
        For anything wrong in the configuration.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        base: Path,
        extra_mirrors: str = "",
        also_check: Callable[[Mapping[str, Any]], None] = lambda study: None,
    ) -> None:
        check(dict(config), "config", "config.yaml")
        self.config = config
        self.base = base
        self.results = config["results"].rstrip("/")
        self.raw = config["data"]["raw"]
        self.mirrors = [m for m in extra_mirrors.split(os.pathsep) if m] + list(config["data"]["mirrors"])
        self.study_folder = base / "workflow/studies"
        self.study_files = {path.stem: path for path in sorted(self.study_folder.glob("*.yaml"))}

        self.broken: dict[str, str] = {}
        self._loaded = self._each(self.study_files, self._load)
        self._refuse_one_name_for_two()
        plans = self._each(self._loaded, lambda path: self._plan(path, also_check))
        self.studies = {plan.name: plan for plan in divided(list(plans.values()), Path(self.results))}

    def _each(self, studies: Iterable[str], function: Callable[[Path], Any]) -> dict[str, Any]:
        """Return what a function makes of each study's file; where it raises ValueError, the study is broken."""
        found = {}
        for name in studies:
            try:
                found[name] = function(self.study_files[name])
            except ValueError as error:
                self.broken[name] = str(error)
        return found

    def _load(self, path: Path) -> tuple[Mapping[str, Any], dict[str, dict[str, Any]]]:
        """Return a study, and what it says of the user's files, with their digests, by the data sets' names."""
        study = load_study(path)
        found: dict[str, dict[str, Any]] = {}
        for dataset in study["datasets"]:
            name = dataset["name"]
            if "file" not in dataset or (dataset.get("optional") and not self._held(dataset)):
                continue
            from rflib.datasets.user import identified  # with pandas, which takes half a second

            with within(place(path)), within(f"data set {name!r}"):
                if name in REGISTRY:
                    raise ValueError(
                        f"it is the file {dataset['file']}, but the registry (docs/data.md) has another data "
                        "set of that name. Give the file another name."
                    )
                spec = identified(dataset)
                if found.setdefault(name, spec) != spec:
                    raise ValueError(f"the name stands twice, for different data. {_RENAME}")
        return study, found

    def _refuse_one_name_for_two(self) -> None:
        """Take studies that give one name to different data for broken."""
        named: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        for study, (_, users) in self._loaded.items():
            for name, spec in users.items():
                named[name].setdefault(_folder(spec), []).append(study)
        for name, studies_of in named.items():
            if len(studies_of) > 1:
                studies = list(chain.from_iterable(studies_of.values()))
                places = "; ".join(
                    f"{place(self.study_files[s])}: {_said(self._loaded[s][1][name])}" for s in studies
                )
                self.broken |= {
                    study: f"data set {name!r} stands for different data. {_RENAME} {places}"
                    for study in studies
                }
        self._loaded = {name: study for name, study in self._loaded.items() if name not in self.broken}

    def _plan(self, path: Path, also_check: Callable[[Mapping[str, Any]], None]) -> StudyPlan:
        study, _ = self._loaded[path.stem]
        with within(place(path)):
            also_check(study)
            return plan_study(path.stem, study, self.settings)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What decides the plans besides the study files: sizes, the user's data, and what is not held."""
        sizes = {key: self.config[key] for key in ("preset", "repetitions", "seed_block")}
        datasets = [dataset for study, _ in self._loaded.values() for dataset in study["datasets"]]
        absent = sorted({d["name"] for d in datasets if d.get("optional") and not self._held(d)})
        users = {name: _folder(spec) for _, found in self._loaded.values() for name, spec in found.items()}
        return {**sizes, "absent": absent, "folders": users}

    def _held(self, dataset: Mapping[str, Any]) -> bool:
        """Whether a data set is prepared, or can be without the network; unknown ones are left to the plan."""
        name = dataset["name"]
        if "file" in dataset:
            return Path(dataset["file"]).exists()
        if name not in REGISTRY:
            return True
        prepared = Path(self.results) / "data" / name / "meta.json"
        return prepared.exists() or held(name, self.raw, self.mirrors)

    @property
    def settings_text(self) -> str:
        """The settings as text."""
        return canonical(self.settings)

    def settings_of(self, study: str) -> str:
        """Return those settings, as text, that decide the plan of one study."""
        names = {dataset["name"] for dataset in self.studies[study].study["datasets"]}
        absent = [name for name in self.settings["absent"] if name in names]
        folders = {name: folder for name, folder in self.settings["folders"].items() if name in names}
        return canonical({**self.settings, "absent": absent, "folders": folders})

    def about_cells(self, study: str) -> str:
        """Return what a study says, but for what it shows: its table of cells depends on that alone."""
        return canonical({k: v for k, v in self.studies[study].study.items() if k not in SHOWN})

    def code(self, *modules: str) -> str:
        """Return the fingerprint of modules."""
        return fingerprint(*modules)

    # data

    def has_files(self, folder: str) -> bool:
        """Whether a folder of prepared data is of a data set with official files to fetch."""
        return folder in REGISTRY and bool(entry_of(folder).files)

    @property
    def mirror_options(self) -> str:
        """The options that name the mirrors."""
        return " ".join(f"--mirror {shlex.quote(mirror)}" for mirror in self.mirrors)

    def user_files(self, folder: str) -> list[str]:
        """Return the user's files that a folder of prepared data is made of; none for the registry's."""
        spec = self._user_specs.get(folder, {})
        return [spec[key] for key in ("file", "test_file") if key in spec]

    def data_spec(self, folder: str) -> str:
        """Return the name of a registered data set, or what is said of a user's file as JSON."""
        return canonical(self._user_specs[folder]) if folder in self._user_specs else folder

    def data_code(self, folder: str) -> str:
        """Return the fingerprint of what prepares a data set; official files' checksums stand in its entry."""
        return fingerprint(*sources_of(folder))

    def source(self, data: str) -> str:
        """Return the options that tell a step which data to read."""
        found = self._data[data]
        limits = "".join(
            f" --{name.replace('_', '-')} {value}"
            for name in ("max_train", "max_test")
            if (value := getattr(found, name)) is not None
        )
        folder = shlex.quote(f"{self.results}/data/{found.folder}")
        return (
            f"--data {folder} --preprocess {found.preprocess} --precision {self.config['precision']}{limits}"
        )

    def meta(self, data: str) -> str:
        """Return the file that says that a data set is prepared."""
        return f"{self.results}/data/{self._data[data].folder}/meta.json"

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
        rows = entry_of(data.folder).rows if data.folder in REGISTRY else UNKNOWN_ROWS
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
        if study in self.broken:
            raise ValueError(self.broken[study])
        return self.studies[study].files(self.results)

    def asked(self, words: Sequence[str]) -> list[str]:
        """Return the studies among the words of a command line; all of them if it names none.

        Raises
        ------
        ValueError
            For a word that is the name of a broken study, or almost the name of a study; if all are broken.
        """
        if self.broken and not self.studies:
            raise ValueError("\n".join(self.broken.values()))
        for word in words:
            if word in self.broken:
                raise ValueError(self.broken[word])
            if word not in self.study_files and (question := hint(word, self.study_files, likeness=0.8)):
                raise ValueError(
                    f"There is no study {word!r}.{question} There are {', '.join(self.study_files)}."
                )
        return [name for name in self.studies if name in words] or list(self.studies)

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
        return _Planned({e.unit.path: e.unit for plan in self.studies.values() for e in plan.entries})

    @cached_property
    def _blocks(self) -> dict[tuple[str, str], Any]:
        entries = [entry for plan in self.studies.values() for entry in plan.entries]
        return _Planned({(entry.unit.path, entry.block.name): entry.block for entry in entries})

    @cached_property
    def _errors(self) -> dict[str, Error]:
        return {e.error.id: e.error for plan in self.studies.values() for e in plan.entries if e.error}

    @cached_property
    def _scores(self) -> dict[str, Score]:
        return {s.id: s for plan in self.studies.values() for e in plan.entries for _, s in e.scores}

    @cached_property
    def _exact(self) -> dict[str, ExactEntry]:
        return _Planned({e.path: e for plan in self.studies.values() for e in plan.exact})

    @cached_property
    def _kernels(self) -> dict[str, Mapping[str, Any]]:
        units = {unit.kernel: unit.kernel_spec for unit in self._units.values()}
        return units | {e.kernel: e.kernel_spec for e in self._exact.values()}

    @cached_property
    def _data(self) -> dict[str, Data]:
        units = {unit.data.id: unit.data for unit in self._units.values()}
        return _Planned(units | {e.data.id: e.data for e in self._exact.values()})

    @cached_property
    def _user_specs(self) -> dict[str, dict[str, Any]]:
        return {_folder(spec): spec for _, users in self._loaded.values() for spec in users.values()}

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


class _Planned(dict[Any, Any]):
    """What was planned; a job on a cluster, which plans again, may ask for what then was and now is not."""

    def __missing__(self, key: Any) -> Any:
        raise ValueError(
            f"{key!r} is not planned: a study or a data file was changed after this run began. "
            "Start Snakemake again."
        )


def _said(spec: Mapping[str, Any]) -> str:
    """Return what is said of a user's file, with short digests, to be read."""
    short = {**spec, "sha256": [digest[:8] for digest in spec["sha256"]]}
    return ", ".join(f"{key} {value}" for key, value in short.items() if key != "name")


def _folder(spec: Mapping[str, Any]) -> str:
    from rflib.datasets.user import folder_of

    return folder_of(spec)


def _papers(part: Any) -> set[str]:
    """Every ``paper`` that entries of tables, figures or claims name, however deep."""
    if isinstance(part, Mapping):
        named = {part["paper"]} if "paper" in part else set()
        return named.union(*map(_papers, part.values()))
    return set().union(*map(_papers, part)) if isinstance(part, list) else set()
