"""Tables, from cells made up for the purpose."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rflib.files import write_table
from rflib.kernels.gaussian import Gaussian
from rflib.measures import exact_measures
from rflib.report.cell_table import read_cells
from rflib.report.kind import Results, Table, kinds

from .made_up import ERROR, made, made_up_cells

GRID = {"type": "grid", "metric": ERROR}
RANKING = {"type": "ranking", "metric": ERROR}


def test_grid():
    cells = made_up_cells({"B": 0.3, "A": 0.1})
    table = made(GRID, cells)
    assert list(table["method"]) == ["B", "A"] * 2, "the order of the cells"
    assert list(table.columns[3:]) == ["D = 64", "D = 64 std", "D = 128", "D = 128 std"]
    assert table["D = 64"][1] == pytest.approx(0.1)
    assert table["D = 64 std"][1] == pytest.approx(0.001)
    assert list(made({"type": "grid", "metric": ERROR, "by": "s"}, cells).columns[3::2]) == [
        "s = d",
        "s = 2d",
    ]


def test_ranking():
    ranks = made(RANKING, made_up_cells({"B": 0.3, "A": 0.1, "C": 0.2}))
    assert list(ranks["method"]) == ["A", "C", "B"]
    assert list(ranks["mean rank"]) == [1, 2, 3]
    assert list(ranks["methods ranked"]) == [3, 3, 3]
    assert list(ranks["times best"]) == [4, 0, 0]
    assert set(ranks["strongest on"]) == {"all equal"}
    cells = made_up_cells({"B": 0.3, "A": 0.1})
    cells.loc[(cells["dataset"] == "usps") & (cells["method"] == "A"), "value"] = 1.0
    assert list(made(RANKING, cells)["weakest on"]) == [
        "letter, delta (2)",
        "usps, delta (2)",
    ]


def test_two_budgets_are_not_pooled(study, published):
    """A value of s stands for two numbers of columns there; beside the paper belongs the paper's."""
    cells = made_up_cells({"GORF": 0.1})
    wide = cells.assign(n_components=cells["n_components"] * 2, value=9.0)
    both = pd.concat([cells, wide], ignore_index=True)
    table = made(study["tables"][0], both, published, study)
    assert list(table["repetitions"]) == [10, 10, 10, 0]
    assert table["ours"][0] == pytest.approx(0.1)
    assert list(made(GRID, both).columns[3::2]) == [
        "D = 64",
        "D = 128",
        "D = 256",
    ]


def test_a_cell_with_two_values_of_s_counts_once():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    twice = pd.concat([cells, cells.assign(s_label="other")], ignore_index=True)
    pd.testing.assert_frame_equal(made(GRID, twice), made(GRID, cells))


def test_cells_are_read_in_the_studys_order_and_by_full_name_where_needed(study, tmp_path):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2}).drop(columns="name")
    other = cells[cells["dataset"] == "usps"].assign(data="usps.raw")
    write_table(tmp_path / "cells.parquet", pd.concat([cells, other]).sample(frac=1, random_state=0))
    read = read_cells(tmp_path / "cells.parquet", study)
    assert list(dict.fromkeys(read["method"])) == ["GRFF", "GORF"]
    assert list(dict.fromkeys(read["dataset"])) == ["letter", "usps.raw", "usps.unit_norm"]
    assert set(read["name"]) == {"letter", "usps"}


def test_learners_are_not_pooled(study):
    cells = made_up_cells({"GORF": 0.1})
    both = pd.concat([cells.assign(learner="SVM"), cells.assign(learner="KRR")])
    with pytest.raises(ValueError, match="'By columns': learner: SVM and KRR have the metric"):
        made(study["tables"][1], both)
    assert len(made({**study["tables"][1], "learner": "SVM"}, both)) == 2


def test_fits_stand_beside_their_bound():
    table = made({"type": "fits", "a": [4], "dimensions": [256], "orders": [3, 20]})
    np.testing.assert_allclose(table["L, best measure"], [4.72e-5, 1.39e-5], rtol=2e-3)
    np.testing.assert_allclose(table["bound"][1], 105 / 4096 * np.sqrt(np.pi / 2) * 4 / 20**2.5)
    assert (table["L, best measure"] <= table["L, ten Gaussians"]).all()
    assert (table["L, ten Gaussians"] <= table["L, one Gaussian"]).all()
    assert list(table["L below the bound"]) == ["yes", "yes"]


def test_degrees_count_each_repetition_once():
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.1})
    both = [
        cells.assign(metric=f"{kind}_degrees", value=v)
        for kind, v in (("effective", 4.0), ("surrogate", 9.0))
    ]
    table = made({"title": "t", "type": "degrees"}, pd.concat(both))
    np.testing.assert_allclose(table["D log D"], 9 * np.log(9))
    assert list(table["d_K"]) == [4.0, 4.0]


def test_sizes_are_those_of_the_registry():
    table = made({"type": "sizes"}, pd.DataFrame({"name": ["eeg", "magic04", "cod_rna"]}))
    assert table["training rows"].tolist() == [7488, 9510, 59535]
    assert table["columns d"].tolist() == [14, 10, 8]


def test_densities_tell_a_wrong_pair(monkeypatch):
    kernels = {"G": {"type": "Gaussian", "sigma": 1.5}, "L": {"type": "Laplacian"}, "C": {"type": "Cauchy"}}
    entry = {"type": "densities", "kernels": list(kernels), "dimension": 2, "draws": 20_000}
    assert set(made(entry, study={"kernels": kernels})["match"]) == {"yes"}
    right = exact_measures.exact_measure
    monkeypatch.setattr(exact_measures, "exact_measure", lambda kernel, d: right(Gaussian(1.0), d))
    assert "no" in set(made(entry, study={"kernels": kernels})["match"])


def bold(cells, **entry):
    entry = {"type": "grid", "title": "t", "metric": ERROR, **entry}
    kind = kinds(Table)["grid"]
    table = made(entry, cells)
    results = Results({}, cells, Path())
    return table, {(table["method"][row], column) for row, column in kind.bold(entry, results, table)}


def test_bold_are_the_best_and_what_is_not_significantly_worse():
    cells = made_up_cells({"A": 0.1, "B": 0.2}).query("dataset == 'letter'")
    twin = cells[cells["method"] == "A"].assign(method="like A")
    twin["value"] += 0.0005 * (-1.0) ** twin["seed"] + 1e-6
    table, found = bold(pd.concat([cells, twin]))
    assert list(table["method"]) == ["A", "B", "like A"]
    assert found == {(method, column) for method in ("A", "like A") for column in ("D = 64", "D = 128")}
    higher = pd.concat([cells, twin]).assign(metric="accuracy", learner="SVM")
    assert {method for method, _ in bold(higher, metric="accuracy")[1]} == {"B"}
    one = pd.concat([cells, twin]).query("seed == 0")
    assert {method for method, _ in bold(one)[1]} == {"A"}, "one repetition tells nothing more"


def test_the_exact_kernel_has_the_same_number_in_each_column_and_is_not_bold():
    cells = made_up_cells({"A": 0.1, "B": 0.2}).query("dataset == 'letter'")
    exact = cells[(cells["method"] == "A") & (cells["n_components"] == 64)].assign(
        method="exact kernel", n_components=np.nan, s_label=None, s=np.nan, value=0.01
    )
    table, found = bold(pd.concat([cells, exact]))
    row = table.set_index("method").loc["exact kernel"]
    assert [row["D = 64"], row["D = 128"]] == [0.01, 0.01]
    assert list(table.columns) == [
        "data set",
        "kernel",
        "method",
        "D = 64",
        "D = 64 std",
        "D = 128",
        "D = 128 std",
    ]
    assert {method for method, _ in found} == {"A"}
