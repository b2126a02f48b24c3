"""Draw docs/results again: ``python docs/results.py [STUDY ...]`` makes the pages of all studies, or of some.

With ``--results FOLDER``, results of the pipeline are first merged into the kept cells of the studies, in
docs/results/cells, as before a release. What a study needs is written to docs/cluster.md, the list of pages and
how claims were decided to docs/results.md, and which map is best to README.md. The pages of the benchmarks and
of the reliability tests say which code they measured, and whether it has changed since. A page that was just
made gets this sentence with ``--measured PAGE``; otherwise, the sentences of all such pages are updated.
"""

import argparse
import re
import subprocess
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

import rflib
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.job_rules import Jobs
from rflib.experiment.jobs import CellJob
from rflib.experiment.kept import identity, keep, restore
from rflib.experiment.plan import StudyPlan, plan_study
from rflib.experiment.studies import read_study
from rflib.report.cell_table import number_of_cells, read_cells
from rflib.report.claim_rule import VERDICTS
from rflib.report.export import export
from rflib.report.figures import write_figures
from rflib.report.page import run_of
from rflib.report.provenance import core_hours
from rflib.report.tables import write_tables
from rflib.report.whole_cost import whole_core_hours
from rflib.report.wording import listed

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs/results"
KEPT = OUT / "cells"
STUDIES = ROOT / "workflow/studies"
PUBLISHED = ROOT / "workflow/published"
_LIBRARY = ("kernels", "frequencies", "measures", "maps", "learners")
# The packages that decide what a page says, apart from studies.
MEASURED = {
    "bench": _LIBRARY,
    "scaling": _LIBRARY,
    "large": _LIBRARY,
    "gpu": _LIBRARY,
    "reliability": ("experiment", "datasets", "report"),
}
# Jobs of which the documentation gives the memory together, as many as the cores of the machine in its examples.
_LARGEST = 32
_CODE = re.compile(
    r"\n\nThe code that was measured is that of (?P<commit>.*), with the fingerprint (?P<fingerprint>\w+)\."
    r"( It has changed since\.)?\n$"
)


def redraw(name: str, results: Path | None, *, commit: str = "") -> str:
    """Merge results, if there are any, into the kept cells of a study, draw its page, and return what was done."""
    path = STUDIES / f"{name}.yaml"
    study = read_study(path)
    plan = plan_study(name, study, {})
    if results is not None:
        keep(plan, results, KEPT, commit)
    with TemporaryDirectory() as folder:
        drawn = Path(folder, name)
        drawn.mkdir()
        if not restore(plan, KEPT, drawn / "cells.parquet"):
            return f"{name}: no cells"
        write_tables(study, drawn / "cells.parquet", PUBLISHED, drawn / "tables")
        write_figures(study, drawn / "cells.parquet", PUBLISHED, drawn / "figures", switches=False)
        for old in (OUT / f"{name}.md", *OUT.glob(f"{name}_[0-9]*")):
            old.unlink(missing_ok=True)
        return str(export(path, Path(folder), OUT))


def needs() -> str:
    """Return a table in Markdown of what each study needs of which cells are kept."""
    jobs = {file.stem: set(pd.read_parquet(file, columns=["job"])["job"]) for file in sorted(KEPT.iterdir())}
    there = [name for name in jobs if any(identity(w.job) in jobs[name] for w in planned(name)[1].wanted)]
    return "\n".join(
        [
            "| study | cells | jobs | core-hours | all of it, about | `preset=full`, about "
            "| memory of a job, at most | files | disk |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
            *map(_needs, there),
        ]
    )


@cache
def planned(name: str) -> tuple[dict[str, Any], StudyPlan]:
    """Return a study and its plan."""
    study = read_study(STUDIES / f"{name}.yaml")
    return study, plan_study(name, study, {})


@cache
def kept_cells(name: str) -> pd.DataFrame:
    """Return the kept cells of a study."""
    study, plan = planned(name)
    with TemporaryDirectory() as folder:
        cells = Path(folder, "cells.parquet")
        if not restore(plan, KEPT, cells):
            raise FileNotFoundError(f"{KEPT} has no cells of the study {name}.")
        return read_cells(cells, study)


def _needs(name: str) -> str:
    study, plan = planned(name)
    cells = kept_cells(name)
    jobs = jobs_of(run_so_far(plan, cells))
    whole, absent, smaller = run_of(name, study, cells)
    hours = core_hours(cells)
    in_full = whole_core_hours(cells, whole, absent) if smaller else hours
    largest = whole_core_hours(cells, plan_study(name, study, {"preset": "full"}), absent)
    disk = pd.read_parquet(KEPT / f"{name}.parquet")["bytes"].sum()
    return (
        f"| [`{name}`](results/{name}.md) | {number_of_cells(cells):,} | {len(jobs):,} | {hours:.2f} "
        f"| {in_full:.2g} | {largest:.2g} | {cells['peak_memory'].max() / 1e9:.1f} GB | {2 * len(jobs):,} "
        f"| {disk / 1e6:,.0f} MB |"
    )


def run_so_far(plan: StudyPlan, cells: pd.DataFrame) -> StudyPlan:
    """Return a plan with no more repetitions on a data set than its cells have."""
    run = cells.groupby("name")["seed"].nunique()
    return replace(
        plan,
        wanted=tuple(
            replace(w, demand=w.demand._replace(repetitions=min(w.demand.repetitions, run[w.dataset])))
            for w in plan.wanted
            if w.dataset in run
        ),
    )


def jobs_of(plan: StudyPlan) -> Jobs:
    """Return the jobs of a plan, of which none has been run."""
    jobs = Jobs()
    for wanted in divided([plan], Path("no results"))[0].wanted:
        jobs.add(wanted.job)
    return jobs


def largest_jobs() -> str:
    """Return a sentence on the memory that the largest jobs of all studies declare, on all data sets."""
    declared = sorted(
        {
            job.path: (job.megabytes, job.data.folder)
            for path in STUDIES.glob("*.yaml")
            for job in jobs_of(planned(path.stem)[1]).values()
            if isinstance(job, CellJob)
        }.values(),
        reverse=True,
    )[:_LARGEST]
    total = sum(megabytes for megabytes, _ in declared)
    names = listed([f"`{name}`" for name in dict.fromkeys(folder for _, folder in declared)])
    return (
        f"The {_LARGEST} largest jobs of all studies, on {names}, declare {total / 1000:,.0f} GB of memory "
        f"together, and the largest one {declared[0][0] / 1000:,.0f} GB; see the "
        "[memory bound](pipeline.md#when-jobs-fail)."
    )


def _run_on(name: str) -> tuple[list[str], str]:
    """Return the names of the data sets on which a study has been run, and their number beside that of all."""
    names = list(dict.fromkeys(wanted.dataset for wanted in planned(name)[1].wanted))
    run = [dataset for dataset in names if dataset in set(kept_cells(name)["name"])]
    return run, f"{'all' if run == names else len(run)} of its {len(names)} data sets"


def which_wins() -> str:
    """Return at most five sentences on which map is best: at the same columns, and within seconds and memory.

    A comparison of maps of different ages would mislead, so MVORF and the study ``frontier`` stand here only if
    today's code made the cells.
    """
    oblivious, frontier = Page("oblivious"), Page("frontier")
    over = oblivious.gains("Kernel error: how many times lower it is with MercerFeatures")
    on_new = oblivious.gains(
        "Kernel error on data sets on which nothing was developed: how many times lower it is with MercerFeatures"
    )
    near = oblivious.gains("Near pairs: how many times lower their error is with ORF")
    title = "MercerFeatures has lower kernel error than every other map that stores no training rows"
    mvorf = [("MVORF", "MVORF")] if oblivious.older.isdisjoint({"MercerFeatures", "MVORF", "ORF"}) else []
    factors = (
        *mvorf,
        ("Nystroem", "Nystroem"),
        ("OptimizedMaclaurin", "OptimizedMaclaurin"),
        ("ORF", "ORF"),
        ("TensorSketch", "TS"),
    )
    fading = ["MercerFeatures", *(label for label, _ in mvorf), "Nystroem"]
    said = [
        "- At the same number of columns and on rows that the maps have not seen, `MercerFeatures` has the "
        "least kernel error of all maps that store no training rows, apart from those that begin with its "
        f"columns, in {oblivious.holds(title)}, and in "
        f"{oblivious.holds(f'{title} in at least 75 % of the comparisons, on data sets')} on data sets on which "
        "nothing was developed. Its error is lower by these factors (geometric means; in brackets on those data "
        f"sets): {', '.join(f'{name} {over[label]} ({on_new[label]})' for name, label in factors)}.",
        "- As features of ridge regression, `MercerFeatures` classifies better than Nystroem in "
        f"{oblivious.holds('MercerFeatures classifies better than Nystroem')}.",
        "- The nearest 1 % of pairs are the weak side of maps with few smooth functions: their error is "
        f"{near[fading[0]]} times that of ORF with `{fading[0]}`"
        f"{''.join(f', {near[name]} times with `{name}`' for name in fading[1:-1])} and {near[fading[-1]]} times "
        f"with `{fading[-1]}`.",
    ]
    of = f"These are results of the study [oblivious](docs/results/oblivious.md) ({oblivious.size})"
    if frontier.older:
        also = f"{of}. The study [frontier](docs/results/frontier.md) compares the maps by seconds and by memory."
        return "\n".join([*said, "", also])
    budget = "Which map for a budget of "
    return "\n".join(
        [
            *said,
            "- The least kernel error within 0.3 seconds, to fit a map and transform 4,000 rows, is that of "
            f"{frontier.best(f'{budget}seconds: kernel error', 0.3)} pairs of a data set and a kernel; within 30 "
            "seconds for a million rows, that of "
            f"{frontier.best(f'{budget}seconds and a million rows: kernel error', 30)}.",
            "- Within 30 MB beside the rows, it is that of "
            f"{frontier.best(f'{budget}memory (MB): kernel error', 30)}.",
            "",
            f"{of} and the study [frontier](docs/results/frontier.md) ({frontier.size}).",
        ]
    )


class Page:
    """A page of results, of which parts of the documentation are made."""

    def __init__(self, name: str) -> None:
        self.text = (OUT / f"{name}.md").read_text(encoding="utf-8")
        fewer = re.search(r"\d+ of \d+ repetitions", self.text.partition("\n## ")[0])
        self.size = ", ".join([_run_on(name)[1], *([fewer[0]] if fewer else [])])
        older = re.search(r"\*\*Older code\.\*\*.* has changed since they were made: ([^.]*)\.", self.text)
        self.older = set(older[1].split(", ")) if older else set()

    def table(self, title: str) -> list[dict[str, str]]:
        """Return the rows of the table below a heading, by the names of the columns."""
        _, _, below = self.text.partition(f"\n## {title}\n")
        lines = [line for line in below.partition("\n## ")[0].splitlines() if line.startswith("|")]
        header, _, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)
        return [dict(zip(header, row, strict=True)) for row in rows]

    def gains(self, title: str) -> dict[str, str]:
        """Return how many times better a method is than each other one, over all kernels and columns."""
        return {
            row["than"]: f"{float(row['all']):#.3g}".rstrip(".")
            for row in self.table(title)
            if row["kernel"] == "all"
        }

    def best(self, title: str, budget: float) -> str:
        """Return which maps are the best within a budget, with the number of pairs of a data set and a kernel."""
        rows = [row for row in self.table(title) if float(row["budget"]) == budget]
        pairs = len({(row["data set"], row["kernel"]) for row in rows})
        counts = Counter(row["best map"] for row in rows)
        return listed([f"`{name}` in {count}" for name, count in counts.most_common()]) + f" of {pairs}"

    def holds(self, claim: str) -> str:
        """Return in how many comparisons the first claim holds whose title begins with these words."""
        return re.search(r"\d+ of \d+ comparisons", self._said("evidence", claim))[0]

    def _said(self, column: str, claim: str) -> str:
        return next(row[column] for row in self.table("Claims") if row["claim"].startswith(claim))


def verdicts() -> str:
    """Return a table in Markdown of how many claims of each study have each verdict."""
    rows = [["study", *VERDICTS], ["---", *["--:"] * len(VERDICTS)]]
    for name in sorted(file.stem for file in KEPT.iterdir()):
        of = Counter(row["verdict"] for row in Page(name).table("Claims"))
        rows.append([f"[`{name}`](results/{name}.md#claims)", *(str(of[each] or "") for each in VERDICTS)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def listed_pages() -> str:
    """Return the table of contents of the pages of studies: the papers' first, then the others."""
    papers = {path.stem: "paper" in read_study(path) for path in STUDIES.glob("*.yaml")}
    kept = sorted((file.stem for file in KEPT.iterdir()), key=lambda name: (not papers[name], name))
    return "\n".join(
        ["```{toctree}", ":maxdepth: 1", ":caption: Studies", *(f"results/{n}" for n in kept), "```"]
    )


MADE = {
    "verdicts": ("docs/results.md", verdicts),
    "the pages of studies": ("docs/results.md", listed_pages),
    "what a study needs": ("docs/cluster.md", needs),
    "the largest jobs": ("docs/cluster.md", largest_jobs),
    "which map wins": ("README.md", which_wins),
}


def with_made(page: str, name: str, text: str) -> str:
    """Return a page of the documentation with the part of this name made anew."""
    part = re.compile(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    return part.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


def measured(name: str, text: str, commit: str) -> str:
    """Return the text of a page that was just made, with the commit and the fingerprint of the code."""
    return _CODE.sub("", text).rstrip() + _said(f"commit {commit}", code_of(name))


def restated(name: str, text: str) -> str:
    """Return the text of a page, which says whether the code has changed since it was made."""
    found = _CODE.search(text)
    if found is None:
        raise ValueError(f"{name}.md does not say which code was measured; make it again")
    changed = "" if found["fingerprint"] == code_of(name) else " It has changed since."
    return text[: found.start()] + _said(found["commit"], found["fingerprint"], changed)


def _said(commit: str, fingerprint_: str, changed: str = "") -> str:
    return (
        f"\n\nThe code that was measured is that of {commit}, with the fingerprint {fingerprint_}.{changed}\n"
    )


@cache
def code_of(name: str) -> str:
    """Return the fingerprint of the code that decides what a page says."""
    modules = [module.name for module in walk_packages(rflib.__path__, "rflib.") if not module.ispkg]
    return fingerprint(*(name_ for name_ in modules if name_.split(".")[1] in MEASURED[name]))


def head() -> str:
    """Return the commit that is checked out, and whether files other than pages differ from it."""
    pages = (f":(exclude){page}" for page in ("docs/results", *(page for page, _ in MADE.values())))
    differs = _git("status", "--porcelain", "--untracked-files=no", "--", *pages)
    return _git("rev-parse", "--short", "HEAD") + (" with changes" if differs else "")


def _git(*arguments: str) -> str:
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    return run.stdout.strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", default=sorted(path.stem for path in STUDIES.glob("*.yaml")))
    parser.add_argument(
        "--results", type=Path, help="folder of the pipeline's results, whose cells are to be kept"
    )
    parser.add_argument(
        "--measured", choices=MEASURED, help="a page that was just made; nothing else is drawn"
    )
    options = parser.parse_args()
    commit = head()
    for page in [options.measured] if options.measured else MEASURED:
        file = OUT / f"{page}.md"
        text = file.read_text(encoding="utf-8")
        told = measured(page, text, commit) if options.measured else restated(page, text)
        file.write_text(told, encoding="utf-8")
    if not options.measured:
        with ProcessPoolExecutor() as pool:
            for done in pool.map(partial(redraw, results=options.results, commit=commit), options.studies):
                print(done, flush=True)
        for name, (page, make) in MADE.items():
            file = ROOT / page
            file.write_text(with_made(file.read_text(encoding="utf-8"), name, make()), encoding="utf-8")
