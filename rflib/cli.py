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


def _export(**options: Any) -> None:
    print(_call("report.export:export", **options))


def _compare_reports(**options: Any) -> None:
    print(_call("report.changes:compare_reports", **options))


def _new_method(**options: Any) -> None:
    print(_call("experiment.new_method:new_method", **options))


def _fingerprint(modules: list[str]) -> None:
    from rflib.experiment.fingerprint import fingerprint

    print(fingerprint(*modules))


# Steps that people type, in the order of the help. The workflow calls the others.
_TYPED = ("new-method", "compare-reports", "export")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rflib",
        description="Tools around the studies, which run by `make run` or `snakemake --cores 2 STUDY`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rflib {__version__}")
    steps = parser.add_subparsers(title="what you type", required=True, metavar="STEP")

    method = _step(steps, "new-method", _new_method, "write a method to begin with, its test and its study")
    method.add_argument("name", help="name of the class, such as Paired")
    method.add_argument("--package", default="mypackage", help="folder of the package (mypackage)")
    method.add_argument(
        "--all",
        dest="every",
        action="store_true",
        help="compare with every method of quickstart, in place of three baselines",
    )

    compare = _step(
        steps,
        "compare-reports",
        _compare_reports,
        "say what moved between two folders of results",
    )
    compare.add_argument("old", type=Path, help="folder of the results before")
    compare.add_argument("new", type=Path, help="folder of the results after")
    compare.add_argument(
        "--out", dest="out_file", type=Path, default=Path("changes.html"), help="the page (changes.html)"
    )

    export = _step(
        steps,
        "export",
        _export,
        "export the tables and figures of a study as Markdown and SVG",
    )
    export.add_argument("--study", type=Path, required=True, help="the study file")
    export.add_argument("--results", type=Path, required=True, help="folder of the results")
    export.add_argument(
        "--out", dest="out_dir", type=Path, required=True, help="folder to write to, such as docs/results"
    )

    fetch = _step(
        steps, "fetch", partial(_call, "datasets.fetch:fetch"), "fetch the official files of a data set"
    )
    fetch.add_argument("--name", required=True, help="name of the data set in the registry")
    fetch.add_argument("--folder", type=Path, required=True, help="folder to store the files in")
    fetch.add_argument(
        "--mirror",
        dest="mirrors",
        action="append",
        default=[],
        help="folder or URL to try first (repeatable)",
    )

    prepare = _step(
        steps,
        "prepare",
        partial(_call, "datasets.prepare:prepare"),
        "parse and check the files of a data set and store its arrays",
    )
    prepare.add_argument(
        "--spec",
        type=_json,
        required=True,
        help="name of a data set, or a description of your own file (JSON)",
    )
    prepare.add_argument(
        "--raw", dest="raw_folder", type=Path, required=True, help="folder of the fetched files"
    )
    prepare.add_argument(
        "--output", dest="out_folder", type=Path, required=True, help="folder to store the arrays in"
    )

    for kind, text in (
        ("spectra", "compute a spectral measure"),
        ("sample", "draw the features of a block of cells"),
        ("evaluate", "measure the error of approximate kernel matrices"),
        ("train", "train a learner on features and score it"),
        ("exact", "train a learner with the exact kernel and score it"),
        ("fit", "fit an estimator to the raw columns of a data set and score it"),
        ("cost", "measure the seconds and the memory of maps"),
    ):
        job = _step(steps, kind, partial(_job, kind), text)
        job.add_argument("--job", type=json.loads, required=True, help="description of the job (JSON)")
        job.add_argument("--results", type=Path, required=True, help="folder of the results")
        job.add_argument(
            "--output", type=Path, help="file to write (default: its place in the folder of the results)"
        )
        job.add_argument(
            "--code", default="", help="fingerprint of the code, which is stored with the results"
        )

    aggregate = _step(steps, "aggregate", _aggregate, "collect the cells of a study in one table")
    aggregate.add_argument("--study", type=Path, required=True, help="the study file")
    aggregate.add_argument(
        "--settings", type=json.loads, default={}, help="settings such as repetitions and seed_block (JSON)"
    )
    aggregate.add_argument("--results", type=Path, required=True, help="folder of the results")
    aggregate.add_argument("--output", type=Path, required=True)
    for name, function, text in (
        ("tables", "report.tables:write_tables", "write the tables of a study"),
        ("figures", "report.figures:write_figures", "draw the figures of a study"),
    ):
        step = _step(steps, name, partial(_show, function), text)
        step.add_argument("--study", type=Path, required=True, help="the study file")
        step.add_argument("--cells", type=Path, required=True, help="the table that `rflib aggregate` wrote")
        step.add_argument("--published", type=Path, required=True, help="folder of the published numbers")
        step.add_argument(
            "--out", dest="out_dir", type=Path, required=True, help="folder of the tables or figures"
        )
    report = _step(steps, "report", partial(_call, "report.page:write_page"), "write the report page")
    rest = _step(steps, "partial", _partial, "write a report of the complete results after jobs failed")
    for step in (report, rest):
        step.add_argument("--studies", type=Path, nargs="+", required=True, help="study files")
        step.add_argument("--results", type=Path, required=True, help="folder of the results")
        step.add_argument("--out", dest="out_file", type=Path, required=True, help="file to write")
    rest.add_argument(
        "--settings", type=json.loads, default={}, help="settings such as repetitions and seed_block (JSON)"
    )
    rest.add_argument("--published", type=Path, required=True, help="folder of the published numbers")

    fingerprint = _step(steps, "fingerprint", _fingerprint, "print the fingerprint of the code of modules")
    fingerprint.add_argument("modules", nargs="+", help="names of modules, such as rflib.maps.gorf")

    called = [f"  {name:<14}{step.description}" for name, step in steps.choices.items() if name not in _TYPED]
    parser.epilog = "\n".join(
        ["what the workflow calls, so that each job can be repeated from its log:", *called]
    )
    return parser


def _json(text: str) -> Any:
    return json.loads(text) if text.lstrip().startswith("{") else text


def _step(steps: Any, name: str, function: Callable[..., None], text: str) -> argparse.ArgumentParser:
    listed = {"help": text} if name in _TYPED else {}
    step: argparse.ArgumentParser = steps.add_parser(name, description=text, **listed)
    step.set_defaults(step=function)
    step.add_argument(
        "--threads", type=int, default=1, help="number of threads for linear algebra (default: 1)"
    )
    return step
