"""The command line: every rule of the workflow calls one of these steps, so each job can be repeated by hand."""

import argparse
import json
import os
import shlex
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from dis import opmap
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_limits

from rflib import __version__
from rflib.files import explained
from rflib.threads import variables


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one step.

    An error that rflib raises about its input ends the step with one clear line and exit status 1. An error from
    elsewhere, such as a user's class or numpy, is shown with its traceback too. Standard error is the job's log.
    If it cannot be written, for example on a full disk, the line goes to standard output. The log of a step that
    ends well ends with the time that it took.
    """
    options = vars(_parser().parse_args(arguments))
    step: Callable[..., None] = options.pop("step")
    threads = options.pop("threads")
    command = shlex.join(sys.argv[1:] if arguments is None else arguments)
    try:
        from rflib.experiment.sources import unchanged

        with explained("the job's log"):
            print("rflib", command, file=sys.stderr, flush=True)
        start, used = perf_counter(), _cpu_seconds()
        os.environ |= variables(threads)  # for libraries that the step loads
        with threadpool_limits(threads), unchanged():
            step(**options)
        with explained("the job's log"):
            took, used = perf_counter() - start, _cpu_seconds() - used
            print(f"done in {took:.2f} s, {used:.2f} s of CPU time", file=sys.stderr, flush=True)
    except (ValueError, OSError, ImportError) as error:
        try:
            if not _explains_itself(error):
                traceback.print_exception(error)
            print(f"error: {error}", file=sys.stderr, flush=True)
        except OSError:
            print(f"error: {error}", flush=True)
        sys.exit(1)


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the processes that it has started and that have ended."""
    return sum(os.times()[:4])


_OURS = Path(__file__).parent
_INSTALLED = tuple(map(Path, sysconfig.get_paths().values()))


def _explains_itself(error: Exception) -> bool:
    """Whether rflib or the operating system raised the error on purpose, without a user's module in between."""
    trace = error.__traceback__
    while trace is not None:
        code, last = trace.tb_frame.f_code, trace.tb_lasti
        ours = Path(code.co_filename).is_relative_to(_OURS)
        if not ours and not any(Path(code.co_filename).is_relative_to(folder) for folder in _INSTALLED):
            return False
        trace = trace.tb_next
    return isinstance(error, OSError) or (ours and code.co_code[last] == opmap["RAISE_VARARGS"])


def _call(function: str, **options: Any) -> Any:
    """Call ``module:name`` of rflib; the module is imported only now."""
    module, name = function.split(":")
    return getattr(import_module(f"rflib.{module}"), name)(**options)


def _show(function: str, study: Path, **options: Any) -> None:
    _call(function, study=_call("experiment.studies:read_study", path=study), **options)


def _job(kind: str, job: Any, results: Path, output: Path | None, code: str) -> None:
    from rflib.datasets.checksum import check_prepared
    from rflib.experiment.job_rules import JOBS
    from rflib.experiment.jobs import CellJob

    wanted = JOBS[kind].of(job)
    check_prepared((results / wanted.data.meta).parent)
    about = {"fingerprint": code} if isinstance(wanted, CellJob) else {}
    import_module(f"rflib.experiment.{kind}").run(wanted, results, output or results / wanted.path, **about)


def _aggregate(study: Path, settings: Any, results: Path, output: Path) -> None:
    from rflib.experiment.aggregate import run
    from rflib.experiment.held import divided
    from rflib.experiment.plan import plan_study
    from rflib.experiment.studies import read_study

    (plan,) = divided([plan_study(study.stem, read_study(study), settings)], results)
    if not run(plan, results, output):
        raise ValueError(
            f"{study}: the study measures no kernel error and trains no learner, so it has no cells."
        )


def _partial(out_file: Path, **options: Any) -> None:
    if _call("report.partial:write_partial", out_file=out_file, **options):
        print(f"A report of the complete results: {out_file}")
    else:
        print("There is no partial report, because every study lacks results or has a damaged file.")


def _say(function: str, **options: Any) -> None:
    print(_call(function, **options))


def _fingerprint(modules: list[str]) -> None:
    from rflib.experiment.fingerprint import fingerprint

    print(fingerprint(*modules))


def _path(text: str, **about: Any) -> dict[str, Any]:
    return {"type": Path, "required": True, "help": text, **about}


def _steps() -> dict[str, tuple[str, Callable[..., None], dict[str, dict[str, Any]]]]:
    """Return what each step does, its function, and its options as `argparse` takes them."""
    study, results = {"--study": _path("the study file")}, {"--results": _path("folder of the results")}
    published = {"--published": _path("folder of the published numbers")}
    said = "settings such as repetitions and seed_block (JSON)"
    settings = {"--settings": {"type": json.loads, "default": {}, "help": said}}
    mine = "name of a data set, or a description of your own file (JSON)"
    job = {
        "--job": {"type": json.loads, "required": True, "help": "description of the job (JSON)"},
        **results,
        "--output": {"type": Path, "help": "file to write (default: its place in the folder of the results)"},
        "--code": {"default": "", "help": "fingerprint of the code, which is stored with the results"},
    }
    shown = {
        **study,
        "--cells": _path("the table that `rflib aggregate` wrote"),
        **published,
        "--out": _path("folder of the tables or figures", dest="out_dir"),
    }
    page = {
        "--studies": _path("study files", nargs="+"),
        **results,
        "--out": _path("file to write", dest="out_file"),
    }
    return {
        "new-method": (
            "write a method to begin with, its test and its study",
            partial(_say, "experiment.new_method:new_method"),
            {
                "name": {"help": "name of the class, such as Paired"},
                "--package": {"default": "mypackage", "help": "folder of the package (mypackage)"},
                "--all": {
                    "dest": "every",
                    "action": "store_true",
                    "help": "compare with every method of quickstart, in place of three baselines",
                },
            },
        ),
        "estimate": (
            "say how many core-hours a study takes in full, from its results so far",
            partial(_say, "report.whole_cost:estimate"),
            {"study": {"type": Path, "help": "the study's name, or its file"}},
        ),
        "compare-reports": (
            "say what moved between two folders of results",
            partial(_say, "report.changes:compare_reports"),
            {
                "old": {"type": Path, "help": "folder of the results before"},
                "new": {"type": Path, "help": "folder of the results after"},
                "--out": {
                    "dest": "out_file",
                    "type": Path,
                    "default": Path("changes.html"),
                    "help": "the page (changes.html)",
                },
            },
        ),
        "export": (
            "export the tables and figures of a study as Markdown and SVG",
            partial(_say, "report.export:export"),
            {**study, **results, "--out": _path("folder to write to, such as docs/results", dest="out_dir")},
        ),
        "fetch": (
            "fetch the official files of a data set",
            partial(_call, "datasets.fetch:fetch"),
            {
                "--name": {"required": True, "help": "name of the data set in the registry"},
                "--folder": _path("folder to store the files in"),
                "--mirror": {
                    "dest": "mirrors",
                    "action": "append",
                    "default": [],
                    "help": "folder or URL to try first (repeatable)",
                },
            },
        ),
        "prepare": (
            "parse and check the files of a data set and store its arrays",
            partial(_call, "datasets.prepare:prepare"),
            {
                "--spec": {"type": _json, "required": True, "help": mine},
                "--raw": _path("folder of the fetched files", dest="raw_folder"),
                "--output": _path("folder to store the arrays in", dest="out_folder"),
            },
        ),
        "spectra": ("compute a spectral measure", partial(_job, "spectra"), job),
        "sample": ("draw the features of a block of cells", partial(_job, "sample"), job),
        "evaluate": ("measure the error of approximate kernel matrices", partial(_job, "evaluate"), job),
        "train": ("train a learner on features and score it", partial(_job, "train"), job),
        "exact": ("train a learner with the exact kernel and score it", partial(_job, "exact"), job),
        "fit": ("fit an estimator to a data set's raw columns and score it", partial(_job, "fit"), job),
        "cost": ("measure the seconds and the memory of maps", partial(_job, "cost"), job),
        "aggregate": (
            "collect the cells of a study in one table",
            _aggregate,
            {**study, **settings, **results, "--output": _path("file to write")},
        ),
        "tables": ("write the tables of a study", partial(_show, "report.tables:write_tables"), shown),
        "figures": ("draw the figures of a study", partial(_show, "report.figures:write_figures"), shown),
        "report": ("write the report page", partial(_call, "report.page:write_page"), page),
        "partial": (
            "write a report of the complete results after jobs failed or Ctrl-C",
            _partial,
            {**page, **settings, **published},
        ),
        "fingerprint": (
            "print the fingerprint of the code of modules",
            _fingerprint,
            {"modules": {"nargs": "+", "help": "names of modules, such as rflib.maps.gorf"}},
        ),
    }


# Steps that people type, in the order of the help. The workflow calls the others.
_TYPED = ("new-method", "estimate", "compare-reports", "export")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rflib",
        description="Tools around the studies, which run by `make run` or `snakemake --cores 2 STUDY`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rflib {__version__}")
    steps: Any = parser.add_subparsers(title="what you type", required=True, metavar="STEP")
    threads = {"type": int, "default": 1, "help": "number of threads for linear algebra (default: 1)"}
    called = ["what the workflow calls, so that each job can be repeated from its log:"]
    for name, (text, function, options) in _steps().items():
        step = steps.add_parser(name, description=text, **({"help": text} if name in _TYPED else {}))
        step.set_defaults(step=function)
        for word, about in {**options, "--threads": threads}.items():
            step.add_argument(word, **about)
        called += [f"  {name:<14}{text}"] * (name not in _TYPED)
    parser.epilog = "\n".join(called)
    return parser


def _json(text: str) -> Any:
    return json.loads(text) if text.lstrip().startswith("{") else text
