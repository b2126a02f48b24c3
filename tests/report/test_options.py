"""What a study shows is checked, with errors that name entry and key."""

import pytest

from rflib.files import write_table
from rflib.report.figures import write_figures
from rflib.report.tables import write_tables

from .made_up import ERROR, made_up_cells

GRID = {"type": "grid", "title": "T", "metric": ERROR}


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("tables", {**GRID, "type": "grids"}, r"tables\[0\] 'T': unknown type 'grids'. Did you mean 'grid'"),
        ("tables", {**GRID, "metrik": 1}, "unknown key 'metrik'. Did you mean 'metric'"),
        ("tables", {"type": "grid", "title": "T"}, "the key 'metric' is missing"),
        ("tables", {**GRID, "metric": "mistake"}, "metric: must be one of .*, got 'mistake'"),
        (
            "tables",
            {**GRID, "methods": ["GRF"]},
            "methods.0: must be one of .*, got 'GRF'. Did you mean 'GRFF'",
        ),
        (
            "tables",
            {**GRID, "methods": "GRFF"},
            "methods: must be a list of methods of the study, got 'GRFF'",
        ),
        ("tables", {**GRID, "learner": "SVM"}, "learner: unknown value 'SVM'. The study has none"),
        ("figures", {**GRID, "type": "lines", "x": "d"}, "x: must be one of .*, got 'd'"),
        ("figures", {**GRID, "type": "lines", "published": {"paper": "p"}}, "published: the key 'table' is"),
        (
            "claims",
            {**GRID, "type": "better", "method": "GORF", "than": "RFF"},
            r"claims\[0\] 'T': than: must be one of .*, got 'RFF'",
        ),
    ],
)
def test_wrong_options_are_named(key, entry, message, study, published, tmp_path):
    write_table(tmp_path / "cells.parquet", made_up_cells({"GORF": 1.0}))
    write = write_figures if key == "figures" else write_tables
    with pytest.raises(ValueError, match=message):
        write({**study, key: [entry]}, tmp_path / "cells.parquet", published, tmp_path / "out")
