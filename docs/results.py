"""Draw docs/results again: ``python docs/results.py [STUDY ...]`` makes the pages of all studies, or of some.

Results of the pipeline are first merged into the kept cells of the study, in docs/results/cells. What a study
needs is written to docs/cluster.md, and which map is best when to docs/which-map.md. The pages of the benchmarks
and of the reliability tests say which code they measured, and whether it has changed since. A page that was just
made gets this sentence with ``--measured PAGE``; otherwise, the sentences of all such pages are updated.
"""

import argparse
import re
import subprocess
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory

import pandas as pd

import rflib
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.job_rules import Jobs
from rflib.experiment.kept import keep, restore
from rflib.experiment.plan import plan_study
from rflib.experiment.studies import read_study
from rflib.files import read_table
from rflib.report.cell_table import number_of_cells
from rflib.report.export import export
from rflib.report.figures import write_figures
from rflib.report.provenance import core_hours
from rflib.report.tables import write_tables

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
    "reliability": ("experiment", "datasets", "report"),
}
_CODE = re.compile(
    r"\n\nThe code that was measured is that of (?P<commit>.*), with the fingerprint (?P<fingerprint>\w+)\."
    r"( It has changed since\.)?\n$"
)


def redraw(name: str, results: Path, out: Path = OUT, kept: Path = KEPT, *, commit: str = "") -> str:
    """Merge results into the kept cells of a study, draw its page, and return what was done."""
    path = STUDIES / f"{name}.yaml"
    study = read_study(path)
    plan = plan_study(name, study, {})
    keep(plan, results, kept, commit)
    with TemporaryDirectory() as folder:
        drawn = Path(folder, name)
        drawn.mkdir()
        if not restore(plan, kept, drawn / "cells.parquet"):
            return f"{name}: no cells"
        write_tables(study, drawn / "cells.parquet", PUBLISHED, drawn / "tables")
        write_figures(study, drawn / "cells.parquet", PUBLISHED, drawn / "figures")
        for old in (out / f"{name}.md", *out.glob(f"{name}_[0-9]*.svg")):
            old.unlink(missing_ok=True)
        return str(export(path, Path(folder), out))


def needs() -> str:
    """Return a table in Markdown of what each study with kept cells needs."""
    return "\n".join(
        [
            "| study | cells | jobs | core-hours | memory of a job, at most | files | disk |",
            "|---|--:|--:|--:|--:|--:|--:|",
            *(_needs(folder.name) for folder in sorted(KEPT.iterdir())),
        ]
    )


def _needs(name: str) -> str:
    files = list((KEPT / name).iterdir())
    plan = plan_study(name, read_study(STUDIES / f"{name}.yaml"), {"datasets": [file.stem for file in files]})
    jobs = Jobs()
    for wanted in divided([plan], Path("no results"))[0].wanted:
        jobs.add(wanted.job)
    with TemporaryDirectory() as folder:
        restore(plan, KEPT, Path(folder, "cells.parquet"))
        cells = read_table(Path(folder, "cells.parquet"))
    disk = sum(pd.read_parquet(file)["bytes"].sum() for file in files)
    return (
        f"| [`{name}`](results/{name}.md) | {number_of_cells(cells):,} | {len(jobs):,} | {core_hours(cells):.2f} "
        f"| {cells['peak_memory'].max() / 1e9:.1f} GB | {2 * len(jobs):,} | {disk / 1e6:,.0f} MB |"
    )


def which_map() -> str:
    """Return the sections of the page of the study ``frontier`` that say which map to take when."""
    page = (OUT / "frontier.md").read_text(encoding="utf-8")
    found = re.findall(r"^## Which map when: (.)(.*?)(?=^## )", page, flags=re.MULTILINE | re.DOTALL)
    return "\n\n".join(
        [_so_far("frontier"), *(f"### {first.upper()}{rest.strip()}" for first, rest in found)]
    )


def _so_far(name: str) -> str:
    """Return a sentence that says on which data sets a study has been run."""
    names = [dataset["name"] for dataset in read_study(STUDIES / f"{name}.yaml")["datasets"]]
    run = [dataset for dataset in names if (KEPT / name / f"{dataset}.parquet").exists()]
    return f"The study has been run on {len(run)} of its {len(names)} data sets: {', '.join(run)}."


MADE = {"what a study needs": ("cluster.md", needs), "which map when": ("which-map.md", which_map)}


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
    """Return the commit that is checked out, and whether files differ from it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--dirty= with changes"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", default=sorted(path.stem for path in STUDIES.glob("*.yaml")))
    parser.add_argument(
        "--results", type=Path, default=ROOT / "results", help="folder of the pipeline's results"
    )
    parser.add_argument(
        "--measured", choices=MEASURED, help="a page that was just made; nothing else is drawn"
    )
    options = parser.parse_args()
    for page in [options.measured] if options.measured else MEASURED:
        file = OUT / f"{page}.md"
        text = file.read_text(encoding="utf-8")
        told = measured(page, text, head()) if options.measured else restated(page, text)
        file.write_text(told, encoding="utf-8")
    if not options.measured:
        with ProcessPoolExecutor() as pool:
            for done in pool.map(partial(redraw, results=options.results, commit=head()), options.studies):
                print(done, flush=True)
        for name, (page, make) in MADE.items():
            file = ROOT / "docs" / page
            file.write_text(with_made(file.read_text(encoding="utf-8"), name, make()), encoding="utf-8")
