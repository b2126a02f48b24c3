"""Cells made up for the purpose, and a table, figure or claim made from them."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from rflib.report.kind import Figure, Results, Table, kinds

ERROR = "relative_frobenius_error"


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
