"""Time rflib in turn with its peers and with the part of the work that nobody can avoid; keep JSON and Markdown.

``python benchmarks/run.py [PART ...]`` runs all parts, or those named, and replaces their records in
docs/results/bench.json; docs/results/bench.md is written from that. Compare ratios: seconds are one machine's.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from timing import conditions

PARTS = {
    "fourier": "Fourier maps",
    "sketches": "Polynomial sketches",
    "sparsity": "Sparse rows",
    "distances": "Distances",
    "directions": "Orthogonal directions",
    "structured": "Structured directions",
    "choice": "Fits of MVORF, and AutoMap",
    "nystroem": "Nystroem",
    "mercer": "Mercer features",
    "ridge": "Ridge regression",
    "streaming": "Ridge regression in blocks of rows",
    "exact": "Exact kernels and leave-one-out",
    "metric": "A learned metric",
    "posterior": "Standard deviations",
    "svm": "Linear support vector machine",
}
OUT = Path("docs/results")
LIMIT = "limit: product and np.cos in cache blocks"
CHOICE = "its choice"
PEER, RFF = "scikit-learn ", "rflib RFF"
# What the project asks of itself: words, part, setting, slower and faster entry, least ratio of their seconds.
TARGETS = (
    ("phases within 1.3 of the limit", "fourier", ("d = 256", "float32"), LIMIT, "RFF, phases", 1 / 1.3),
    ("cosines and sines within 1.3 of it", "fourier", ("d = 256", "float32"), LIMIT, "RFF", 1 / 1.3),
    ("MVORF within 2 times cosines and sines", "fourier", ("float32",), RFF, "MVORF", 1 / 2),
    ("MVORF of a Gaussian likewise", "fourier", ("float32",), RFF, "MVORF, Gaussian", 1 / 2),
    ("phases 2 times RBFSampler", "fourier", ("float64",), PEER + "RBFSampler", "RFF, phases", 2),
    ("cosines and sines 2 times RBFSampler", "fourier", ("float64",), PEER + "RBFSampler", "RFF", 2),
    (
        "TensorSketch 5 times its peer",
        "sketches",
        ("20,000",),
        PEER + "PolynomialCountSketch",
        "TensorSketch",
        5,
    ),
    ("AutoMap within 2 times its choice", "choice", ("AutoMap",), CHOICE, "AutoMap", 1 / 2),
    ("Mercer features 2 times RFF", "mercer", ("256", "transform", "float32"), RFF, "MercerFeatures", 2),
    ("Mercer features 2.5 times RFF", "mercer", ("256", "transform", "float64"), RFF, "MercerFeatures", 2.5),
    ("frame 50 times the whole QR", "directions", (), "QR of the whole matrix", "frame", 50),
    (
        "a stream within 1.5 times all rows at once",
        "streaming",
        (),
        "rflib KRR, all rows",
        "KRR, blocks of 10,000",
        1 / 1.5,
    ),
    ("ridge 5 times the grid search", "ridge", ("60,000",), PEER + "GridSearchCV(Ridge)", "KRR", 5),
    (
        "standard deviations 10 times the exact process",
        "posterior",
        ("20,000",),
        PEER + "GaussianProcessRegressor",
        "KRR",
        10,
    ),
    ("Newton 10 times liblinear", "svm", ("7,291",), "rflib LinearSVM, liblinear", "LinearSVM, newton", 10),
)
# Peers that a machine may lack: the table says so.
OPTIONAL_PEERS = {
    "xrfm": "which needs torch",
    "pyrfm": "which can be built with numpy 1.23 only",
    "xGPR": "which may not be used commercially",
    "rfflearn": "which has a global seed and no transformers",
}
HEAD = """\
# Benchmarks

`make bench` made this page. Each table compares entries of rflib with their peers and, in its first line, with
the part of the work that no implementation can avoid, such as one matrix product. All entries of a table run in
turn. The table shows the median of their seconds, and in parentheses the ratio to the first line. Seconds
depend on the machine, so compare the ratios. The last line has the number of runs and the load: the average
number of busy processes in the minute before.
"""


def main() -> None:
    """Run the parts and write what all runs so far have found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parts = parser.parse_args().parts or PARTS
    kept = OUT / "bench.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for part in parts:
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        records = []
        for record in import_module(part).records():
            records.append(record)
            print(f"{record['group']}, {record['what']}: {record['seconds']:.3g} s", flush=True)
        found[part] = {"when": when, "conditions": conditions(), "records": records}
        kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        (OUT / "bench.md").write_text(markdown(found), encoding="utf-8")
    print(markdown(found))


def markdown(found: dict[str, Any]) -> str:
    """The records as tables, a part each, with the conditions."""
    absent = ", and ".join(
        f"{name}, {why}" for name, why in OPTIONAL_PEERS.items() if find_spec(name) is None
    )
    text = HEAD + (f"\nThe tables do not have {absent}.\n" if absent else "")
    text += targets(found)
    for part in PARTS:
        if part not in found:
            continue
        text += f"\n## {PARTS[part]}\n\nMeasured on {found[part]['when']}; {found[part]['conditions']}.\n"
        for title, records in groupby(found[part]["records"], key=lambda record: record["group"]):
            text += table(title, list(records))
    return text


def targets(found: dict[str, Any]) -> str:
    """Each target with what was measured, in every setting that it speaks of."""
    lines = [
        "\n## Targets\n",
        "| target | setting | times as fast, by the medians | by the least seconds | target | met |",
        "|---|---|---|---|---|---|",
    ]
    for words, part, said, slow, fast, least in TARGETS:
        seconds: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
        for r in found.get(part, {"records": []})["records"]:
            if all(word in ", ".join(setting(r)) for word in said):
                seconds.setdefault(setting(r), {})[r["what"]] = r
        for key, times in seconds.items():
            ours = times["rflib " + fast]
            median, lowest = (times[slow][what] / ours[what] for what in ("seconds", "least"))
            met = "yes" if median >= least else "by the least seconds" if lowest >= least else "no"
            lines.append(
                f"| {words} | {', '.join(key)} | {median:.2f} | {lowest:.2f} | {least:.2g} | {met} |"
            )
    return "\n".join(lines) + "\n"


def setting(record: dict[str, Any]) -> tuple[str, ...]:
    """The group and the conditions of a record, in words."""
    threads, rows = record["threads"], record["rows"]
    words = (record["group"], f"{threads} thread{'s'[: threads > 1]}", record["dtype"])
    return (*words, f"n = {rows:,}") if rows else words


def table(title: str, records: list[dict[str, Any]]) -> str:
    """One table: an entry a line, and for each setting its seconds and the ratio to the limit."""
    settings = list(dict.fromkeys(map(at, records)))
    heads = [", ".join(setting(next(r for r in records if at(r) == s))[1:]) for s in settings]
    lines = [
        f"\n### {title}\n",
        "| | " + " | ".join(heads) + " |",
        "|---|" + "---|" * len(settings),
    ]
    cells = {(r["what"], at(r)): r for r in records}
    for what in dict.fromkeys(record["what"] for record in records):
        row = [cells.get((what, s)) for s in settings]
        lines.append(f"| {what} | " + " | ".join(map(cell, row)) + " |")
    loads = [f"{max(r['load'] for r in records if at(r) == s):.1f}" for s in settings]
    lines.append(
        "| runs, load | " + " | ".join(f"{s[3]}, {x}" for s, x in zip(settings, loads, strict=True)) + " |"
    )
    return "\n".join(lines) + "\n"


def at(record: dict[str, Any]) -> tuple[int, str, int, int]:
    """The conditions of a record."""
    return record["threads"], record["dtype"], record["rows"], record["runs"]


def cell(record: dict[str, Any] | None) -> str:
    """Seconds and ratio, and the objective and the rows in a second where there are such."""
    if record is None:
        return ""
    reached = f", objective {record['objective']:.6g}" if record["objective"] is not None else ""
    rate = f", {record['rate']:,.0f} rows/s" if "rate" in record else ""
    return f"{record['seconds']:.3g} s ({record['ratio']:.2f}){reached}{rate}"


if __name__ == "__main__":
    main()
