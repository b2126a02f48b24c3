"""The report of a run in which jobs failed, or that goes on: it shows what is there, and what is missing."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rflib.experiment.aggregate import run as aggregate
from rflib.experiment.held import divided
from rflib.experiment.plan import plan_study
from rflib.experiment.studies import read_study
from rflib.files import read_table
from rflib.report.figures import write_figures
from rflib.report.page import write_page
from rflib.report.tables import write_tables

_PARTS = ("cells.parquet", "tables", "figures")


def write_partial(
    studies: Sequence[Path], settings: Mapping[str, Any], results: Path, published: Path, out_file: Path
) -> bool:
    """Write a page with the cells that are up to date. It begins with the failed jobs.

    The result is False, and there is no page, if no cell is complete.

    Parameters
    ----------
    studies : sequence of Path
        Study files. A complete study is shown as it is. A study that the run did not complete is shown with the
        cells that are there. Studies without cells are left out, and so are those with a damaged file, which is
        then among the failures.
    settings : mapping
        What :func:`rflib.experiment.plan.plan_study` takes.
    results : Path
        Folder of the results; its ``logs/unfinished.json`` says what failed, which files are not up to date, and
        whether the run goes on.
    published : Path
        Folder of the papers' numbers.
    out_file : Path
        The page.
    """
    state = json.loads((results / "logs/unfinished.json").read_text(encoding="utf-8"))
    stale = {Path(file) for file in state["files"]}
    failed, running = list(state["failed"]), state.get("running", False)
    missing = 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").symlink_to((results / "logs").resolve())
        for path in studies:
            made = [results / path.stem / part for part in _PARTS]
            try:
                if stale.intersection(made):
                    study = read_study(path)
                    (plan,) = divided([plan_study(path.stem, study, settings)], results)
                    files = {results / wanted.job.path for wanted in plan.wanted}
                    there = {file for file in files - stale if file.exists()}
                    missing += len(files - there)
                    cells, tables, figures = (folder / path.stem / part for part in _PARTS)
                    if aggregate(plan, results, cells, available=there):
                        write_tables(study, cells, published, tables)
                        write_figures(study, cells, published, figures, switches=not running)
                elif all(part.exists() for part in made):
                    read_table(made[0])
                    (folder / path.stem).symlink_to((results / path.stem).resolve())
            except ValueError as error:
                failed.append({"job": f"report of {path.stem}", "log": "", "message": str(error)})
                shutil.rmtree(folder / path.stem, ignore_errors=True)
        if not any(folder.glob("*/cells.parquet")):
            return False
        about = {"missing": missing, "failed": failed, "running": running}
        write_page(studies, folder, out_file, partial=about)
    return True
