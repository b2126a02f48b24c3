"""What the Snakefile needs: the checked configuration, the plans and jobs of the studies, and parameters of rules.

A study with an error is set aside with its error (``Pipeline.broken``), and the other studies are planned. So is a
study that has none of the data sets that the configuration names (``Pipeline.left_out``), which is no error.
"""

import hashlib
import os
import shlex
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from rflib.datasets.fetch import held
from rflib.datasets.prepare import sources_of
from rflib.datasets.registry import REGISTRY, entry_of
from rflib.datasets.user import files_of, folder_of, identified
from rflib.experiment.blame import place, within
from rflib.experiment.estimators import missing_packages
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.job_rules import Jobs
from rflib.experiment.plan import StudyPlan, check_chosen, plan_study
from rflib.experiment.specs import canonical
from rflib.experiment.studies import complete_config, load_study
from rflib.validation import hint

SHOWN = {"title", "text", "paper", "tables", "figures", "claims"}
_RENAME = "Rename one of them."
# Of files of studies.
_ENDINGS = (".yaml", ".yml")


class Pipeline:
    """Configuration, plans and jobs.

    Parameters
    ----------
    config : mapping
        Content of config.yaml, with the changes from the command line.
    home : Path
        Folder ``workflow``, with the studies and the published numbers.
    extra_mirrors : str
        Mirrors to try first, separated like the folders of a search path (``RFLIB_MIRRORS``).
    also_check : callable
        A further check of a study, of what it shows, which raises ValueError.

    Attributes
    ----------
    broken : dict
        The error of each study that cannot be run, by name. The message names the file.
    left_out : dict
        What is wrong with asking for a study that has none of the chosen data sets, by name.
    studies : dict of StudyPlan
        The plans of the other studies, divided into jobs.
    jobs : dict of Job
        Their jobs, by path below the results.

    Raises
    ------
    ValueError
        If the configuration has an error.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        home: Path,
        extra_mirrors: str = "",
        also_check: Callable[[Mapping[str, Any]], None] = lambda study: None,
    ) -> None:
        self.config = complete_config(config)
        # Relative, as the inputs of rules: results stay up to date when the whole folder is moved.
        self.home = Path(os.path.relpath(home))
        self.results = self.config["results"].rstrip("/")
        self.raw = self.config["data"]["raw"]
        self.mirrors = [m for m in extra_mirrors.split(os.pathsep) if m] + list(
            self.config["data"]["mirrors"]
        )
        self.published_folder = self.home / "published"
        self.study_files = {path.stem: path for path in self._study_files(self.home / "studies")}

        self.broken: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self._loaded = self._each(self.study_files, self._load, self.broken)
        self._refuse_unknown_data()
        self._refuse_one_name_for_two()
        chosen = self._each(self._loaded, self._check_chosen, self.left_out)
        plans = self._each(chosen, lambda path: self._plan(path, also_check), self.broken)
        self.studies = {plan.name: plan for plan in divided(list(plans.values()), Path(self.results))}
        self.jobs = Jobs()
        for plan in self.studies.values():
            for wanted in plan.wanted:
                self.jobs.add(wanted.job)

    def _study_files(self, folder: Path) -> list[Path]:
        """The files of the studies that the configuration asks for: by name in the folder, or as paths."""
        asked = self.config["studies"]
        if asked is None:
            return sorted(folder.glob("*.yaml"))
        return [Path(study) if study.endswith(_ENDINGS) else folder / f"{study}.yaml" for study in asked]

    def _each(
        self, studies: Iterable[str], function: Callable[[Path], Any], errors: dict[str, str]
    ) -> dict[str, Any]:
        """Return a function's result for each study's file. If it raises ValueError, the message is kept."""
        found = {}
        for name in studies:
            try:
                found[name] = function(self.study_files[name])
            except ValueError as error:
                errors[name] = str(error)
        return found

    def _load(self, path: Path) -> tuple[Mapping[str, Any], dict[str, dict[str, Any]]]:
        """Return a study, and what it says about user files, with their digests, by the names of the data sets."""
        study = load_study(path)
        found: dict[str, dict[str, Any]] = {}
        for dataset in study["datasets"]:
            name = dataset["name"]
            if "file" not in dataset or (dataset.get("optional") and not self._held(dataset)):
                continue
            with within(place(path)), within(f"data set {name!r}"):
                if name in REGISTRY:
                    raise ValueError(
                        f"the study gives this name to the file {dataset['file']}, but the registry "
                        "(docs/data.md) has a data set of that name. Choose another name."
                    )
                spec = identified(dataset)
                if found.setdefault(name, spec) != spec:
                    raise ValueError(f"the study gives this name to different data. {_RENAME}")
        return study, found

    def _refuse_unknown_data(self) -> None:
        """Raise ValueError if the configuration names a data set that no study has."""
        known = sorted(
            {dataset["name"] for study, _ in self._loaded.values() for dataset in study["datasets"]}
        )
        for name in self.config["datasets"] or []:
            if self._loaded and name not in known:
                raise ValueError(
                    f"config.yaml: datasets: no study has the data set {name!r}.{hint(name, known)} The data sets "
                    f"of the studies are {', '.join(known)}."
                    + "".join(f"\n{m}" for m in self.broken.values())
                )

    def _refuse_one_name_for_two(self) -> None:
        """Mark studies that give the same name to different data as broken."""
        named: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        for study, (_, users) in self._loaded.items():
            for name, spec in users.items():
                named[name].setdefault(folder_of(spec), []).append(study)
        for name, studies_of in named.items():
            if len(studies_of) > 1:
                studies = list(chain.from_iterable(studies_of.values()))
                places = "; ".join(
                    f"{place(self.study_files[s])}: {_said(self._loaded[s][1][name])}" for s in studies
                )
                self.broken |= {
                    study: f"data set {name!r} stands for different data in several studies. {_RENAME} {places}"
                    for study in studies
                }
        self._loaded = {name: study for name, study in self._loaded.items() if name not in self.broken}

    def _check_chosen(self, path: Path) -> None:
        with within(place(path)):
            check_chosen(self._loaded[path.stem][0], self.config)

    def _plan(self, path: Path, also_check: Callable[[Mapping[str, Any]], None]) -> StudyPlan:
        study, _ = self._loaded[path.stem]
        with within(place(path)):
            also_check(study)
            return plan_study(path.stem, study, self.settings)

    def whole(self, study: str) -> StudyPlan:
        """Return the plan of a study before its division into jobs."""
        return plan_study(study, self.studies[study].study, self.settings)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What decides the plans besides the study files: sizes, user files, and data sets that are absent."""
        keys = ("datasets", "preset", "repetitions", "seed_block", "precision")
        sizes = {key: self.config[key] for key in keys}
        datasets = [dataset for study, _ in self._loaded.values() for dataset in study["datasets"]]
        absent = {d["name"] for d in datasets if d.get("optional") and not self._held(d)}
        absent |= {package for study, _ in self._loaded.values() for package in _missing(study)}
        users = {name: folder_of(spec) for _, found in self._loaded.values() for name, spec in found.items()}
        return {**sizes, "absent": sorted(absent), "folders": users}

    def _held(self, dataset: Mapping[str, Any]) -> bool:
        """Whether a data set is prepared or can be prepared without the network. The plan reports unknown ones."""
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
        """Return, as text, the settings that decide the plan of one study."""
        about = self.studies[study].study
        names = {dataset["name"] for dataset in about["datasets"]} | _missing(about)
        absent = [name for name in self.settings["absent"] if name in names]
        folders = {name: folder for name, folder in self.settings["folders"].items() if name in names}
        return canonical({**self.settings, "absent": absent, "folders": folders})

    def about_cells(self, study: str) -> str:
        """Return what a study says, except for what it shows. Its table of cells depends on nothing else."""
        return canonical({k: v for k, v in self.studies[study].study.items() if k not in SHOWN})

    def code(self, *modules: str) -> str:
        """Return the fingerprint of modules."""
        return fingerprint(*modules)

    # data

    def has_files(self, folder: str) -> bool:
        """Whether a folder of prepared data belongs to a data set with official files to fetch."""
        return folder in REGISTRY and bool(entry_of(folder).files)

    @property
    def mirror_options(self) -> str:
        """The options that name the mirrors."""
        return " ".join(f"--mirror {shlex.quote(mirror)}" for mirror in self.mirrors)

    def user_files(self, folder: str) -> list[str]:
        """Return the user files from which a folder of prepared data is made; none for data of the registry."""
        return files_of(self._user_specs.get(folder, {}))

    def data_spec(self, folder: str) -> str:
        """Return the name of a data set in the registry, or the specification of a user file as JSON."""
        return canonical(self._user_specs[folder]) if folder in self._user_specs else folder

    def data_code(self, folder: str) -> str:
        """Return the fingerprint of the code that prepares a data set, with the checksums of official files."""
        return fingerprint(*sources_of(folder))

    # reports

    def files(self, study: str) -> list[str]:
        """Return the result files from which a study's table of cells is made."""
        if study not in self.studies:
            raise ValueError(self._why_not[study])
        return sorted({f"{self.results}/{wanted.job.path}" for wanted in self.studies[study].wanted})

    def asked(self, words: Sequence[str]) -> list[str]:
        """Return the studies among the words of a command line, or all studies if it names none.

        Raises
        ------
        ValueError
            If a word names a study that is broken or left out, or a study file that the configuration does not
            name, or is similar to the name of a study, or if all studies are broken.
        """
        if self.broken and not self.studies:
            raise ValueError("\n".join(self.broken.values()))
        for word in words:
            if word in self._why_not:
                raise ValueError(self._why_not[word])
            files = [Path(word if word.endswith(_ENDINGS) else word + ending) for ending in _ENDINGS]
            file = next(filter(Path.is_file, files), files[0])
            if file.stem in self.study_files and word.endswith(_ENDINGS):
                raise ValueError(f"{word} is a study's file. Ask for the study by its name: {file.stem}.")
            if word not in self.study_files and file.is_file():
                raise ValueError(
                    f"The configuration does not name the study file {file}. Ask for it by "
                    f"snakemake {file.stem} --cores 1 --config 'studies=[{file}]', with --config at the end."
                )
            if word not in self.study_files and (self.home / f"studies/{word}.yaml").exists():
                raise ValueError(
                    f"The configuration leaves out the study {word!r}: its key studies names "
                    f"{', '.join(self.study_files)}."
                )
            if word not in self.study_files and (question := hint(word, self.study_files, likeness=0.8)):
                raise ValueError(
                    f"There is no study {word!r}.{question} The studies are {', '.join(self.study_files)}."
                )
        return [name for name in self.studies if name in words] or list(self.studies)

    def texts(self, studies: Iterable[str]) -> str:
        """Return what the report page takes from the study files themselves."""
        return canonical({name: self.studies[name].study for name in studies})

    @cached_property
    def assets(self) -> str:
        """A hash of what the page is made with besides code: its templates and the texts on methods."""
        folder = self.home.parent / "rflib/report"
        files = sorted([*folder.glob("templates/*"), *folder.glob("*.yaml")])
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]

    def published(self, study: str, *keys: str) -> list[str]:
        """Return the files of published numbers that these parts of a study name."""
        return [
            f"{self.published_folder}/{paper}.csv"
            for paper in sorted(_papers([self.studies[study].study.get(key) for key in keys]))
        ]

    def part(self, study: str, *keys: str) -> str:
        """Return the part of a study file that a table or figure depends on."""
        return canonical({key: self.studies[study].study.get(key) for key in keys})

    @property
    def _why_not(self) -> dict[str, str]:
        return self.broken | self.left_out

    @cached_property
    def _user_specs(self) -> dict[str, dict[str, Any]]:
        return {folder_of(spec): spec for _, users in self._loaded.values() for spec in users.values()}


def of_one_study(study: Path) -> Pipeline:
    """Return what Snakemake would run of a study by ``config.yaml`` of the current folder, without ``--config``.

    Parameters
    ----------
    study : Path
        The study's file, or its name among those in ``workflow/studies``.

    Raises
    ------
    ValueError
        If the study or the configuration has an error.
    """
    if (here := os.getcwd()) not in sys.path:  # as in jobs, which are `python -m rflib`
        sys.path.append(here)
    file = Path("config.yaml")
    config = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    mirrors = os.environ.get("RFLIB_MIRRORS", "")
    pipeline = Pipeline({**config, "studies": [str(study)]}, Path("workflow"), mirrors)
    pipeline.asked([study.stem])
    return pipeline


def _missing(study: Mapping[str, Any]) -> set[str]:
    """Return the packages that optional estimators of a study need and that are not installed."""
    optional = (spec for spec in study.get("estimators", {}).values() if spec.get("optional", False))
    return {package for spec in optional for package in missing_packages(spec)}


def _said(spec: Mapping[str, Any]) -> str:
    """Return the specification of a user file as a readable text with short digests."""
    short = {**spec, "sha256": [digest[:8] for digest in spec["sha256"]]}
    return ", ".join(f"{key} {value}" for key, value in short.items() if key != "name")


def _papers(part: Any) -> set[str]:
    """Return every ``paper`` that entries of tables, figures or claims name, at any depth."""
    if isinstance(part, Mapping):
        named = {part["paper"]} if "paper" in part else set()
        return named.union(*map(_papers, part.values()))
    return set().union(*map(_papers, part)) if isinstance(part, list) else set()
