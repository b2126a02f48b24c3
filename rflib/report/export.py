"""Export of results as Markdown and SVG, with the conditions under which they were measured."""

import os
import shutil
from collections.abc import Collection, Set
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml

from rflib.experiment.aggregate import run as aggregate
from rflib.experiment.pipeline import of_one_study
from rflib.experiment.plan import StudyPlan
from rflib.report.cell_table import CELL, number_of_cells, read_cells, repetitions_by_size
from rflib.report.claim_rule import CLAIM_RULE, VERDICTS
from rflib.report.figures import write_figures
from rflib.report.folder import read_index
from rflib.report.number_format import columns
from rflib.report.page import run_of, unshown
from rflib.report.provenance import core_hours, fingerprints, older, run_again
from rflib.report.tables import read_shown, write_tables
from rflib.report.whole_cost import whole_core_hours
from rflib.report.wording import NO_ROWS, NOT_DRAWN, listed, plural, repeated

# A table with more rows is a file of its own: nobody reads it through, and it would make the page slow to open.
_LONG = 400
_FINGERPRINTS = (
    "A fingerprint stands for the code that decided a result: the kernel, the map, the step of the pipeline and "
    "all that they import, without comments. `rflib fingerprint MODULE ...` computes that of today."
)


def export(study: Path, results: Path, out_dir: Path) -> Path:
    """Write ``<study>.md``, its figures and its long tables to ``out_dir``, from the results alone.

    Of a run that was interrupted, the page has the cells that are complete, and says so.

    Raises
    ------
    ValueError
        If the study has no results.
    """
    if (results / study.stem / "cells.parquet").exists():
        return _write(study, results / study.stem, out_dir)
    with TemporaryDirectory() as name:
        folder = Path(name)
        return _write(study, folder, out_dir, _interrupted(study, results, folder))


def _interrupted(study: Path, results: Path, folder: Path) -> str:
    """Write the table of the cells that are complete, with tables and figures, and return how many files are."""
    if not results.exists():
        raise ValueError(f"{results} holds no results. Run the study first.")
    pipeline = of_one_study(study)
    plan = pipeline.studies[study.stem]
    files = {results / wanted.job.path for wanted in plan.wanted}
    there, cells = {file for file in files if file.exists()}, folder / "cells.parquet"
    if not there or not aggregate(plan, results, cells, available=there):
        raise ValueError(f"{results / study.stem} holds no cells. Run the study first.")
    published = Path(pipeline.published_folder)
    write_tables(plan.study, cells, published, folder / "tables")
    write_figures(plan.study, cells, published, folder / "figures", switches=False)
    return (
        f"**Interrupted run.** {len(there)} of the {len(files)} files with results are complete. This page has "
        "their cells only; comparisons between methods may lack some of them."
    )


def _write(study: Path, folder: Path, out_dir: Path, interrupted: str = "") -> Path:
    """Write the page from the cells, tables and figures of a study."""
    about = yaml.safe_load(study.read_text(encoding="utf-8"))
    cells = read_cells(folder / "cells.parquet", about)
    out_dir.mkdir(parents=True, exist_ok=True)
    plan, absent, smaller = run_of(study.stem, about, cells)
    parts = [f"# {about['title']}", about.get("text", "").strip(), interrupted]
    parts += [conditions(cells), code(plan, cells)]
    if smaller:
        told = f"**Reduced run.** It has {smaller}. {unshown(folder)}"
        parts.append(f"{told.strip()}{in_full(cells, plan, absent)}")
    if absent:
        parts.append(f"Left out, because their files or packages are not available: {', '.join(absent)}.")
    claims = read_shown(folder / "tables/claims.csv", missing=False)
    if len(claims):
        meanings = [
            f"- *{verdict}*: {VERDICTS[verdict]}" for verdict in VERDICTS if verdict in set(claims["verdict"])
        ]
        parts += ["## Claims", "\n".join(meanings), CLAIM_RULE, markdown(claims)]
    for entry in read_index(folder / "figures"):
        if entry.get("empty"):
            parts += [f"## {entry['title']}", NOT_DRAWN]
            continue
        name = f"{study.stem}_{entry['file']}"
        shutil.copyfile(folder / "figures" / entry["file"], out_dir / name)
        parts += [f"## {entry['title']}", f"![{entry['title']}]({name})", entry["caption"]]
    for entry in read_index(folder / "tables"):
        table = read_shown(folder / "tables" / entry["file"])
        name = f"{study.stem}_{entry['file']}"
        bold = {(row, column) for row, column in entry["bold"]}
        parts += [f"## {entry['title']}", entry["caption"], _table(table, bold, out_dir / name)]
    parts += ["## Fingerprints of the code", _FINGERPRINTS, markdown(fingerprints(cells))]
    page = out_dir / f"{study.stem}.md"
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return page


def conditions(cells: pd.DataFrame) -> str:
    """Return what was run, with which software, and for how long, as a paragraph."""
    told = [cells[column].dropna() for column in ("versions", "libraries") if column in cells]
    versions = ", ".join(sorted({text for column in told for text in column} - {""}))
    cores = cells.get("cores", pd.Series([os.cpu_count()])).dropna().unique()
    what = "Their jobs" if "job_seconds" in cells else "Their features and learners"
    cells_and_seeds = f"{plural(number_of_cells(cells), 'cell')} in {repeated(repetitions_by_size(cells))}"
    return (
        f"`rflib export` made this page from the results of the pipeline: {cells_and_seeds}. {what} took "
        f"{core_hours(cells):.2g} core-hours on machines with "
        f"{' or '.join(f'{n:.0f}' for n in sorted(cores))} cores. Versions: {versions}."
    )


def in_full(cells: pd.DataFrame, plan: StudyPlan, absent: Collection[str]) -> str:
    """Return what the whole study would take, as a sentence, or nothing if the times of the jobs are not kept."""
    if "job_seconds" not in cells:
        return ""
    return (
        f" In full, the study would take roughly {whole_core_hours(cells, plan, absent):.2g} core-hours. The time "
        "of what was not run is estimated for each method from its number of columns."
    )


def code(plan: StudyPlan, cells: pd.DataFrame) -> str:
    """Return which commit's code made the cells, and which of them older code made, as a paragraph."""
    commits = cells.drop_duplicates([*CELL, "learner"]).get("commit", pd.Series(dtype=str)).value_counts()
    text = (
        f"The cells were made by the code of commit{'s' * (len(commits) > 1)} {listed(list(commits.index))}. "
        if len(commits)
        else ""
    )
    old = older(plan, cells)
    if old.empty:
        return f"{text}The code that decides them has not changed since they were made."
    methods = ", ".join(dict.fromkeys(old["method"]))
    text += (
        f"**Older code.** The code that decides {number_of_cells(old)} of the {number_of_cells(cells)} "
        f"cells has changed since they were made: {methods}."
    )
    again, same = run_again(cells, old)
    if again:
        text += (
            f" Of {again} other cells that the same code had made and today's code has made anew, {same} have the "
            "same values to six digits."
        )
    return text


def _table(table: pd.DataFrame, bold: Set[tuple[int, str]], path: Path) -> str:
    """Return a table in Markdown; write a long one to a CSV file, as the page would show it, and return a link."""
    if len(table) <= _LONG:
        return markdown(table, bold)
    pd.DataFrame({column.name: column.texts for column in columns(table)}).to_csv(path, index=False)
    plain = ", in which nothing is bold" * bool(bold)
    return f"[The table]({path.name}) has {plural(len(table), 'row')} and is a CSV file{plain}."


def markdown(table: pd.DataFrame, bold: Set[tuple[int, str]] = frozenset()) -> str:
    """Return a table in Markdown, with its numbers as the page shows them, bold in these rows and columns."""
    if table.empty:
        return NO_ROWS
    shown = columns(table)
    rows = [[column.name for column in shown], ["---"] * len(shown)]
    rows += [
        [f"**{column.texts[i]}**" if (i, column.name) in bold else column.texts[i] for column in shown]
        for i in range(len(table))
    ]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows)
