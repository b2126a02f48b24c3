"""The report: one page that holds everything, opens offline, and escapes every text that comes from a file."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
import yaml
from markupsafe import Markup

from rflib.experiment.grids import NO_KERNEL, methods_of
from rflib.experiment.plan import StudyPlan, folders_of, plan_study
from rflib.report.cell_table import EXACT, number_of_cells, read_cells, repetitions_by_size
from rflib.report.claim_rule import CLAIM_RULE
from rflib.report.claim_rule import VERDICTS as OF_CLAIMS
from rflib.report.findings import Shown, findings
from rflib.report.folder import read_index, slug
from rflib.report.html import write_html
from rflib.report.kind import Results
from rflib.report.method_cards import cards
from rflib.report.number_format import columns
from rflib.report.panels import read_plot, swatch
from rflib.report.provenance import machines, units, warned
from rflib.report.standings import STANDING_RULE, standings
from rflib.report.tables import read_shown
from rflib.report.wording import AXES, METRICS, listed, meaning_of_s, repeated, with_sizes

_TIMES = ("sample_seconds", "transform_seconds")
_FAILED = ["job", "message", "log"]  # what matters most stands first
HEADINGS = ("Verdicts", "Best map", "Surprise")
VERDICTS = ("agrees", "better", "worse", "not run", *OF_CLAIMS)


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
        The page; it appears when it is complete. Beside that of a complete run, ``findings.txt`` has the findings.
    partial : mapping, optional
        For a run that is not complete: ``missing``, the number of result files that are missing, ``failed``, the
        job, log and message of each failure, and whether it is ``running``.

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
    cells = {name: read_cells(results / name / "cells.parquet", study) for name, study in present.items()}
    tables = {name: standings(study, cells[name]) for name, study in present.items()}
    compared = pd.concat(tables, names=["study"]).reset_index("study")
    shapes: dict[str, Markup] = {}
    sections = [_section(name, study, cells[name], results, shapes) for name, study in present.items()]
    claimed = sum((Counter(section["claimed"]) for section in sections), Counter[str]())
    write_html(
        "page.html",
        out_file,
        sections=sections,
        labels={section["name"]: section["labels"] for section in sections},
        shapes=shapes,
        swatch=swatch,
        without_study=_without_study(results, studies),
        methods=cards(present),
        standings=columns(compared),
        totals=_totals(compared),
        claimed={verdict: claimed[verdict] for verdict in VERDICTS if claimed[verdict]},
        headings=HEADINGS,
        verdicts=VERDICTS,
        partial=partial and {**partial, "failed": columns(pd.DataFrame(partial["failed"], columns=_FAILED))},
        rules={"claims": CLAIM_RULE, "standings": STANDING_RULE},
    )
    if not partial:
        text = "\n\n".join(_told(section) for section in sections)
        out_file.with_name("findings.txt").write_text(f"{text}\n", encoding="utf-8")


def _told(section: Mapping[str, Any]) -> str:
    """Return the title of a study and its findings, as text for the console."""
    found = zip(HEADINGS, section["findings"], strict=True)
    said = (fill(f"- {heading}: {about.text}", 100, subsequent_indent="  ") for heading, about in found)
    return "\n".join([section["title"], *said])


def _without_study(results: Path, studies: Sequence[Path]) -> list[str]:
    """Return the folders that hold the cells of a study whose file is not among the given ones."""
    known = {path.stem for path in studies}
    return sorted({path.parent.name for path in results.glob("*/cells.parquet")} - known)


def _totals(compared: pd.DataFrame) -> dict[str, dict[str, dict[str, int]]]:
    """Return for each type of method, and for kernel errors and scores apart, how often it won, tied and lost."""
    of_kernel = compared["measured by"].str.contains("kernel").map({True: "Kernel error", False: "Scores"})
    sums = compared.assign(by=of_kernel).groupby(["type", "by"])[["won", "tied", "lost"]].sum()
    found: dict[str, dict[str, dict[str, int]]] = {}
    for row in sums.reset_index().to_dict("records"):
        found.setdefault(row["type"], {})[row["by"]] = {key: row[key] for key in ("won", "tied", "lost")}
    return found


def _section(
    name: str, study: Mapping[str, Any], cells: pd.DataFrame, results: Path, shapes: dict[str, Markup]
) -> dict[str, Any]:
    """All that the page shows of one study."""
    folder = results / name
    tables = list(_tables(name, study, folder / "tables"))
    figures = list(_figures(name, study, folder / "figures", shapes))
    first = [entry["id"] for entry in (*figures, *tables)]
    claims = read_shown(folder / "tables" / "claims.csv", missing=False)
    plan, absent, smaller = run_of(name, study, cells)
    skipped = pd.DataFrame(plan.skipped, columns=["kernel", "method", "reason"])
    verdicts = [verdict for table in tables for verdict in table["verdicts"]]
    return {
        "name": name,
        "title": study["title"],
        "text": study.get("text", ""),
        "paper": study.get("paper", ""),
        "findings": findings(
            Results(study, cells, Path()),
            Shown(
                claims,
                [(table["id"], table, table["table"]) for table in tables],
                f"{name}-claims",
                (*first, f"{name}-provenance")[0],
            ),
        ),
        "labels": {
            label: {"type": str(spec["type"]), "made": _call(spec)}
            for label, spec in methods_of(study).items()
        },
        "reduced": smaller,
        "unshown": unshown(folder),
        "absent": absent,
        "repetitions": cells["seed"].nunique(),
        "repeated": repeated(repetitions_by_size(cells)),
        "n_cells": number_of_cells(cells),
        "datasets": list(dict.fromkeys(cells["dataset"])),
        "kernels": [kernel for kernel in dict.fromkeys(cells["kernel"]) if kernel != NO_KERNEL],
        "methods": [method for method in dict.fromkeys(cells["method"]) if method != EXACT],
        "published": {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts},
        "claimed": {v: n for v in VERDICTS if (n := int((claims["verdict"] == v).sum()))},
        "claims": columns(claims),
        "s": meaning_of_s(study)
        if any(claim.get("at") != "columns" for claim in study.get("claims") or ())
        else "",
        "tables": tables,
        "figures": figures,
        "times": columns(_times(cells)),
        "skipped": columns(skipped),
        "units": units(cells, results),
        "machines": machines(cells),
        "warned": columns(warned(cells)),
    }


def run_of(name: str, study: Mapping[str, Any], cells: pd.DataFrame) -> tuple[StudyPlan, list[str], str]:
    """Return the plan of a study, what is absent of its data sets and estimators, and what `reduced` says."""
    plan = plan_study(name, study, {"folders": folders_of(cells["name"], cells["data"])})
    there = {*cells["name"], *cells["method"]}
    optional = {d["name"]: d for d in study["datasets"]} | study.get("estimators", {})
    absent = [name for name, about in optional.items() if about.get("optional") and name not in there]
    return plan, absent, reduced(cells, plan, absent)


def unshown(folder: Path) -> str:
    """Name the tables and figures of a study of which nothing was run, as a sentence; empty if there are none."""
    tables, figures = read_index(folder / "tables"), read_index(folder / "figures")
    without = [
        entry["title"] for entry in tables if _has_nothing(read_shown(folder / "tables" / entry["file"]))
    ]
    without += [entry["title"] for entry in figures if entry.get("empty")]
    n = len(tables) + len(figures)
    return (
        f"Nothing was run of {len(without)} of its {n} tables and figures: {listed(without)}."
        if without
        else ""
    )


def _has_nothing(table: pd.DataFrame) -> bool:
    return table.empty or ("verdict" in table and bool((table["verdict"] == "not run").all()))


def reduced(cells: pd.DataFrame, plan: StudyPlan, absent: Collection[str]) -> str:
    """Say how the run is smaller than planned, apart from what is absent; empty if it is not."""
    parts = []
    there = [w for w in plan.wanted if {w.dataset, w.method}.isdisjoint(absent)]
    repetitions, wanted = cells["seed"].nunique(), max(w.demand.repetitions for w in there)
    asked = list(dict.fromkeys(w.dataset for w in there))
    if out := [name for name in asked if name not in set(cells["name"])]:
        parts.append(f"{len(asked) - len(out)} of {len(asked)} data sets (without {', '.join(out)})")
    run_on = cells.groupby("name")["seed"].nunique().to_dict()
    at_most = {d: max((w.demand.repetitions for w in there if w.dataset == d), default=0) for d in run_on}
    fewer = [f"{n} on {d}" for d, n in run_on.items() if n < min(repetitions, at_most[d])]
    sizes = repetitions_by_size(cells)
    asked_at = {
        size: max((w.demand.repetitions for w in there if w.dataset in run_on and size in w.sizes), default=0)
        for size in sizes
    }
    fewer += with_sizes({size: n for size, n in sizes.items() if n < min(repetitions, asked_at[size])})
    if repetitions < wanted or fewer:
        parts.append(f"{repetitions} of {wanted} repetitions" + (f" ({', '.join(fewer)})" if fewer else ""))
    as_planned = {w.job.data.id for w in plan.wanted}
    cut = cells.loc[~cells["data"].isin(as_planned), "name"]
    if len(cut):
        parts.append(f"fewer rows of {', '.join(dict.fromkeys(cut))}")
    learners = dict.fromkeys(w.learner for w in there if w.learner and w.method != EXACT)
    if none := [name for name in learners if name not in set(cells.loc[cells["method"] != EXACT, "learner"])]:
        parts.append(f"no result of {listed(none)}")
    planned = {(w.dataset, w.kernel, w.method, n) for w in there for n in w.sizes}
    run = set(zip(*(cells[column] for column in ("name", "kernel", "method", "n_components")), strict=True))
    if planned - run:
        counts = f"{len(planned & run)} of {len(planned)}"
        parts.append(f"{counts} combinations of data set, kernel, method and number of columns")
    return listed(parts)


def _call(spec: Mapping[str, Any]) -> str:
    """Return how a study builds a method, such as "GRFF(measure=auto)"."""
    options = ", ".join(f"{key}={value}" for key, value in spec.items() if key not in ("type", "kernels"))
    return f"{spec['type']}({options})"


def _tables(name: str, study: Mapping[str, Any], folder: Path) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(read_index(folder)):
        table = read_shown(folder / entry["file"])
        first = [column for column in table if column == "verdict"]
        by_s = any(str(column).startswith("s =") or column == "s" for column in table)
        yield {
            **entry,
            "caption": f"{entry['caption']} {meaning_of_s(study)}" if by_s else entry["caption"],
            "id": f"{name}-table-{slug(number, entry['title'])}",
            "table": table,
            "columns": columns(table[[*first, *table.columns.drop(first)]]),
            "bold": {(row, column) for row, column in entry["bold"]},
            "verdicts": list(table.get("verdict", [])),
        }


def _figures(
    name: str, study: Mapping[str, Any], folder: Path, shapes: dict[str, Markup]
) -> Iterator[dict[str, Any]]:
    order = {method: i for i, method in enumerate((*methods_of(study), EXACT))}
    for number, entry in enumerate(read_index(folder)):
        files = entry["axes"] or {"": entry["file"]}
        plots = {x: read_plot(folder / file, shapes) for x, file in files.items()}
        lines = {line: method for plot in plots.values() for line, method in plot.lines.items()}
        yield {
            **entry,
            "caption": f"{entry['caption']} {meaning_of_s(study)}" if "s" in files else entry["caption"],
            "id": f"{name}-figure-{slug(number, entry['title'])}",
            "plots": plots,
            "axes": {x: AXES[x] for x in entry["axes"]},
            "lines": sorted(lines.items(), key=lambda line: order.get(line[1], len(order))),
        }


def _times(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the median seconds of each method at its largest number of columns, for each data set."""
    chosen = cells[cells["metric"].isin(_TIMES)]
    keys = ["dataset", "method", "n_components"]
    largest = chosen[chosen["n_components"] == chosen.groupby(keys[:2])["n_components"].transform("max")]
    wide = largest.pivot_table(index=keys, columns="metric", values="value", aggfunc="median", sort=False)
    names = {metric: METRICS[metric].text for metric in _TIMES} | {"dataset": "data set", "n_components": "D"}
    both = {AXES["map_seconds"]: wide.sum(axis=1)}
    return wide.assign(**both).reset_index().rename(columns=names)
