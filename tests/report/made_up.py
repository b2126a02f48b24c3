"""Cells made up for the purpose, and a table, figure or claim made from them."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from matplotlib.figure import Figure as Drawing

from rflib.files import write_table
from rflib.report.figures import write_figures
from rflib.report.kind import Figure, Results, Table, kinds
from rflib.report.page import write_page
from rflib.report.tables import write_tables

ERROR = "relative_frobenius_error"
METHODS = [f"M{i:02d}" for i in range(12)]
PUBLISHED_FOLDER = Path(__file__).parents[2] / "workflow/published"


def made_up_cells(means, seeds=10, spread=0.001):
    """Cells of two data sets and numbers of columns, with the given mean error of each method."""
    rng = np.random.default_rng(0)
    rows = []
    for dataset in ("letter", "usps"):
        for s_label, s, n in (("d", 16, 64), ("2d", 32, 128)):
            for method, mean in means.items():
                noise = rng.standard_normal(seeds)
                noise = (noise - noise.mean()) / noise.std(ddof=1) * spread
                for seed in range(seeds):
                    rows.append(
                        {
                            "study": "made_up",
                            "data": f"{dataset}.unit_norm",
                            "dataset": dataset,
                            "name": dataset,
                            "kernel": "delta",
                            "kernel_id": "DeltaGaussian",
                            "method": method,
                            "method_id": method,
                            "learner": None,
                            "s_label": s_label,
                            "at": float("nan"),
                            "s": s,
                            "n_components": n,
                            "seed": seed,
                            "metric": ERROR,
                            "value": mean + noise[seed],
                            "seconds": 0.1,
                            "fingerprint": "0123",
                            "versions": "rflib=0",
                            "host": "here",
                            "peak_memory": 2e8,
                        }
                    )
    return pd.DataFrame(rows)


def made(entry, cells=None, published=None, study=None):
    """The table of an entry, as a DataFrame."""
    return pd.DataFrame(kinds(Table)[entry["type"]].make(entry, Results(study, cells, published)))


def drawn(entry, cells=None, published=None, study=None):
    """The figure of an entry."""
    figure = Drawing(layout="constrained")
    kinds(Figure)[entry["type"]].make(entry, Results(study, cells, published), figure)
    return figure


def made_up_page(folder):
    """The page of a made-up study with 12 methods, of which its figure shows two, a table and a claim."""
    sizes = ((4, 16), (8, 32))
    rows = [
        {
            "study": "made_up",
            "data": dataset,
            "dataset": dataset,
            "kernel": "Gaussian",
            "kernel_id": "Gaussian",
            "method": method,
            "method_id": method,
            "learner": None,
            "s_label": s,
            "at": float("nan"),
            "s": s,
            "n_components": n,
            "seed": seed,
            "metric": metric,
            # numbers that would be in another order as text, and differences that vary
            "value": n / 1e4
            if metric != ERROR
            else (
                (1000.0 if method == "M00" else 9.0 - 0.5 * int(method[1:]))
                + 0.01 * ((seed + int(method[1:])) % 3)
            )
            * 4
            / s,
            "seconds": 0.1,
            "peak_memory": 1e8,
            "fingerprint": "0",
            "versions": "rflib=0",
            "host": "here",
        }
        for dataset in ("letter", "usps")
        for method in METHODS
        for s, n in sizes
        for metric in (ERROR, "sample_seconds", "transform_seconds")
        for seed in range(3)
    ]
    study = {
        "title": "Made up",
        "datasets": [{"name": "letter"}, {"name": "usps"}],
        "kernels": {"Gaussian": {"type": "Gaussian"}},
        "methods": {method: {"type": "RFF"} for method in METHODS},
        "s": [4, 8],
        "budget": "columns",
        "repetitions": 3,
        "tables": [{"type": "grid", "title": "Grid", "metric": ERROR}],
        "figures": [
            {"type": "lines", "title": "Lines", "metric": ERROR, "methods": METHODS[:2], "log": True}
        ],
        "claims": [
            {"type": "better", "title": "C", "metric": ERROR, "method": "M01", "than": "M00"},
            {"type": "better", "title": "Wrong", "metric": ERROR, "method": "M01", "than": "M11"},
        ],
    }
    results = folder / "results" / "made_up"
    results.mkdir(parents=True)
    write_table(results / "cells.parquet", pd.DataFrame(rows).astype({"s_label": str}))
    for write, name in ((write_tables, "tables"), (write_figures, "figures")):
        write(study, results / "cells.parquet", folder, results / name)
    (folder / "made_up.yaml").write_text(yaml.safe_dump(study))
    write_page([folder / "made_up.yaml"], folder / "results", folder / "index.html")
    return folder / "index.html"
