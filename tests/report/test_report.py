"""Tables, verdicts, claims, figures and the page, from cells made up for the purpose."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from rflib.report.claims import check_claims
from rflib.report.export import export
from rflib.report.figures import write_figures
from rflib.report.page import write_page
from rflib.report.style import line_style
from rflib.report.tables import grid, make_table, ranking, verdict, write_tables

ERROR = "relative_frobenius_error"


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
                            "kernel": "delta",
                            "kernel_id": "DeltaGaussian",
                            "method": method,
                            "method_id": method,
                            "learner": None,
                            "s_label": s_label,
                            "s": s,
                            "n_components": n,
                            "seed": seed,
                            "metric": ERROR,
                            "value": mean + noise[seed],
                            "seconds": 0.1,
                            "fingerprint": "0123",
                            "versions": "rflib=0",
                            "host": "here",
                        }
                    )
    return pd.DataFrame(rows)


@pytest.fixture
def study():
    return {
        "title": "A <script>alert(1)</script> title",
        "text": "Text & more.",
        "datasets": [{"name": "letter"}],
        "kernels": {"delta": {"type": "DeltaGaussian"}},
        "methods": {"GORF": {"type": "GORF"}, "GRFF": {"type": "GRFF"}},
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


def test_verdict():
    ours = pd.Series([0.10, 0.12, 0.11, 0.09, 0.13])
    assert verdict(0.11, 0.01, 10, ours, lower=True) == "agrees"
    assert verdict(0.20, 0.01, 10, ours, lower=True) == "better"
    assert verdict(0.20, 0.01, 10, ours, lower=False) == "worse"
    assert verdict(0.01, 0.0, 10, ours, lower=True) == "worse"
    assert verdict(0.01, 0.0, 10, ours[:0], lower=True) == "not run"
    # two standard errors of the difference of the means, to the last digit
    error = np.sqrt(0.01**2 / 10 + ours.var() / 5)
    assert verdict(ours.mean() + 1.999 * error, 0.01, 10, ours, lower=True) == "agrees"
    assert verdict(ours.mean() + 2.001 * error, 0.01, 10, ours, lower=True) == "better"


def test_table_beside_published(study, published):
    table = make_table(study["tables"][0], made_up_cells({"GORF": 0.1, "GRFF": 0.2}), published)
    assert list(table["verdict"]) == ["agrees", "better", "worse", "not run"]
    assert table["ours"][0] == pytest.approx(0.1)
    assert table["ours std"][0] == pytest.approx(0.001)
    assert list(table["repetitions"]) == [10, 10, 10, 0]
    assert table["difference"][2] == pytest.approx(0.05)


def test_grid_and_ranking():
    cells = made_up_cells({"A": 0.1, "B": 0.3, "C": 0.2})
    assert grid({"metric": ERROR}, cells)["D = 64"][0] == "0.1 ± 0.001"
    ranks = ranking({"metric": ERROR}, cells)
    assert list(ranks["method"]) == ["A", "C", "B"]
    assert list(ranks["mean rank"]) == [1, 2, 3]
    assert list(ranks["best in"]) == [4, 0, 0]


def test_claims_flip_with_the_results(study):
    kept = check_claims(study["claims"], made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
    assert list(kept["verdict"]) == ["reproduced"]
    assert "better in 4 of 4 cells" in kept["evidence"][0]
    assert list(check_claims(study["claims"], made_up_cells({"GORF": 0.2, "GRFF": 0.1}))["verdict"]) == [
        "not reproduced"
    ]
    assert list(check_claims(study["claims"], made_up_cells({"GORF": 0.1}))["verdict"]) == ["no data"]


def test_one_bad_cell_makes_a_claim_fail(study):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    bad = (cells["method"] == "GORF") & (cells["dataset"] == "usps") & (cells["n_components"] == 64)
    cells.loc[bad, "value"] = 0.5
    assert check_claims(study["claims"], cells)["verdict"][0] == "not reproduced"
    most = [{**study["claims"][0], "share": 0.75}]
    assert check_claims(most, cells)["verdict"][0] == "reproduced"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "grids", "title": "T", "metric": ERROR}, "unknown type 'grids'"),
        ({"type": "grid", "title": "T", "metrik": ERROR}, "unknown key 'metrik', did you mean 'metric'"),
        ({"type": "grid", "title": "T"}, "needs the key 'metric'"),
        ({"type": "grid", "title": "T", "metric": "error"}, "unknown metric 'error'"),
    ],
)
def test_wrong_options_are_named(entry, message, study, published, tmp_path):
    made_up_cells({"A": 1.0}).to_parquet(tmp_path / "cells.parquet")
    with pytest.raises(ValueError, match=message):
        write_tables({**study, "tables": [entry]}, tmp_path / "cells.parquet", published, tmp_path / "tables")


def test_figures_are_the_same_to_the_byte(study, published, tmp_path):
    made_up_cells({"GORF": 0.1, "GRFF": 0.2, "mine": 0.3}).to_parquet(tmp_path / "cells.parquet")
    for folder in ("a", "b"):
        write_figures(study, tmp_path / "cells.parquet", published, tmp_path / folder)
    first, second = ((tmp_path / folder / "00_error.svg").read_bytes() for folder in ("a", "b"))
    assert first == second
    assert first.startswith(b"<?xml")


def test_a_method_has_one_style_everywhere():
    assert line_style("GORF") == line_style("GORF")
    assert line_style("GORF frame")["color"] == line_style("GORF")["color"]
    assert line_style("GORF frame") != line_style("GORF")
    assert line_style("of mine") == line_style("of mine")


@pytest.fixture
def results(study, published, tmp_path):
    folder = tmp_path / "results" / "made_up"
    folder.mkdir(parents=True)
    made_up_cells({"GORF": 0.1, "GRFF": 0.2}).to_parquet(folder / "cells.parquet")
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
    assert "reduced: 10 of 20 repetitions" in html
    for method in ("RFF", "MVORF", "TensorSketch", "Nystroem"):
        assert method in html
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


def test_page_without_results_says_so(tmp_path):
    with pytest.raises(ValueError, match="holds no cells of any study"):
        write_page([tmp_path / "none.yaml"], tmp_path, tmp_path / "index.html")


def test_export(results, tmp_path):
    path, folder = results
    page = export(path, folder, tmp_path / "out").read_text(encoding="utf-8")
    assert "| letter | delta | GORF | d | 0.1 |" in page
    assert (tmp_path / "out/made_up_00_error.svg").exists()
    assert "80 cells with 10 repetitions" in page
