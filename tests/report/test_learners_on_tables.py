"""What the report shows of learners that take the rows themselves: ranks with tests, a page without kernels."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from rflib.files import write_table
from rflib.report.export import export
from rflib.report.figures import write_figures
from rflib.report.inference import leaders
from rflib.report.options import check_shown
from rflib.report.page import write_page
from rflib.report.tables import write_tables

from .made_up import drawn, made

ENTRY = {"title": "Learners", "metric": "error"}
LEARNERS = {"A": 1.0, "B": 1.001, "C": 1.5, "D": 1.502, "E": 2.0}


def cells_of(means, datasets=12, seeds=5, spread=0.02, metrics=("error",)):
    """Cells of learners whose errors have these ratios, with relative noise, on tables of their own sizes."""
    rng = np.random.default_rng(0)
    rows = [
        {
            **{"study": "made_up", "data": f"t{i}", "dataset": f"t{i}", "name": f"t{i}", "kernel": "none"},
            **{"kernel_id": "none", "method": method, "method_id": method, "learner": None, "s_label": ""},
            **{"s": 0.0, "at": np.nan, "n_components": 0, "seed": seed, "metric": metric},
            "value": size * mean * (1 + spread * rng.standard_normal()) ** (metric == "error"),
            **{"seconds": 0.1, "fingerprint": "0", "versions": "rflib=0", "host": "here", "peak_memory": 1e8},
        }
        for i, size in enumerate(rng.random(datasets) + 0.5)
        for method, mean in means.items()
        for metric in metrics
        for seed in range(seeds)
    ]
    return pd.DataFrame(rows)


def test_ranks_and_tests_are_those_of_scipy():
    cells = cells_of(LEARNERS)
    table = made({"type": "ranks", **ENTRY}, cells).set_index("method")
    means = cells.groupby(["dataset", "method"])["value"].mean().unstack()
    ranks = pd.Series(rankdata(means, axis=1).mean(axis=0), means.columns).sort_values()
    pd.testing.assert_series_equal(table["mean rank"], ranks, check_names=False)
    assert table["times best"].sum() == len(means)
    best = table.index[0]
    for method in table.index[1:]:
        p = wilcoxon(means[best], means[method]).pvalue
        assert table.loc[method, "p, best"].rstrip("*") == f"{p:.2g}"
        # the fifth smallest of ten p values decides: each of these is below a tenth of 5 %
        assert table.loc[method, "p, best"].endswith("*") == (method in "CDE")
    third, fourth = table.index[2:4]
    assert {third, fourth} == {"C", "D"}
    assert table.loc[third, "p, above"].endswith("*")
    assert not table.loc[fourth, "p, above"].endswith("*")


def test_a_figure_joins_what_does_not_differ():
    cells = cells_of(LEARNERS)
    axes = drawn({"type": "critical_differences", **ENTRY}, cells).axes[0]
    bars = sorted(tuple(line.get_xdata()) for line in axes.lines if line.get_linewidth() > 2)
    table = made({"type": "ranks", **ENTRY}, cells).set_index("method")["mean rank"]
    groups = [(set("AB")), (set("CD"))]
    expected = sorted((table[list(g)].min() - 0.06, table[list(g)].max() + 0.06) for g in groups)
    np.testing.assert_allclose(bars, expected)
    means = cells.groupby(["dataset", "method"])["value"].mean().unstack()
    p = friedmanchisquare(*means.to_numpy().T).pvalue
    members = sorted(tuple(line.get_xdata()) for line in axes.lines if line.get_marker() == "o")
    np.testing.assert_allclose(members, sorted(tuple(sorted(table[list(g)])) for g in groups))
    texts = [text.get_text() for text in axes.texts]
    assert f"mean rank over 12 data sets; Friedman's test: p value {p:.2g}" in texts
    assert f"{table['E']:.2f}  E" in texts


def test_a_group_need_not_be_neighbours():
    """A differs from B, which is always a little worse, and not from C, which is below B on average."""
    cells = cells_of({"A": 1.0, "B": 1.01, "C": 1.5}, datasets=14, spread=0.0)
    cells.loc[(cells["method"] == "C") & cells["dataset"].isin(["t0", "t1", "t2", "t3"]), "value"] /= 8
    a, b, c = made({"type": "ranks", **ENTRY}, cells)["mean rank"]
    axes = drawn({"type": "critical_differences", **ENTRY}, cells).axes[0]
    members = [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "o"]
    assert members == [[a, c], [b, c]]


def test_only_data_sets_with_all_methods_are_ranked():
    cells = cells_of(LEARNERS)
    cells = cells[(cells["method"] != "E") | (cells["dataset"] != "t3")]
    assert set(made({"type": "ranks", **ENTRY}, cells)["data sets"]) == {11}
    without = {"type": "ranks", **ENTRY, "methods": ["A", "B", "C", "D"]}
    assert set(made(without, cells)["data sets"]) == {12}


@pytest.mark.parametrize("chosen", ["method == 'A'", "dataset == 't1'", "metric == 'none'"])
def test_nothing_to_compare(chosen):
    cells = cells_of(LEARNERS).query(chosen)
    assert made({"type": "ranks", **ENTRY}, cells).empty
    figure = drawn({"type": "critical_differences", **ENTRY}, cells)
    assert figure.axes == []


def test_equal_learners_do_not_differ():
    cells = cells_of({"A": 1.0, "B": 1.0}, spread=0.0)
    table = made({"type": "ranks", **ENTRY}, cells)
    assert table["mean rank"].tolist() == [1.5, 1.5]
    assert table["p, best"].tolist() == ["", "1"]


def test_learners_whose_means_differ_by_rounding_are_tied():
    cells = cells_of({"A": 1.0, "B": 1.0 + 1e-12, "C": 2.0}, spread=0.0)
    assert made({"type": "ranks", **ENTRY}, cells)["mean rank"].tolist() == [1.5, 1.5, 3.0]


def test_learners_of_whom_none_is_better_differ_as_rarely_as_the_level_says():
    """In 200 draws of 4 equal learners on 12 tables, a difference is found in at most 5 % + 3 standard errors."""
    rng = np.random.default_rng(1)
    base = cells_of(dict.fromkeys("ABCD", 1.0), seeds=1, spread=0.0)
    found = 0
    for _ in range(200):
        cells = base.assign(value=rng.standard_normal(len(base)))
        found += made({"type": "ranks", **ENTRY}, cells)["p, best"].str.endswith("*").any()
    assert found / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


def test_means_side_by_side_with_the_best_in_bold(tmp_path):
    cells = cells_of({"A": 1.0, "B": 1.0, "C": 2.0}, datasets=3, spread=0.0)
    noise = np.array([1, -2, 3, -1, -1]) / 100
    cells["value"] *= 1 + noise[cells["seed"]] * np.where(cells["method"] == "B", -1, 1)
    cells = cells[(cells["method"] != "B") | (cells["dataset"] != "t2")]
    study = {
        "title": "T",
        "datasets": [{"name": f"t{i}"} for i in range(3)],
        "estimators": {label: {"type": "KernelRegressor"} for label in "ABC"},
        "tables": [{"type": "by_data_set", **ENTRY}],
    }
    write_table(tmp_path / "cells.parquet", cells)
    write_tables(study, tmp_path / "cells.parquet", tmp_path, tmp_path / "tables")
    table = pd.read_csv(next((tmp_path / "tables").glob("*learners.csv"))).set_index("data set")
    values = cells.groupby(["dataset", "method"])["value"]
    assert table.loc["t1", "C"] == pytest.approx(values.mean()["t1", "C"])
    assert table.loc["t1", "C std"] == pytest.approx(values.std()["t1", "C"])
    assert np.isnan(table.loc["t2", "B"])
    (index,) = yaml.safe_load((tmp_path / "tables/index.json").read_text())
    bold = {tuple(place) for place in index["bold"]}
    assert {(0, "A"), (0, "B"), (2, "A")} <= bold
    assert not any(method == "C" for _, method in bold)


def test_leaders_are_the_best_row_and_those_that_may_be_as_good():
    nan = np.nan
    values = np.array([[1, 1.1, 0.9], [1.02, 1.05, 0.95], [3, 3.3, 2.8], [nan, 1, 1], [0.5, nan, nan]])
    assert leaders(values).tolist() == [True, True, False, False, False]
    assert leaders(values[:, :1]).tolist() == [False, False, False, False, True]
    assert leaders(np.full((2, 3), np.nan)).tolist() == [False, False]


def test_of_rows_that_do_not_vary_only_the_least_leads():
    """Learners without chance have one value on a table with one split, however often they are repeated."""
    fixed, varying = np.full(3, 0.1), np.array([0.10, 0.12, 0.11])
    assert leaders(np.array([fixed, fixed + 0.001, varying])).tolist() == [True, False, True]
    assert leaders(np.array([fixed, fixed])).tolist() == [True, True]
    assert leaders(np.array([fixed + 0.02, varying])).tolist() == [True, True], "best varies: tested as usual"


def test_the_page_of_learners_names_no_kernel_and_what_was_not_installed(tmp_path):
    study = {
        "title": "Learners",
        "datasets": [{"name": "wine"}, {"name": "digits"}],
        "estimators": {
            "A": {"type": "KernelClassifier"},
            "B": {"type": "sklearn.svm:SVC"},
            "gone": {"type": "no_package:C", "optional": True},
        },
        "repetitions": 5,
        "tables": [{"type": "ranks", **ENTRY}, {"type": "by_data_set", "title": "Error", "metric": "error"}],
        "figures": [
            {"type": "critical_differences", **ENTRY},
            {"type": "lines", **ENTRY, "x": "learning_seconds", "front": True},
        ],
        "claims": [
            {"type": "better", "title": "A is better", "metric": "error", "method": "A", "than": "B"},
            {"type": "best", "title": "B is best", "metric": "error", "method": "B", "than": ["A"]},
        ],
    }
    check_shown(study)
    cells = cells_of({"A": 1.0, "B": 1.5}, datasets=2, metrics=("error", "accuracy", "learning_seconds"))
    names = {"t0": "wine", "t1": "digits"}
    cells = cells.assign(**{column: cells[column].map(names) for column in ("data", "dataset", "name")})
    cells = cells.assign(libraries="lightgbm=9")
    cells.loc[cells["metric"] == "accuracy", "value"] *= 0.3
    folder = tmp_path / "results/learners"
    folder.mkdir(parents=True)
    write_table(folder / "cells.parquet", cells)
    write_tables(study, folder / "cells.parquet", tmp_path, folder / "tables")
    write_figures(study, folder / "cells.parquet", tmp_path, folder / "figures")
    path = tmp_path / "learners.yaml"
    path.write_text(yaml.safe_dump(study))
    write_page([path], tmp_path / "results", tmp_path / "index.html")
    page = unescape((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert "because their files or packages are not available: gone." in page
    assert "Reduced run" not in page
    assert {"method-A", "method-B"} <= set(re.findall(r'id="([^"]*)"', page)), "cards for the legend to show"
    assert re.search(r"is not reproduced\. On (wine|digits), the mean error is \d", page)
    assert "has the best accuracy in" in page
    assert "With equal numbers of columns" not in page
    assert not re.search(r"(wine|digits), none", page)
    text = export(path, tmp_path / "results", tmp_path / "out").read_text()
    assert "Versions: lightgbm=9, rflib=0." in text
    assert "not available: gone" in text
    assert re.search(r"\n\| wine \| \*\*[\d.]+ ± [\d.]+\*\* \| [\d.]+ ± [\d.]+ \|\n", text)
