"""The report: one page that holds everything, opens offline, and escapes every text that comes from a file."""

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader

from rflib import __version__
from rflib.experiment.plan import StudyPlan, folders_of, plan_study
from rflib.files import replacing
from rflib.report.cell_table import number_of_cells, read_cells
from rflib.report.folder import read_index, slug
from rflib.report.inference import CLAIM_RULE
from rflib.report.method_cards import cards
from rflib.report.number_format import columns
from rflib.report.provenance import machines, units, warned
from rflib.report.standings import STANDING_RULE, standings
from rflib.report.wording import METRICS

_TEMPLATES = Path(__file__).parent / "templates"
_TIMES = ("sample_seconds", "transform_seconds")
VERDICTS = (
    *("agrees", "better", "worse", "not run"),
    *("reproduced", "explained", "undecided", "not reproduced", "no data"),
)


def write_page(
    studies: Sequence[Path], results: Path, out_file: Path, *, partial: Mapping[str, Any] | None = None
) -> None:
    """Write the page for the studies that have results.

    Parameters
    ----------
    studies : sequence of Path
        Study files; those without ``results/<study>/cells.parquet`` are left out.
    results : Path
        Folder of the results, with tables and figures of each study.
    out_file : Path
        The page; it appears when it is complete.
    partial : mapping, optional
        For a run in which jobs failed: ``missing``, the number of result files that are missing, and ``failed``,
        the job, log and message of each failure.

    Raises
    ------
    ValueError
        If none of the studies has results.
    """
    present = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in studies
        if (results / path.stem / "cells.parquet").exists()
    }
    if not present:
        raise ValueError(f"{results} holds no cells of any study. Run a study first.")
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    cells = {name: read_cells(results / name / "cells.parquet", study) for name, study in present.items()}
    tables = {name: standings(study, cells[name]) for name, study in present.items()}
    compared = pd.concat(tables, names=["study"]).reset_index("study")
    html = environment.get_template("page.html").render(
        sections=[_section(name, study, cells[name], results) for name, study in present.items()],
        methods=cards(present),
        standings=columns(compared),
        totals=compared.groupby("type")[["won", "tied", "lost"]].sum().to_dict("index"),
        verdicts=VERDICTS,
        partial=partial and {**partial, "failed": columns(pd.DataFrame(partial["failed"]))},
        rules={"claims": CLAIM_RULE, "standings": STANDING_RULE},
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    with replacing(out_file) as file:
        file.write(html.encode("utf-8"))


def _section(name: str, study: Mapping[str, Any], cells: pd.DataFrame, results: Path) -> dict[str, Any]:
    """All that the page shows of one study."""
    folder = results / name
    tables = list(_tables(name, folder / "tables"))
    claims = pd.read_csv(folder / "tables" / "claims.csv", keep_default_na=False)
    plan, absent, smaller = run_of(name, study, cells)
    skipped = pd.DataFrame(plan.skipped, columns=["kernel", "method", "reason"])
    verdicts = [verdict for table in tables for verdict in table["verdicts"]]
    return {
        "name": name,
        "title": study["title"],
        "text": study.get("text", ""),
        "paper": study.get("paper", ""),
        "reduced": smaller,
        "absent": absent,
        "repetitions": cells["seed"].nunique(),
        "n_cells": number_of_cells(cells),
        "datasets": list(dict.fromkeys(cells["dataset"])),
        "kernels": list(dict.fromkeys(cells["kernel"])),
        "n_methods": cells.loc[cells["method_id"] != "exact", "method"].nunique(),
        "published": {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts},
        "claimed": {v: n for v in VERDICTS if (n := int((claims["verdict"] == v).sum()))},
        "claims": columns(claims),
        "tables": tables,
        "figures": list(_figures(name, folder / "figures")),
        "times": columns(_times(cells)),
        "skipped": columns(skipped),
        "units": units(cells, results),
        "machines": machines(cells),
        "warned": columns(warned(cells)),
    }


def run_of(name: str, study: Mapping[str, Any], cells: pd.DataFrame) -> tuple[StudyPlan, list[str], str]:
    """Return the plan of a study, the data sets that are absent, and what :func:`reduced` says of its run."""
    plan = plan_study(name, study, {"folders": folders_of(cells["name"], cells["data"])})
    there = set(cells["name"])
    absent = [d["name"] for d in study["datasets"] if d.get("optional") and d["name"] not in there]
    return plan, absent, reduced(cells, plan, absent)


def reduced(cells: pd.DataFrame, plan: StudyPlan, absent: Collection[str]) -> str:
    """Say how the run is smaller than planned, apart from absent data sets; empty if it is not."""
    parts = []
    there = [w for w in plan.wanted if w.dataset not in absent]
    repetitions, wanted = cells["seed"].nunique(), max(w.demand.repetitions for w in there)
    if repetitions < wanted:
        parts.append(f"{repetitions} of {wanted} repetitions")
    as_planned = {w.job.data.id for w in plan.wanted}
    cut = cells.loc[~cells["data"].isin(as_planned), "name"]
    if len(cut):
        parts.append(f"fewer rows of {', '.join(dict.fromkeys(cut))}")
    planned = {(w.dataset, w.kernel, w.method, n) for w in there for _, _, n in w.s}
    run = set(zip(*(cells[column] for column in ("name", "kernel", "method", "n_components")), strict=True))
    if planned - run:
        counts = f"{len(planned & run)} of {len(planned)}"
        parts.append(f"{counts} combinations of data set, kernel, method and number of columns")
    return " and ".join(parts)


def _tables(study: str, folder: Path) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(read_index(folder)):
        table = pd.read_csv(folder / entry["file"])
        yield {
            **entry,
            "id": f"{study}-table-{slug(number, entry['title'])}",
            "columns": columns(table),
            "best": _best(table, entry["best"]) if entry["best"] else set(),
            "verdicts": list(table.get("verdict", [])),
        }


def _best(table: pd.DataFrame, extreme: Literal["min", "max"]) -> set[tuple[int, str]]:
    """Return the row and column of the best mean of each data set and kernel, among the methods."""
    found: set[tuple[int, str]] = set()
    for name in table.columns[3:]:
        if name != "exact" and not name.endswith(" std"):
            groups = table[name].groupby([table["data set"], table["kernel"]])
            best = table[name] == groups.transform(extreme)
            found |= {(int(row), name) for row in table.index[best]}
    return found


def _figures(study: str, folder: Path) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(read_index(folder)):
        image = base64.b64encode((folder / entry["file"]).read_bytes()).decode("ascii")
        address = f"data:image/svg+xml;base64,{image}"
        yield {**entry, "id": f"{study}-figure-{slug(number, entry['title'])}", "source": address}


def _times(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the median seconds of each method at its largest number of columns, for each data set."""
    chosen = cells[cells["metric"].isin(_TIMES)]
    keys = ["dataset", "method", "n_components"]
    largest = chosen[chosen["n_components"] == chosen.groupby(keys[:2])["n_components"].transform("max")]
    wide = largest.pivot_table(index=keys, columns="metric", values="value", aggfunc="median", sort=False)
    names = {metric: METRICS[metric].text for metric in _TIMES} | {"dataset": "data set", "n_components": "D"}
    return wide.reset_index().rename(columns=names)
