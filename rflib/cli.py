"""The command line: every rule of the workflow calls one of these steps, so any job can be repeated by hand."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from dis import opmap
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from rflib import __version__
from rflib.experiment.sources import unchanged


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one step.

    An error that rflib raises about its input ends it with one clear line and exit status 1. One from elsewhere,
    such as a user's class or numpy, is shown with its traceback too.
    """
    options = vars(_parser().parse_args(arguments))
    step: Callable[..., None] = options.pop("step")
    threads = options.pop("threads")
    print("rflib", shlex.join(sys.argv[1:] if arguments is None else arguments), file=sys.stderr, flush=True)
    try:
        with threadpool_limits(threads), unchanged():
            step(**options)
    except (ValueError, OSError) as error:
        if not _explains_itself(error):
            traceback.print_exception(error)
        sys.exit(f"error: {error}")


_OURS = Path(__file__).parent
_INSTALLED = tuple(map(Path, sysconfig.get_paths().values()))


def _explains_itself(error: Exception) -> bool:
    """Whether rflib or the operating system raised the error on purpose, with no module of a user's in between."""
    trace = error.__traceback__
    while trace is not None:
        code, last = trace.tb_frame.f_code, trace.tb_lasti
        ours = Path(code.co_filename).is_relative_to(_OURS)
        if not ours and not any(Path(code.co_filename).is_relative_to(folder) for folder in _INSTALLED):
            return False
        trace = trace.tb_next
    return isinstance(error, OSError) or (ours and code.co_code[last] == opmap["RAISE_VARARGS"])


def _fetch(name: str, folder: Path, mirror: list[str]) -> None:
    from rflib.datasets.fetch import fetch

    fetch(name, folder, mirrors=mirror)


def _prepare(spec: Any, raw: Path, output: Path) -> None:
    from rflib.datasets.prepare import prepare

    prepare(spec, raw, output)


def _spectra(kernel: Any, measure: Any, output: Path, **source: Any) -> None:
    from rflib.experiment.spectra import run

    run(_source(**source), kernel, measure, output)


def _sample(
    identity: str,
    kernel: Any,
    method: Any,
    spectrum: Path | None,
    n_components: list[int],
    seeds: range,
    output: Path,
    **source: Any,
) -> None:
    from rflib.experiment.sample import run
    from rflib.measures.store import load

    measure = load(spectrum) if spectrum else None
    run(_source(**source), identity, kernel, method, measure, n_components, seeds, output)


def _evaluate(
    features: Path,
    kernel: Any,
    method: Any,
    rows: int,
    unit_diagonal: bool,
    eigenvalues: bool,
    degrees: bool,
    fingerprint: str,
    output: Path,
    **source: Any,
) -> None:
    from rflib.experiment.evaluate import run

    run(
        _source(**source),
        features,
        kernel,
        method,
        rows,
        unit_diagonal,
        eigenvalues,
        degrees,
        output,
        fingerprint=fingerprint,
    )


def _train(
    features: Path, kernel: Any, method: Any, learner: Any, fingerprint: str, output: Path, **source: Any
) -> None:
    from rflib.experiment.train import run

    run(_source(**source), features, kernel, method, learner, output, fingerprint=fingerprint)


def _exact(kernel: Any, learner: Any, seeds: range, fingerprint: str, output: Path, **source: Any) -> None:
    from rflib.experiment.exact import run

    run(_source(**source), kernel, learner, seeds, output, fingerprint=fingerprint)


def _aggregate(study: Path, settings: Any, results: Path, output: Path) -> None:
    from rflib.experiment.aggregate import run
    from rflib.experiment.held import divided
    from rflib.experiment.plan import plan_study
    from rflib.experiment.studies import read_study

    (plan,) = divided([plan_study(study.stem, read_study(study), settings)], results)
    run(plan, results, output)


def _tables(study: Path, cells: Path, published: Path, out: Path) -> None:
    from rflib.experiment.studies import read_study
    from rflib.report.tables import write_tables

    write_tables(read_study(study), cells, published, out)


def _figures(study: Path, cells: Path, published: Path, out: Path) -> None:
    from rflib.experiment.studies import read_study
    from rflib.report.figures import write_figures

    write_figures(read_study(study), cells, published, out)


def _report(studies: list[Path], results: Path, out: Path) -> None:
    from rflib.report.page import write_page

    write_page(studies, results, out)


def _partial(studies: list[Path], settings: Any, results: Path, published: Path, out: Path) -> None:
    from rflib.report.partial import write_partial

    write_partial(studies, settings, results, published, out)
    print(f"The report of what is there: {out}")


def _export(study: Path, results: Path, out: Path) -> None:
    from rflib.report.export import export

    print(export(study, results, out))


def _fingerprint(modules: list[str]) -> None:
    from rflib.experiment.fingerprint import fingerprint

    print(fingerprint(*modules))


def _source(data: Path, preprocess: str, precision: str, max_train: int | None, max_test: int | None) -> Any:
    from rflib.experiment.cells import Source

    return Source(data, preprocess, precision, max_train, max_test)


def _range(text: str) -> range:
    first, stop = map(int, text.split(":"))
    return range(first, stop)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rflib", description=__doc__)
    parser.add_argument("--version", action="version", version=f"rflib {__version__}")
    steps = parser.add_subparsers(required=True, metavar="STEP")

    fetch = _step(steps, "fetch", _fetch, "get a data set's official files")
    fetch.add_argument("--name", required=True, help="name in the registry")
    fetch.add_argument("--folder", type=Path, required=True, help="where the files go")
    fetch.add_argument("--mirror", action="append", default=[], help="folder or URL tried first; repeatable")

    prepare = _step(steps, "prepare", _prepare, "parse and check a data set's files into arrays")
    prepare.add_argument(
        "--spec", type=_json, required=True, help="name, or a user's file and its columns (JSON)"
    )
    prepare.add_argument("--raw", type=Path, required=True, help="folder of the fetched files")
    prepare.add_argument("--output", type=Path, required=True, help="folder of the arrays")

    spectra = _step(steps, "spectra", _spectra, "compute a spectral measure")
    sample = _step(steps, "sample", _sample, "draw the features of a block of cells")
    evaluate = _step(steps, "evaluate", _evaluate, "measure the error of approximate kernel matrices")
    train = _step(steps, "train", _train, "train a learner on features and score it")
    exact = _step(steps, "exact", _exact, "train a learner with the exact kernel and score it")
    for step in (spectra, sample, evaluate, train, exact):
        step.add_argument("--data", type=Path, required=True, help="folder of a prepared data set")
        step.add_argument("--preprocess", default="raw", help="preprocessing of the inputs")
        step.add_argument("--precision", default="float64", choices=("float32", "float64"))
        step.add_argument("--max-train", type=int, help="use at most so many training rows")
        step.add_argument("--max-test", type=int, help="use at most so many test rows")
        step.add_argument("--kernel", type=json.loads, required=True, help="the kernel (JSON)")
        step.add_argument("--output", type=Path, required=True)
    spectra.add_argument("--measure", type=json.loads, required=True, help="the construction (JSON)")
    for step in (sample, evaluate, train):
        step.add_argument("--method", type=json.loads, required=True, help="the method (JSON)")
    for step in (evaluate, train):
        step.add_argument("--features", type=Path, required=True, help="file that `rflib sample` wrote")
    for step in (sample, exact):
        step.add_argument("--seeds", type=_range, required=True, help="first:stop")
    for step in (train, exact):
        step.add_argument("--learner", type=json.loads, required=True, help="the learner (JSON)")
    for step in (evaluate, train, exact):
        step.add_argument("--fingerprint", default="", help="fingerprint of the code, kept with the results")
    sample.add_argument("--identity", required=True, help="data/kernel/method: decides the random numbers")
    sample.add_argument("--spectrum", type=Path, help="file that `rflib spectra` wrote")
    sample.add_argument("--n-components", type=int, nargs="+", required=True, help="numbers of columns")
    evaluate.add_argument("--rows", type=int, default=1000, help="rows of the kernel matrix")
    evaluate.add_argument(
        "--unit-diagonal", action="store_true", help="overwrite the diagonal of K_hat by ones"
    )
    evaluate.add_argument(
        "--eigenvalues", action="store_true", help="also compare the eigenvalues of K_hat with those of K"
    )
    evaluate.add_argument("--degrees", action="store_true", help="also the degrees of freedom of K")

    aggregate = _step(steps, "aggregate", _aggregate, "collect a study's cells in one table")
    aggregate.add_argument("--study", type=Path, required=True, help="the study file")
    aggregate.add_argument("--settings", type=json.loads, default={}, help="repetitions, seed_block (JSON)")
    aggregate.add_argument("--results", type=Path, required=True, help="folder of the results")
    aggregate.add_argument("--output", type=Path, required=True)
    for name, function, text in (
        ("tables", _tables, "write a study's tables"),
        ("figures", _figures, "draw a study's figures"),
    ):
        step = _step(steps, name, function, text)
        step.add_argument("--study", type=Path, required=True, help="the study file")
        step.add_argument("--cells", type=Path, required=True, help="table that `rflib aggregate` wrote")
        step.add_argument("--published", type=Path, required=True, help="folder of the published numbers")
        step.add_argument("--out", type=Path, required=True, help="folder of the tables or figures")
    report = _step(steps, "report", _report, "write the report page")
    partial = _step(steps, "partial", _partial, "write a page of what a run with failed jobs has left")
    for step in (report, partial):
        step.add_argument("--studies", type=Path, nargs="+", required=True, help="study files")
        step.add_argument("--results", type=Path, required=True, help="folder of the results")
        step.add_argument("--out", type=Path, required=True, help="the page")
    partial.add_argument("--settings", type=json.loads, default={}, help="repetitions, seed_block (JSON)")
    partial.add_argument("--published", type=Path, required=True, help="folder of the published numbers")

    export = _step(
        steps, "export", _export, "write a study's tables and figures as Markdown and SVG, to keep"
    )
    export.add_argument("--study", type=Path, required=True, help="the study file")
    export.add_argument("--results", type=Path, required=True, help="folder of the results")
    export.add_argument("--out", type=Path, required=True, help="folder to write to, such as docs/results")

    fingerprint = _step(steps, "fingerprint", _fingerprint, "print the fingerprint of modules")
    fingerprint.add_argument("modules", nargs="+", help="such as rflib.maps.gorf")
    return parser


def _json(text: str) -> Any:
    return json.loads(text) if text.lstrip().startswith("{") else text


def _step(steps: Any, name: str, function: Callable[..., None], text: str) -> argparse.ArgumentParser:
    step: argparse.ArgumentParser = steps.add_parser(name, help=text, description=text)
    step.set_defaults(step=function)
    step.add_argument("--threads", type=int, default=1, help="threads of the linear algebra (1)")
    return step
