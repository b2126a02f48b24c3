"""Tables, verdicts, claims, figures and the page, from cells made up for the purpose."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import ttest_ind_from_stats

from rflib.experiment.plan import plan_study
from rflib.files import write_table
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.measures.exact_measures import exact_measure
from rflib.measures.variance import variance_iid, variance_orthogonal
from rflib.report import monte_carlo
from rflib.report.cells import read_cells, select
from rflib.report.claims import check_claims
from rflib.report.curves import draw_curves
from rflib.report.export import export
from rflib.report.figures import draw, write_figures
from rflib.report.fits import draw_fits, fits
from rflib.report.inference import CLAIM_RULE
from rflib.report.liu import degrees, significance, sizes
from rflib.report.monte_carlo import densities, draw_maps
from rflib.report.numbers import columns, plain, plus_minus
from rflib.report.page import reduced, write_page
from rflib.report.provenance import warned
from rflib.report.published import p_of_difference, published_numbers, verdict
from rflib.report.standings import STANDING_RULE
from rflib.report.style import METHODS, line_style
from rflib.report.tables import grid, make_table, ranking, write_tables
from rflib.report.variance import draw_variance

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


def judged(mean, std, repetitions, ours, lower, rounding=0.0):
    """The verdict on a published number beside measured values."""
    return verdict(mean, ours, p_of_difference(mean, std, repetitions, ours, rounding), lower)


def test_verdict():
    ours = pd.Series([0.10, 0.12, 0.11, 0.09, 0.13])
    assert judged(0.11, 0.01, 10, ours, lower=True) == "agrees"
    assert judged(0.20, 0.01, 10, ours, lower=True) == "better"
    assert judged(0.20, 0.01, 10, ours, lower=False) == "worse"
    assert judged(0.01, 0.0, 10, ours, lower=True) == "worse"
    assert judged(0.01, 0.0, 10, ours[:0], lower=True) == "not run"


def test_a_published_number_is_compared_by_welchs_test():
    """Not by two standard errors, which 3 and 3 repetitions of one law exceed in 12 to 18 % of cases."""
    ours = pd.Series([0.10, 0.12, 0.11, 0.09, 0.13])
    expected = ttest_ind_from_stats(0.125, 0.01, 10, ours.mean(), ours.std(), 5, equal_var=False).pvalue
    assert p_of_difference(0.125, 0.01, 10, ours) == pytest.approx(expected, rel=1e-10)
    assert p_of_difference(0.127, 0.01, 10, ours, rounding=0.002) == pytest.approx(expected, rel=1e-10)
    draws = np.random.default_rng(0).standard_normal((2, 2000, 3))
    p = [
        p_of_difference(theirs.mean(), theirs.std(ddof=1), 3, pd.Series(mine))
        for theirs, mine in zip(*draws, strict=True)
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.05


def test_table_beside_published(study, published):
    table = make_table(study["tables"][0], made_up_cells({"GORF": 0.1, "GRFF": 0.2}), published, study)
    assert list(table["verdict"]) == ["agrees", "better", "worse", "not run"]
    assert table["ours"][0] == pytest.approx(0.1)
    assert table["ours std"][0] == pytest.approx(0.001)
    assert list(table["repetitions"]) == [10, 10, 10, 0]
    assert table["difference"][2] == pytest.approx(0.05)


def test_published_percentages_s_as_text_and_last_digits(published):
    pd.DataFrame(
        {
            "table": "A",
            "kernel": "k",
            "dataset": "usps",
            "method": ["RM", "exact"],
            "s": [512, None],
            "metric": "accuracy_percent",
            "mean": ["87.29", "96.2"],
            "std": [0.87, None],
        }
    ).to_csv(published / "percent.csv", index=False)
    numbers = published_numbers(published, "percent", "A", "accuracy")
    assert list(numbers["mean"]) == [0.8729, 0.962]
    assert numbers["std"].iloc[0] == 0.0087
    assert list(numbers["rounding"]) == pytest.approx([0.00005, 0.0005])
    assert pd.isna(numbers["s"].iloc[1])
    for wrong, message in (
        (("none", "A", "accuracy"), "no file .*There are mine, percent"),
        (("percent", "B", "accuracy"), "has no table 'B'; it has 'A'"),
        (("percent", "A", "rmse"), "no numbers of the metric 'rmse'"),
    ):
        with pytest.raises(ValueError, match=message):
            published_numbers(published, *wrong)


def test_a_number_printed_without_deviation_agrees_within_its_last_digit():
    ours = pd.Series([0.9623])
    assert judged(0.962, np.nan, 10, ours, lower=False, rounding=0.0005) == "agrees"
    assert judged(0.962, np.nan, 10, ours, lower=False, rounding=0.00005) == "better"


def test_grid():
    cells = made_up_cells({"B": 0.3, "A": 0.1})
    table = grid({"metric": ERROR}, cells)
    assert list(table["method"]) == ["B", "A"] * 2, "the order of the cells"
    assert list(table.columns[3:]) == ["D = 64", "D = 64 std", "D = 128", "D = 128 std"]
    assert table["D = 64"][1] == pytest.approx(0.1)
    assert table["D = 64 std"][1] == pytest.approx(0.001)
    assert list(grid({"metric": ERROR, "by": "s"}, cells).columns[3::2]) == ["s = d", "s = 2d"]


def test_ranking():
    ranks = ranking({"metric": ERROR}, made_up_cells({"B": 0.3, "A": 0.1, "C": 0.2}))
    assert list(ranks["method"]) == ["A", "C", "B"]
    assert list(ranks["mean rank"]) == [1, 2, 3]
    assert list(ranks["of methods"]) == [3, 3, 3]
    assert list(ranks["best in"]) == [4, 0, 0]
    assert set(ranks["strongest on"]) == {"all alike"}
    cells = made_up_cells({"B": 0.3, "A": 0.1})
    cells.loc[(cells["dataset"] == "usps") & (cells["method"] == "A"), "value"] = 1.0
    assert list(ranking({"metric": ERROR}, cells)["weakest on"]) == ["letter, delta (2)", "usps, delta (2)"]


def test_two_budgets_are_not_pooled(study, published):
    """A value of s stands for two numbers of columns there; beside the paper belongs the paper's."""
    cells = made_up_cells({"GORF": 0.1})
    wide = cells.assign(n_components=cells["n_components"] * 2, value=9.0)
    both = pd.concat([cells, wide], ignore_index=True)
    table = make_table(study["tables"][0], both, published, study)
    assert list(table["repetitions"]) == [10, 10, 10, 0]
    assert table["ours"][0] == pytest.approx(0.1)
    assert list(grid({"metric": ERROR}, both).columns[3::2]) == ["D = 64", "D = 128", "D = 256"]


def test_a_cell_with_two_values_of_s_counts_once():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    twice = pd.concat([cells, cells.assign(s_label="other")], ignore_index=True)
    pd.testing.assert_frame_equal(grid({"metric": ERROR}, twice), grid({"metric": ERROR}, cells))


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
        grid(study["tables"][1], both)
    assert len(grid({**study["tables"][1], "learner": "SVM"}, both)) == 2


def verdicts(study, means, published, **claim):
    """The verdicts of the study's claim, changed by ``claim``, on made-up cells."""
    claims = [{**study["claims"][0], **claim}]
    cells = means if isinstance(means, pd.DataFrame) else made_up_cells(means)
    found = check_claims({**study, "claims": claims}, cells, published)
    return found["verdict"][0], found["evidence"][0]


def test_claims_flip_with_the_results(study, published):
    good, evidence = verdicts(study, {"GORF": 0.1, "GRFF": 0.2}, published)
    assert good == "reproduced"
    assert "better in 4 of 4 cells" in evidence
    assert "margin +50.0% to +50.0%" in evidence
    assert verdicts(study, {"GORF": 0.2, "GRFF": 0.1}, published)[0] == "not reproduced"
    assert verdicts(study, {"GORF": 0.1}, published)[0] == "no data"


def test_a_margin_beside_rounding_is_a_multiple(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 1e-15}, spread=1e-17)
    (evidence,) = check_claims(study, cells, published)["evidence"]
    assert "margin -1e+14 times to -1e+14 times" in evidence


def test_one_bad_cell_makes_a_claim_fail(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    bad = (cells["method"] == "GORF") & (cells["dataset"] == "usps") & (cells["n_components"] == 64)
    cells.loc[bad, "value"] = 0.5
    assert verdicts(study, cells, published)[0] == "not reproduced"
    assert verdicts(study, cells, published, share=0.75)[0] == "reproduced"


def test_a_failure_within_the_noise_is_undecided(study, published):
    cells = made_up_cells({"GORF": 0.2001, "GRFF": 0.2})
    noise = np.random.default_rng(1).standard_normal(len(cells)) * 0.01
    verdict_, evidence = verdicts(study, cells.assign(value=cells["value"] + noise), published)
    assert verdict_ == "undecided"
    assert "refuted in 0" in evidence


@pytest.mark.parametrize(("factor", "expected"), [(1.9, "reproduced"), (2.1, "not reproduced")])
def test_a_claim_of_a_factor(study, published, factor, expected):
    assert verdicts(study, {"GORF": 0.1, "GRFF": 0.2}, published, factor=factor)[0] == expected


def test_higher_accuracy_is_better(study, published):
    cells = made_up_cells({"GORF": 0.9, "GRFF": 0.8}).assign(metric="accuracy")
    assert verdicts(study, cells, published, metric="accuracy")[0] == "reproduced"
    assert verdicts(study, cells, published, metric="accuracy", factor=1.2)[0] == "not reproduced"


def test_equal(study, published):
    claim = {"type": "equal", "within": 0.02}
    assert verdicts(study, {"GORF": 0.1, "GRFF": 0.101}, published, **claim)[0] == "reproduced"
    assert verdicts(study, {"GORF": 0.1, "GRFF": 0.11}, published, **claim)[0] == "not reproduced"


def test_steadier(study, published):
    cells = made_up_cells({"GORF": 0.5, "GRFF": 0.2})
    wide = cells["method"] == "GRFF"
    spread = cells.assign(value=cells["value"].where(~wide, 0.2 + 10 * (cells["value"] - 0.2)))
    found, evidence = verdicts(study, spread, published, type="steadier")
    assert found == "reproduced"
    assert "steadier in 4 of 4 cells (100% claimed)" in evidence
    assert "margin +90.0% to +90.0%" in evidence
    turned = verdicts(study, spread, published, type="steadier", method="GRFF", than="GORF")
    assert turned[0] == "not reproduced"


def test_equal_spreads_of_a_skewed_law_are_not_called_different(study, published):
    """The F-test, made for normal values, refutes the claim in most studies of 16 such cells."""
    cells = pd.concat(
        [made_up_cells({"GORF": 0.5, "GRFF": 0.2}).assign(kernel=f"k{i}", data=f"d{i}") for i in range(4)]
    )
    skewed = cells.assign(value=np.exp(np.random.default_rng(0).standard_normal(len(cells))))
    found, evidence = verdicts(study, skewed, published, type="steadier")
    assert found == "undecided"
    assert "refuted in 0" in evidence


def test_ties_by_construction_do_not_count(study, published):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    cells.loc[(cells["method"] == "GORF") & (cells["dataset"] == "usps"), "value"] += 0.2
    assert verdicts(study, cells, published)[0] == "not reproduced"
    tie = {"datasets": ["usps"], "s": ["d", "2d"], "reason": "Both draw the same law."}
    found, evidence = verdicts(study, cells, published, ties=[tie])
    assert found == "reproduced"
    assert "better in 2 of 2 cells" in evidence
    assert evidence.endswith("; 2 left out: Both draw the same law")
    everything = {"kernels": ["delta"], "reason": "Both draw the same law"}
    assert verdicts(study, cells, published, ties=[everything])[0] == "no data"
    for wrong, message in (
        ({"datasets": ["usps"]}, "ties: 'reason' is a required property"),
        ({"kernels": ["delt"], "reason": "r"}, "ties: unknown 'delt'. Did you mean 'delta'"),
        ({"method": "GORF", "reason": "r"}, "ties: Additional properties are not allowed"),
    ):
        with pytest.raises(ValueError, match=message):
            verdicts(study, cells, published, ties=[wrong])


def test_an_explanation_must_hold_itself(study, published):
    reason = {
        "text": "They differ little",
        "type": "equal",
        "metric": ERROR,
        "method": "GORF",
        "than": "GRFF",
    }
    failed = {"GORF": 0.201, "GRFF": 0.2}
    verdict_, evidence = verdicts(study, failed, published, explanation={**reason, "within": 0.01})
    assert verdict_ == "explained"
    assert "Explained: They differ little (equal in 4 of 4 cells" in evidence
    verdict_, evidence = verdicts(study, failed, published, explanation={**reason, "within": 0.001})
    assert verdict_ == "not reproduced"
    assert "The explanation offered is not reproduced" in evidence
    with pytest.raises(ValueError, match="claim 'GORF wins': explanation: the key 'within' is missing"):
        verdicts(study, failed, published, explanation=reason)


def test_agreement_with_a_published_table(study, published):
    claim = {"type": "agrees", "title": "As printed", "share": 0.3}
    claim |= {k: study["tables"][0][k] for k in ("metric", "paper", "table", "kernels", "methods")}
    cells = made_up_cells({"GORF": 0.1})
    found = check_claims({**study, "claims": [claim]}, cells, published)
    assert found["verdict"][0] == "reproduced"
    assert "agrees in 1 of 3 published cells (30% claimed), better in 1, worse in 1" in found["evidence"][0]
    assert "1 more were not run" in found["evidence"][0]
    worse = cells.assign(value=cells["value"] + 1)
    assert check_claims({**study, "claims": [claim]}, worse, published)["verdict"][0] == "not reproduced"


def test_agreement_is_judged_over_all_published_cells_together(study, tmp_path):
    """Of 80 cells that agree, tests at 5 % tell about four apart: no refutation, but one outlier is."""
    methods = [f"m{i}" for i in range(20)]
    cells = made_up_cells(dict.fromkeys(methods, 0.1))
    keys = cells[["dataset", "method", "s_label"]].drop_duplicates()
    error = 0.001 * np.sqrt(2 / 10)
    drawn = pd.DataFrame(
        {
            **{"paper": "mine", "table": "T", "kernel": "k", "metric": ERROR, "std": 0.001},
            **{"dataset": keys["dataset"], "method": keys["method"], "s": keys["s_label"]},
            "mean": 0.1 + error * np.random.default_rng(0).standard_normal(len(keys)),
        }
    )
    claim = {"type": "agrees", "title": "As printed", "metric": ERROR, "paper": "mine", "table": "T"}
    claim |= {"kernels": {"delta": "k"}, "methods": dict(zip(methods, methods, strict=True))}
    study = {**study, "methods": {method: {"type": "RFF"} for method in methods}, "claims": [claim]}
    for outlier, expected in ((0.0, "reproduced"), (0.01, "not reproduced")):
        drawn.iloc[0, drawn.columns.get_loc("mean")] += outlier
        drawn.to_csv(tmp_path / "mine.csv", index=False)
        ((found, evidence),) = check_claims(study, cells, tmp_path)[["verdict", "evidence"]].to_numpy()
        assert found == expected
        assert "agrees in 80" not in evidence


GRID = {"type": "grid", "title": "T", "metric": ERROR}


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("tables", {**GRID, "type": "grids"}, r"tables\[0\] 'T': unknown type 'grids'. Did you mean 'grid'"),
        ("tables", {**GRID, "metrik": 1}, "unknown key 'metrik'. Did you mean 'metric'"),
        ("tables", {"type": "grid", "title": "T"}, "the key 'metric' is missing"),
        ("tables", {**GRID, "metric": "error"}, "metric: unknown 'error'"),
        ("tables", {**GRID, "methods": ["GRF"]}, "methods: unknown 'GRF'. Did you mean 'GRFF'"),
        ("tables", {**GRID, "methods": "GRFF"}, "methods: 'GRFF' is not of type 'array'"),
        ("tables", {**GRID, "learner": "SVM"}, "learner: unknown 'SVM'"),
        ("figures", {**GRID, "type": "lines", "x": "d"}, "x: unknown 'd'"),
        ("figures", {**GRID, "type": "lines", "published": {"paper": "p"}}, "published: the key 'table' is"),
        (
            "claims",
            {**GRID, "type": "better", "method": "GORF", "than": "RFF"},
            r"claims\[0\] 'T': than: unknown 'RFF'",
        ),
    ],
)
def test_wrong_options_are_named(key, entry, message, study, published, tmp_path):
    write_table(tmp_path / "cells.parquet", made_up_cells({"GORF": 1.0}))
    write = write_figures if key == "figures" else write_tables
    with pytest.raises(ValueError, match=message):
        write({**study, key: [entry]}, tmp_path / "cells.parquet", published, tmp_path / "out")


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [
        (0.04197, 0.007301, "0.0420 ± 0.0073"),
        (12.5, 0.25, "12.50 ± 0.25"),
        (1.2345e-5, 3.2e-7, "(1.234 ± 0.032)e-5"),
        (0.5, 0.0, "0.5"),
        (0.5, np.nan, "0.5"),
        (np.nan, np.nan, ""),
        (1, 1e-12, "1 ± 1e-12"),
    ],
)
def test_plus_minus(mean, std, text):
    assert plus_minus(mean, std) == text


def test_plain():
    assert [plain(x) for x in (10, 3.0, 0.123456, np.nan)] == ["10", "3", "0.1235", ""]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, 2.1389, np.nan], ["1.00", "2.14", ""]),
        ([-0.01381, 0.00267], ["-0.0138", "0.0027"]),
        ([10.0, 0.0], ["10", "0"]),
        ([0.1333, 0.0001653], ["0.1333", "0.0001653"]),
        ([np.nan, np.nan], ["", ""]),
    ],
)
def test_a_column_has_equally_many_decimals(values, texts):
    assert columns(pd.DataFrame({"x": values}))[0].texts == texts


def test_columns_join_mean_and_deviation_and_keep_the_sorting_keys():
    shown = columns(pd.DataFrame({"m": ["a"], "ours": [0.1], "ours std": [0.02]}))
    assert [(c.name, c.texts, c.keys) for c in shown] == [
        ("m", ["a"], None),
        ("ours", ["0.100 ± 0.020"], [0.1]),
    ]


def test_figures_are_the_same_to_the_byte(study, published, tmp_path):
    study["figures"] += [
        {
            "type": "lines",
            "title": "With published",
            "metric": ERROR,
            "x": "s",
            "published": {k: study["tables"][0][k] for k in ("paper", "table", "kernels", "methods")},
        },
        {"type": "lines", "title": "Nothing there", "metric": "rmse", "log": True},
    ]
    write_table(tmp_path / "cells.parquet", made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
    for folder in ("a", "b"):
        write_figures(study, tmp_path / "cells.parquet", published, tmp_path / folder)
    names = sorted(path.name for path in (tmp_path / "a").glob("*.svg"))
    assert names == ["00_error.svg", "01_with_published.svg", "02_nothing_there.svg"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_error_against_seconds(study, published, tmp_path):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    times = cells.assign(metric="transform_seconds", value=cells["n_components"] / 1e5)
    write_table(tmp_path / "cells.parquet", pd.concat([cells, times]))
    entry = {"type": "lines", "title": "E", "metric": ERROR, "x": "transform_seconds", "log": True}
    write_figures({**study, "figures": [entry]}, tmp_path / "cells.parquet", published, tmp_path / "out")
    assert (tmp_path / "out" / "00_e.svg").stat().st_size > 10_000


def test_a_method_has_one_style_everywhere():
    assert line_style("GORF") == line_style("GORF")
    assert line_style("GORF frame")["color"] == line_style("GORF")["color"]
    assert line_style("GORF frame") != line_style("GORF")
    assert line_style("of mine") == line_style("of mine")
    alias = {"RM", "TS", "leverage", "surrogate", "SLS-RFF"}
    assert len({str(line_style(name)) for name in METHODS if name not in alias}) == len(METHODS) - len(alias)


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


def test_page(results, tmp_path):
    path, folder = results
    absent = tmp_path / "absent.yaml"
    write_page([path, absent], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "A &lt;script&gt;alert(1)&lt;/script&gt; title" in html
    assert "Reduced run</strong> 10 of 20 repetitions" in html
    for method in ("RFF", "MVORF", "TensorSketch", "Nystroem"):
        assert method in html
    assert '<td class="n best" data-key="0.1' in html
    assert "4 comparisons won, 0 level, 0 lost" in html
    assert CLAIM_RULE in unescape(html)
    assert STANDING_RULE in unescape(html)
    for verdict_ in ("agrees", "better", "worse", "not run", "reproduced"):
        assert f">{verdict_}</span>" in html


def test_page_loads_nothing_from_elsewhere(results, tmp_path):
    path, folder = results
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    sources = re.findall(r"""(?:src|href)\s*=\s*["']([^"']+)""", html)
    assert sources
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert "url(http" not in html


def test_a_metric_without_cells_is_said_to_be_absent(study, published, tmp_path):
    write_table(tmp_path / "cells.parquet", made_up_cells({"GORF": 0.1}))
    absent = [{**entry, "metric": "rmse"} for entry in study["tables"][1:]]
    out = tmp_path / "results" / "made_up"
    study = {**study, "tables": absent, "claims": [], "figures": [{**study["figures"][0], "metric": "rmse"}]}
    write_tables(study, tmp_path / "cells.parquet", published, out / "tables")
    write_figures(study, tmp_path / "cells.parquet", published, out / "figures")
    (tmp_path / "cells.parquet").rename(out / "cells.parquet")
    (tmp_path / "made_up.yaml").write_text(yaml.safe_dump(study))
    write_page([tmp_path / "made_up.yaml"], tmp_path / "results", tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert html.count("No rows: nothing of this was run.") >= 2


def test_page_shows_the_commands_of_the_logs_and_escapes_them(results, tmp_path):
    path, folder = results
    for step, name in (("features", "b.log"), ("errors", "b/rows.log"), ("errors", "c/rows.log")):
        log = folder / "logs" / step / "letter.unit_norm/DeltaGaussian/GORF" / name
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"rflib {step} --kernel '<b>' --block {name}\nmore\n")
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "python -m rflib features --kernel &#39;&lt;b&gt;&#39; --block b.log" in html
    assert "--block b/rows.log" in html
    assert "c/rows.log" not in html, "one block is enough"
    assert "no log" in html, "of the other methods"


def test_page_tells_a_run_of_fewer_rows(results, tmp_path):
    path, folder = results
    cells = pd.read_parquet(folder / "made_up/cells.parquet")
    cells["data"] += ".max_train=300"
    write_table(folder / "made_up/cells.parquet", cells)
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Reduced run</strong> 10 of 20 repetitions and fewer rows of letter, usps" in html


def test_page_lists_the_warnings_of_cells_by_kind(results, tmp_path):
    path, folder = results
    cells = pd.read_parquet(folder / "made_up/cells.parquet")
    some = (cells["method"] == "GORF") & (cells["seed"] < 3)
    text = cells["seed"].map("RangeWarning: {} rows lie <b>beyond</b>\nConvergenceWarning: max_iter".format)
    cells["warnings"] = text.where(some, "")
    write_table(folder / "made_up/cells.parquet", cells)
    found = warned(cells).set_index("warning")
    assert list(found.index) == [
        "RangeWarning: 0 rows lie <b>beyond</b>",
        "ConvergenceWarning: max_iter",
    ]
    assert list(found["cells"]) == [12, 12], "two data sets, two numbers of columns, three seeds"
    assert found["data sets"].iloc[0] == "letter, usps"
    assert found["methods"].iloc[0] == "GORF"
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Warnings: 2 kinds" in html
    assert "0 rows lie &lt;b&gt;beyond&lt;/b&gt;" in html


def test_page_of_an_incomplete_run_says_what_failed(results, tmp_path):
    path, folder = results
    failed = [{"job": "features", "log": "logs/a.log", "message": "error: <b>bad</b>"}]
    write_page([path], folder, tmp_path / "partial.html", partial={"missing": 3, "failed": failed})
    html = (tmp_path / "partial.html").read_text(encoding="utf-8")
    assert "<title>Incomplete: " in html
    assert "3 files of results are missing" in html
    assert "<td>error: &lt;b&gt;bad&lt;/b&gt;</td>" in html


def test_page_without_results_says_so(tmp_path):
    with pytest.raises(ValueError, match="holds no cells of any study"):
        write_page([tmp_path / "none.yaml"], tmp_path, tmp_path / "index.html")


def test_export(results, tmp_path):
    path, folder = results
    page = export(path, folder, tmp_path / "out").read_text(encoding="utf-8")
    assert "| letter | delta | GORF | GORF | d | 0.1 ± 0.001 | 0.1000 ± 0.0010 | 10 |" in page
    assert (tmp_path / "out/made_up_00_error.svg").exists()
    assert "80 cells with 10 repetitions" in page
    assert CLAIM_RULE in page


def curve(cells, values):
    """Cells of a metric that is a curve: the made-up ones at several places."""
    return pd.concat([cells.assign(at=float(at), value=value) for at, value in values.items()])


def test_curves_and_single_values_of_a_metric_are_apart(study):
    cells = made_up_cells({"GORF": 0.1})
    both = pd.concat([cells, curve(cells, {1: 5.0, 2: 6.0})])
    entry = {"title": "t", "metric": ERROR}
    assert set(select(both, entry)["value"].round(1)) == {0.1}
    assert set(select(both, entry, curves=True)["value"]) == {5.0, 6.0}


def test_curves_show_the_mean_and_range_of_the_largest_columns(study):
    cells = curve(made_up_cells({"GORF": 0.1, "GRFF": 0.2}), {1: 1.0, 2: -np.inf})
    cells.loc[cells["n_components"] == 64, "value"] = 7.0
    cells.loc[(cells["at"] == 1) & (cells["seed"] == 0) & (cells["n_components"] == 128), "value"] = 2.0
    figure = draw_curves({"title": "t", "metric": ERROR}, cells)
    panels = [axes for axes in figure.axes if axes.lines]
    assert [axes.get_title() for axes in panels] == ["letter", "usps"]
    for line in panels[0].lines:
        np.testing.assert_allclose(line.get_ydata(), [1.1, np.nan])
    for wanted, title in ((64, "letter"), (100, "letter, here D = 64")):
        narrow = draw_curves({"title": "t", "metric": ERROR, "columns": wanted}, cells)
        np.testing.assert_allclose(narrow.axes[0].lines[0].get_ydata(), [7.0, 7.0])
        assert narrow.axes[0].get_title() == title
    assert draw_curves({"title": "t", "metric": "accuracy"}, cells).texts[0].get_text() == "No results yet"


@pytest.mark.parametrize(
    ("kernels", "datasets", "shape"),
    [(1, 2, (1, 2)), (1, 4, (2, 2)), (3, 1, (1, 3)), (1, 9, (3, 3)), (2, 3, (2, 3))],
)
def test_panels_fill_rows_that_can_be_read(kernels, datasets, shape, published):
    cells = made_up_cells({"GORF": 0.1})
    copies = [
        cells.assign(kernel=f"k{k}", dataset=f"d{d}", name=f"d{d}", data=f"d{d}")
        for k in range(kernels)
        for d in range(datasets)
    ]
    figure = draw({"title": "t", "metric": ERROR}, pd.concat(copies), published)
    assert figure.axes[0].get_gridspec().get_geometry() == shape


def test_variance_figure_shows_the_formulas():
    kernels = {"delta": {"type": "DeltaGaussian"}, "poly": {"type": "SphericalPolynomial", "a": 3, "p": 1}}
    figure = draw_variance({"kernels": ["delta", "poly"], "dimensions": [4], "zmax": 3}, kernels)
    blocks = figure.axes[0].lines[0]
    z = blocks.get_xdata()
    measure = exact_measure(DeltaGaussian(), 4)
    expected = 4 * (variance_orthogonal(measure, z, 4, 4) - variance_iid(measure, z, 4, 4))
    np.testing.assert_allclose(blocks.get_ydata(), expected)
    assert [axes.get_title() for axes in figure.axes] == ["delta", "poly"]
    assert figure.axes[1].lines[0].get_xdata()[-1] == 2.0


def test_fits_stand_beside_their_bound():
    table = fits({"a": [4], "dimensions": [256], "orders": [3, 20]})
    np.testing.assert_allclose(table["L, best measure"], [4.72e-5, 1.39e-5], rtol=2e-3)
    np.testing.assert_allclose(table["bound"][1], 105 / 4096 * np.sqrt(np.pi / 2) * 4 / 20**2.5)
    assert (table["L, best measure"] <= table["L, ten Gaussians"]).all()
    assert (table["L, ten Gaussians"] <= table["L, one Gaussian"]).all()
    assert list(table["L below the bound"]) == ["holds", "holds"]


def test_fit_figure_shows_kernel_fit_and_density():
    figure = draw_fits({"a": 2, "dimension": 16, "orders": [3]})
    kernel, gaussians, best = (line.get_ydata() for line in figure.axes[0].lines)
    assert 0 < np.abs(best - kernel).max() < 0.1
    np.testing.assert_allclose(gaussians, best, atol=0.01)
    radii, density = figure.axes[1].lines[0].get_data()
    assert np.trapezoid(density, radii) == pytest.approx(1, abs=0.01)


def test_a_smaller_run_says_in_what(study):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2}, seeds=3).assign(n_components=64)
    datasets = [{"name": name, "preprocess": "unit_norm"} for name in ("letter", "usps")]
    plan = plan_study("a", {**study, "datasets": datasets, "s": [16], "repetitions": 3}, {})
    assert reduced(cells, plan, []) == ""
    assert reduced(cells[cells["dataset"] == "usps"], plan, ["letter"]) == ""
    assert reduced(cells[cells["seed"] < 2], plan, []) == "2 of 3 repetitions"
    fewer = cells[(cells["dataset"] == "usps") & (cells["method"] == "GORF")]
    assert reduced(fewer, plan, []).startswith("1 of 4 combinations of data set")


def test_pooled_panels(study, published):
    cells = made_up_cells({"GORF": 0.1})
    entry = {"type": "lines", "title": "t", "metric": ERROR, "pooled": "all of them"}
    assert [axes.get_title() for axes in draw(entry, cells, published).axes] == ["all of them, delta"]


def test_marks_of_another_learner_lie_on_the_curve():
    cells = curve(made_up_cells({"GORF": 0.1}), {1: 1.0, 2: 2.0}).assign(learner="path")
    marks = curve(made_up_cells({"GORF": 0.1}), {1.5: 1.4}).assign(learner="grid")
    entry = {"title": "t", "metric": ERROR, "learner": "path", "marks": "grid", "x_label": "ridge"}
    axes = draw_curves(entry, pd.concat([cells, marks])).axes[0]
    line, points = axes.lines
    np.testing.assert_allclose(line.get_xydata(), [[1, 1], [2, 2]])
    np.testing.assert_allclose(points.get_xydata(), [[1.5, 1.4]])
    assert axes.get_xlabel() == "ridge"


def liu_cells(gains):
    """Accuracies on EEG at s = d: a baseline, and methods that are better by a gain, over ten repetitions."""
    cells = made_up_cells({"RFF": 0.7} | {method: 0.7 + gain for method, gain in gains.items()})
    cells = cells[(cells["dataset"] == "usps") & (cells["s_label"] == "d")]
    noise = np.random.default_rng(3).standard_normal(len(cells)) * 0.001
    return cells.assign(metric="accuracy", dataset="eeg", name="eeg", value=cells["value"] + noise)


SIGNIFICANCE = {
    "type": "significance",
    "title": "t",
    "metric": "accuracy",
    "baseline": "RFF",
    "paper": "liu2020",
    "table": "Table 3",
    "kernels": {"delta": "gaussian(sigma=1)"},
    "methods": {"RFF": "RFF", "SLS": "SLS-RFF"},
    "datasets": {"eeg": "EEG"},
}


@pytest.mark.parametrize(("gain", "mark"), [(0.05, "•"), (-0.05, "")])
def test_marks_of_significance(gain, mark):
    table = significance(SIGNIFICANCE, liu_cells({"SLS": gain}), PUBLISHED_FOLDER)
    row = table[(table["data set"] == "EEG") & (table["s"] == "d")].set_index("method")
    assert row["our mark"].to_dict() == {"RFF": "", "SLS": mark}
    assert row["published"].round(4).to_dict() == {"RFF": 0.6845, "SLS": 0.6862}
    marked = table[table["published mark"] == "•"]
    assert set(marked["published as"]) == {"SLS-RFF"}
    assert ("EEG", "4d") in set(zip(marked["data set"], marked["s"], strict=True))


def test_degrees_count_each_repetition_once():
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.1})
    both = [
        cells.assign(metric=f"{kind}_degrees", value=v)
        for kind, v in (("effective", 4.0), ("surrogate", 9.0))
    ]
    table = degrees({"title": "t", "type": "degrees"}, pd.concat(both))
    np.testing.assert_allclose(table["D log D"], 9 * np.log(9))
    assert list(table["d_K"]) == [4.0, 4.0]


def test_sizes_are_those_of_the_registry():
    table = sizes(pd.DataFrame({"name": ["eeg", "magic04", "cod_rna"]}))
    assert table["training rows"].tolist() == [7488, 9510, 59535]
    assert table["columns d"].tolist() == [14, 10, 8]


def test_densities_tell_a_wrong_pair(monkeypatch):
    kernels = {"G": {"type": "Gaussian", "sigma": 1.5}, "L": {"type": "Laplacian"}, "C": {"type": "Cauchy"}}
    entry = {"kernels": list(kernels), "dimension": 2, "draws": 20_000}
    assert set(densities(entry, kernels)["verdict of the pair"]) == {"holds"}
    right = monte_carlo.exact_measure
    monkeypatch.setattr(monte_carlo, "exact_measure", lambda kernel, d: right(Gaussian(1.0), d))
    assert "fails" in set(densities(entry, kernels)["verdict of the pair"])


def test_map_figure_measures_what_the_formulas_say():
    """400 draws: a variance has a relative error of about 7 %; beyond 5 of these in 50 points: 3e-5."""
    entry = {"kernels": ["G"], "dimension": 1, "columns": 16, "zmax": 3, "draws": 400}
    axes = draw_maps(entry, {"G": {"type": "Gaussian", "sigma": 1.0}}).axes[0]
    for formula, measured in zip(axes.lines[::2], axes.lines[1::2], strict=True):
        expected = formula.get_ydata()
        np.testing.assert_allclose(measured.get_ydata(), expected, rtol=0.4, atol=1e-12)
