"""The report: one page that holds everything, opens offline, and escapes all that comes from files."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader

from rflib import __version__
from rflib.experiment.plan import plan_study

_HERE = Path(__file__).parent


def write_page(studies: Sequence[Path], results_dir: Path, out_file: Path) -> None:
    """Write the page for the studies that have results.

    Parameters
    ----------
    studies : sequence of Path
        Study files; those without ``results_dir/<study>/cells.parquet`` are left out.
    results_dir : Path
        Folder of the results, with tables and figures of each study.
    out_file : Path
        The page; it appears when it is complete.

    Raises
    ------
    ValueError
        If none of the studies has results.
    """
    present = [path for path in studies if (results_dir / path.stem / "cells.parquet").exists()]
    if not present:
        raise ValueError(f"{results_dir} holds no cells of any study: run one first.")
    environment = Environment(loader=FileSystemLoader(_HERE / "templates"), autoescape=True, trim_blocks=True)
    html = environment.get_template("page.html").render(
        sections=[_section(path, results_dir / path.stem) for path in present],
        methods=_methods(results_dir, present),
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    out_file.parent.mkdir(parents=True, exist_ok=True)
    temporary = out_file.with_name(f".{out_file.name}.part")
    temporary.write_text(html, encoding="utf-8")
    os.replace(temporary, out_file)


def _section(path: Path, folder: Path) -> dict[str, Any]:
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    cells = pd.read_parquet(folder / "cells.parquet")
    repetitions = int(cells["seed"].nunique())
    return {
        "name": path.stem,
        "title": study["title"],
        "text": study.get("text", ""),
        "paper": study.get("paper", ""),
        "reduced": repetitions < study["repetitions"],
        "repetitions": repetitions,
        "planned": study["repetitions"],
        "n_cells": len(cells.drop_duplicates(["data", "kernel", "method", "n_components", "seed"])),
        "tables": list(_tables(folder / "tables")),
        "claims": _records(pd.read_csv(folder / "tables/claims.csv", keep_default_na=False)),
        "figures": list(_figures(folder / "figures")),
        "times": _times(cells),
        "skipped": _records(
            pd.DataFrame(plan_study(path.stem, study, {}).skipped, columns=["kernel", "method", "reason"])
        ),
        "provenance": _provenance(cells),
    }


def _tables(folder: Path) -> Iterator[dict[str, Any]]:
    for entry in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        yield {**entry, **_records(pd.read_csv(folder / entry["file"]))}


def _figures(folder: Path) -> Iterator[dict[str, Any]]:
    for entry in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        image = base64.b64encode((folder / entry["file"]).read_bytes()).decode("ascii")
        yield {**entry, "source": f"data:image/svg+xml;base64,{image}"}


def _records(table: pd.DataFrame) -> dict[str, Any]:
    """Columns, whether each is numeric, and rows of text."""
    numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    rows = [[_text(value) for value in row] for row in table.itertuples(index=False)]
    return {"columns": list(table.columns), "numeric": numeric, "rows": rows}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.4g}"
    return str(value)


def _times(cells: pd.DataFrame) -> dict[str, Any]:
    chosen = cells[cells["metric"].isin(["sample_seconds", "transform_seconds"])]
    largest = chosen[chosen["n_components"] == chosen["n_components"].max()]
    wide = largest.pivot_table(
        index="method", columns="metric", values="value", aggfunc="median"
    ).reset_index()
    wide.columns = [str(column).replace("_seconds", ", median seconds") for column in wide.columns]
    n = "" if largest.empty else f"{largest['n_components'].iloc[0]:.0f}"
    return {"title": f"Time to draw and to make the features, D = {n}", **_records(wide)}


def _provenance(cells: pd.DataFrame) -> dict[str, Any]:
    keys = ["data", "kernel_id", "method_id", "fingerprint", "versions", "host"]
    table = cells[cells["method_id"] != "exact"][keys].drop_duplicates(["data", "kernel_id", "method_id"])
    logs = "features/" + table["data"] + "/" + table["kernel_id"] + "/" + table["method_id"]
    table = table.assign(log=logs).rename(columns={"kernel_id": "kernel", "method_id": "method"})
    return _records(table)


def _methods(results_dir: Path, studies: Sequence[Path]) -> list[dict[str, Any]]:
    """What each method is, with its mean rank in each study's rankings."""
    known = yaml.safe_load((_HERE / "methods.yaml").read_text(encoding="utf-8"))
    ranks: dict[str, list[str]] = {}
    for path in studies:
        for label, place in _ranks(results_dir / path.stem / "tables", _types(path)):
            ranks.setdefault(label, []).append(f"{place} ({path.stem})")
    return [{"type": name, **about, "ranks": ranks.get(name, [])} for name, about in known.items()]


def _types(path: Path) -> Mapping[str, str]:
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {label: str(spec["type"]) for label, spec in study["methods"].items()}


def _ranks(folder: Path, types: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if not (folder / "index.json").exists():
        return
    for entry in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        if entry["type"] == "ranking":
            for row in pd.read_csv(folder / entry["file"]).to_dict("records"):
                label = types.get(row["method"], row["method"])
                wins = f"best in {row['best in']} of {row['of cells']}"
                text = f"{row['method']} has mean rank {row['mean rank']:.2g}, {wins}"
                yield label, f"{entry['title']}: {text}"
