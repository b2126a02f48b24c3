"""A study, published numbers for it, and its results."""

import pandas as pd
import pytest
import yaml

from rflib.files import write_table
from rflib.report.figures import write_figures
from rflib.report.tables import write_tables

from .browser import visit
from .made_up import ERROR, made_up_cells, made_up_page


@pytest.fixture
def study():
    return {
        "title": "A <script>alert(1)</script> title",
        "text": "Text & more.",
        "datasets": [{"name": "letter"}, {"name": "usps"}],
        "kernels": {"delta": {"type": "DeltaGaussian"}},
        "methods": {"GRFF": {"type": "GRFF"}, "GORF": {"type": "GORF"}},
        "s": ["d"],
        "repetitions": 20,
        "tables": [
            {
                "type": "published",
                "title": "Beside",
                "metric": ERROR,
                "paper": "mine",
                "table": "T",
                "kernels": {"delta": "delta_gaussian"},
                "methods": {"GORF": "GORF"},
            },
            {"type": "grid", "title": "By columns", "metric": ERROR},
            {"type": "ranking", "title": "Ranks", "metric": ERROR},
        ],
        "figures": [{"type": "lines", "title": "Error", "metric": ERROR, "log": True}],
        "claims": [
            {"type": "better", "title": "GORF wins", "metric": ERROR, "method": "GORF", "than": "GRFF"}
        ],
    }


@pytest.fixture
def published(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    pd.DataFrame(
        {
            "paper": "mine",
            "table": "T",
            "kernel": "delta_gaussian",
            "dataset": ["letter", "letter", "usps", "other"],
            "method": "GORF",
            "s": ["d", "2d", "d", "d"],
            "metric": ERROR,
            "mean": [0.1, 0.2, 0.05, 0.3],
            "std": 0.001,
        }
    ).to_csv(folder / "mine.csv", index=False)
    return folder


@pytest.fixture
def results(study, published, tmp_path):
    folder = tmp_path / "results" / "made_up"
    folder.mkdir(parents=True)
    write_table(folder / "cells.parquet", made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
    write_tables(study, folder / "cells.parquet", published, folder / "tables")
    write_figures(study, folder / "cells.parquet", published, folder / "figures")
    path = tmp_path / "made_up.yaml"
    path.write_text(yaml.safe_dump(study))
    return path, tmp_path / "results"


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """The page of a made-up study, with a table, a figure and claims."""
    return made_up_page(tmp_path_factory.mktemp("browser"))


@pytest.fixture
def driver(page):
    with visit(page) as driver:
        yield driver
