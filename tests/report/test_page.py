"""The page and the export, from results made up for the purpose."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
import yaml

from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.plan import plan_study
from rflib.files import write_rows, write_table
from rflib.report.cell_table import repetitions_by_size
from rflib.report.claim_rule import CLAIM_RULE, VERDICTS
from rflib.report.export import code, export
from rflib.report.figures import write_figures
from rflib.report.method_cards import cards
from rflib.report.page import reduced, unshown, write_page
from rflib.report.provenance import warned
from rflib.report.standings import STANDING_RULE
from rflib.report.tables import write_tables
from rflib.report.wording import repeated

from .made_up import ERROR, made_up_cells


def test_page(results, tmp_path):
    path, folder = results
    absent = tmp_path / "absent.yaml"
    write_page([path, absent], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "A &lt;script&gt;alert(1)&lt;/script&gt; title" in html
    assert "Reduced run</strong> This run has 10 of 20 repetitions" in html
    for method in ("RFF", "MVORF", "TensorSketch", "Nystroem"):
        assert method in html
    assert '<td class="n best" data-key="0.1' in html
    assert "Kernel error: 4 pairings won, 0 tied, 0 lost" in html
    assert CLAIM_RULE in unescape(html)
    meaning = f"reproduced</span></dt><dd>{VERDICTS['reproduced']}</dd>"
    assert meaning in unescape(html), "each verdict that is there, and no other"
    assert VERDICTS["mixed"] not in unescape(html)
    assert "In one comparison: 1.0" in html
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
    choices = {"type": "choices", "title": "Choices", "cost": "map_seconds", "budgets": [1], "than": ["GORF"]}
    absent = [{**entry, "metric": "rmse"} for entry in (*study["tables"][1:], choices)]
    out = tmp_path / "results" / "made_up"
    study = {**study, "tables": absent, "claims": [], "figures": [{**study["figures"][0], "metric": "rmse"}]}
    write_tables(study, tmp_path / "cells.parquet", published, out / "tables")
    write_figures(study, tmp_path / "cells.parquet", published, out / "figures")
    (tmp_path / "cells.parquet").rename(out / "cells.parquet")
    (tmp_path / "made_up.yaml").write_text(yaml.safe_dump(study))
    write_page([tmp_path / "made_up.yaml"], tmp_path / "results", tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "This figure is not drawn, because nothing that it shows was run." in html
    assert "<figure" not in html
    text = "This table has no rows, because nothing that it shows was run."
    assert html.count(text) >= len(absent)
    page = export(tmp_path / "made_up.yaml", tmp_path / "results", tmp_path / "exported")
    markdown = page.read_text(encoding="utf-8")
    assert markdown.count(text) >= len(absent)
    assert "This figure is not drawn, because nothing that it shows was run." in markdown
    assert not list(page.parent.glob("*.svg"))


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
    assert "This run has 10 of 20 repetitions, fewer rows of letter, usps and " in html


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
    for missing, said in ((3, "3 result files are missing"), (1, "1 result file is missing")):
        write_page([path], folder, tmp_path / "partial.html", partial={"missing": missing, "failed": failed})
        html = (tmp_path / "partial.html").read_text(encoding="utf-8")
        assert "<title>Incomplete: " in html
        assert said in html
    row = re.search(r'<tr role="row" id="failed-0">(.*?)</tr>', html, re.DOTALL)[1]
    assert re.findall(r"<td.*?>(.*)</td>", row) == [
        *("features", "error: &lt;b&gt;bad&lt;/b&gt;", "logs/a.log"),
    ]


@pytest.mark.parametrize(
    ("seeds", "said"), [(1, "2 cells in 1 repetition."), (2, "4 cells in 2 repetitions.")]
)
def test_numbers_agree_with_their_nouns(seeds, said, study, published, tmp_path):
    cells = made_up_cells({"GORF": 0.1}, seeds=2)
    cells = cells[(cells["dataset"] == "letter") & (cells["seed"] < seeds)]
    out = tmp_path / "results" / "made_up"
    write_tables(study, _written(out, cells), published, out / "tables")
    write_figures(study, out / "cells.parquet", published, out / "figures")
    (tmp_path / "made_up.yaml").write_text(yaml.safe_dump(study))
    write_page([tmp_path / "made_up.yaml"], tmp_path / "results", tmp_path / "index.html")
    assert said in (tmp_path / "index.html").read_text(encoding="utf-8")
    page = export(tmp_path / "made_up.yaml", tmp_path / "results", tmp_path / "exported")
    assert said in page.read_text(encoding="utf-8")


def _written(folder, cells):
    folder.mkdir(parents=True)
    write_table(folder / "cells.parquet", cells)
    return folder / "cells.parquet"


def test_a_complete_page_has_its_findings_as_a_text_beside_it(results, tmp_path):
    path, folder = results
    write_page([path], folder, tmp_path / "index.html")
    text = (tmp_path / "findings.txt").read_text(encoding="utf-8")
    title, *found = text.splitlines()
    assert title == "A <script>alert(1)</script> title"
    assert found[0].startswith(
        "- Verdicts: The only claim is reproduced: “GORF wins”. Of 3 published numbers"
    )
    assert [line.split(":")[0] for line in found if line[0] == "-"] == [
        "- Verdicts",
        "- Best map",
        "- Surprise",
    ]
    assert max(map(len, found)) <= 100


def test_s_is_defined_where_it_stands(results, tmp_path):
    path, folder = results
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    meaning = "s is a quarter of the number of columns D: all methods have D = 4 s. d is the number of "
    titles = [part.split("<")[0] for part in re.split(r"<h3 id=[^>]*>|<h3>", html)[1:] if meaning in part]
    assert titles == ["Error", "Claims", "Beside"], "where s is an axis, a size of comparisons, and a column"


def test_page_without_results_says_so(tmp_path):
    with pytest.raises(ValueError, match="holds no cells of any study"):
        write_page([tmp_path / "none.yaml"], tmp_path, tmp_path / "index.html")


def test_export(results, tmp_path):
    path, folder = results
    page = export(path, folder, tmp_path / "out").read_text(encoding="utf-8")
    assert "| letter | delta | GORF | GORF | d | 0.1 ± 0.001 | 0.1000 ± 0.0010 | 10 |" in page
    assert (tmp_path / "out/made_up_00_error.svg").exists()
    assert "80 cells in 10 repetitions" in page
    assert f"\n- *reproduced*: {VERDICTS['reproduced']}\n\n{CLAIM_RULE}\n" in page
    assert "| verdict | claim | evidence | smallest detectable difference | source |" in page
    assert "| In one comparison: 1.0" in page


def test_export_of_an_interrupted_run_has_what_is_complete_and_says_so(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    del study["tables"][0], study["claims"]
    study |= {
        "kernels": {"G": {"type": "Gaussian"}},
        "methods": {"RFF": {"type": "RFF"}, "ORF": {"type": "ORF"}},
    }
    study |= {"s": [4], "figures": [], "repetitions": 2}
    path, results = tmp_path / "mine.yaml", tmp_path / "results"
    path.write_text(yaml.safe_dump(study))
    results.mkdir()
    with pytest.raises(ValueError, match=r"mine holds no cells\. Run the study first"):
        export(path, results, tmp_path / "out")
    plan = plan_study("mine", study, {})
    first = divided([plan], results)[0].wanted[0]
    row = {"n_components": 16, "metric": ERROR, "value": 0.25, "seconds": 1.0}
    write_rows(results / first.job.path, [{**row, "seed": seed} for seed in range(2)], fingerprint="code")
    text = export(path, results, tmp_path / "out").read_text(encoding="utf-8")
    assert "**Interrupted run.** 1 of the 4 files with results are complete." in text
    assert "**Reduced run.** It has 1 of 2 data sets (without usps) and 1 of 4 combinations" in text
    assert "| letter | G | RFF | **0.25** |" in text
    assert not (results / "mine").exists()


def test_export_writes_a_long_table_to_a_file_of_its_own(results, tmp_path, monkeypatch):
    monkeypatch.setattr("rflib.report.export._LONG", 3)
    path, folder = results
    page = export(path, folder, tmp_path / "out").read_text(encoding="utf-8")
    assert "| letter | delta | GORF |" not in page
    rows = (tmp_path / "out/made_up_00_beside.csv").read_text(encoding="utf-8").splitlines()
    assert f"[The table](made_up_00_beside.csv) has {len(rows) - 1} rows and is a CSV file." in page
    assert rows[1].startswith("letter,delta,GORF,GORF,d,0.1 ± 0.001,0.1000 ± 0.0010,10,")


def test_a_smaller_run_says_in_what(study):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2}, seeds=3).assign(n_components=64)
    datasets = [{"name": name, "preprocess": "unit_norm"} for name in ("letter", "usps")]
    plan = plan_study("a", {**study, "datasets": datasets, "s": [16], "repetitions": 3}, {})
    assert reduced(cells, plan, []) == ""
    assert reduced(cells[cells["dataset"] == "usps"], plan, ["letter"]) == ""
    assert reduced(cells[cells["seed"] < 2], plan, []) == "2 of 3 repetitions"
    unequal = cells[(cells["seed"] < 2) & ((cells["seed"] < 1) | (cells["dataset"] == "usps"))]
    assert reduced(unequal, plan, []) == "2 of 3 repetitions (1 on letter)"
    fewer = cells[(cells["dataset"] == "usps") & (cells["method"] == "GORF")]
    assert reduced(fewer, plan, []).startswith(
        "1 of 2 data sets (without letter) and 1 of 4 combinations of data"
    )
    assert reduced(fewer, plan, ["letter"]).startswith("1 of 2 combinations of data set")


def test_repetitions_are_counted_for_each_number_of_columns(study, results, tmp_path):
    cells = pd.concat([made_up_cells({"GORF": 0.1}, seeds=4).assign(n_components=n) for n in (32, 64, 128)])
    few = cells[(cells["n_components"] < 64) | (cells["seed"] < 2)]
    assert repeated(repetitions_by_size(cells)) == "4 repetitions"
    assert repeated(repetitions_by_size(few)) == "4 repetitions (2 with D = 64 and 128)"
    exact = cells.assign(method="exact kernel", n_components=np.nan)
    assert repeated(repetitions_by_size(exact)) == "4 repetitions"
    assert repeated({n: 1 + (n < 5) for n in range(1, 10)}) == "2 repetitions (1 with D = 5 to 9)"
    datasets = [{"name": name, "preprocess": "unit_norm"} for name in ("letter", "usps")]
    about = {**study, "datasets": datasets, "methods": {"GORF": {"type": "GORF"}}, "budget": "n_components"}
    plan = plan_study("a", {**about, "s": [32, 64, 128], "repetitions": 4}, {})
    assert reduced(cells, plan, []) == ""
    assert reduced(few, plan, []) == "4 of 4 repetitions (2 with D = 64 and 128)"
    asked_for = plan_study("a", {**about, "s": [32, [64, 128]], "repetitions": 4}, {})
    assert "repetitions" not in reduced(cells, asked_for, [])
    page = tmp_path / "page.html"
    write_page([results[0]], results[1], page)
    assert "80 cells in 10 repetitions. Data sets" in page.read_text(encoding="utf-8")


def test_a_reduced_run_names_the_tables_and_figures_of_which_it_has_nothing(results, tmp_path):
    path, folder = results
    assert unshown(folder / "made_up") == ""
    write_page([path], folder, tmp_path / "all.html")
    assert "Nothing was run of" not in (tmp_path / "all.html").read_text(encoding="utf-8")
    index = json.loads((folder / "made_up/figures/index.json").read_text())
    (folder / "made_up/figures/index.json").write_text(json.dumps([{**index[0], "empty": True}]))
    table = pd.read_csv(folder / "made_up/tables/00_beside.csv")
    table.assign(verdict="not run").to_csv(folder / "made_up/tables/00_beside.csv", index=False)
    pd.DataFrame().to_csv(folder / "made_up/tables/02_ranks.csv")
    said = "Nothing was run of 3 of its 4 tables and figures: Beside, Ranks and Error."
    assert unshown(folder / "made_up") == said
    write_page([path], folder, tmp_path / "some.html")
    assert f". {said} Its verdicts" in (tmp_path / "some.html").read_text(encoding="utf-8")
    assert f". {said}" in export(path, folder, tmp_path / "out").read_text(encoding="utf-8")


def test_a_run_without_a_learner_says_so(study):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2}, seeds=3).assign(n_components=64)
    datasets = [{"name": name, "preprocess": "unit_norm"} for name in ("letter", "usps")]
    learners = {"SVM": {"type": "LinearSVM", "task": "classification", "exact": {"type": "ExactKernelSVC"}}}
    asked = {**study, "datasets": datasets, "s": [16], "repetitions": 3, "learners": learners}
    plan = plan_study("a", asked, {})
    exact = cells[cells["method"] == "GORF"].assign(method="exact kernel", learner="SVM")
    for run in (cells, pd.concat([cells, exact])):
        assert reduced(run, plan, []).startswith("no result of SVM")
    assert "SVM" not in reduced(pd.concat([cells, cells.assign(learner="SVM")]), plan, [])


def test_results_whose_study_file_is_gone_are_named(results, tmp_path):
    path, folder = results
    write_page([path], folder, tmp_path / "index.html")
    assert "Not shown" not in (tmp_path / "index.html").read_text(encoding="utf-8")
    (folder / "lost <b>").mkdir()
    write_table(folder / "lost <b>/cells.parquet", made_up_cells({"GORF": 0.1}))
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Results exist for lost &lt;b&gt;, but this report does not include that study:" in html


def test_only_methods_of_the_studies_have_open_cards(results, tmp_path):
    path, folder = results
    write_page([path], folder, tmp_path / "index.html")
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    shown, _, others = html.partition('<details id="other-methods">')
    assert re.findall(r'id="method-(\w+)"', shown) == ["GRFF", "GORF"]
    assert 'id="method-TensorSketch"' in others


def test_formulas_are_typeset():
    found = {card["type"]: card for card in cards({})}
    for name, card in found.items():
        assert "$" not in card["what"], name
        assert "\\" not in card["what"] + card["formula"], name
    assert found["QMC"]["formula"].startswith('<math display="block">')
    assert "<msub><mi>v</mi><mi>f</mi></msub>" in found["QMC"]["formula"]
    assert cards({"s": {"methods": {"x": {"type": "a.b:<C>"}}}})[-1]["name"] == "<C>"


def test_export_says_which_cells_older_code_made(study):
    datasets = [{"name": name, "preprocess": "unit_norm"} for name in ("letter", "usps")]
    plan = plan_study("a", {**study, "datasets": datasets, "s": [16], "budget": "n_components"}, {})
    made = {(wanted.dataset, wanted.method): fingerprint(*wanted.job.sources) for wanted in plan.wanted}
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    today = pd.Series([made[row] for row in zip(cells["dataset"], cells["method"], strict=True)], cells.index)
    cells = cells.assign(commit="abc", fingerprint=today)
    for column, name in (("kernel_id", "kernel_id"), ("method_id", "method_id")):
        ids = {wanted.method: wanted.job.names[name] for wanted in plan.wanted}
        cells[column] = cells["method"].map(ids)
    now = "The cells were made by the code of commit abc. The code that decides them has not changed since"
    assert code(plan, cells).startswith(now)
    cells.loc[cells["method"] == "GORF", "fingerprint"] = "0123"
    assert "**Older code.** The code that decides 40 of the 80 cells has changed" in code(plan, cells)
    assert code(plan, cells).endswith("since they were made: GORF.")
    again = (cells["method"] == "GORF") & (cells["seed"] < 5)
    cells.loc[again, "fingerprint"] = today[again]
    cells.loc[again, ["before", "change"]] = "0123", 0.0
    cells.loc[again & (cells["seed"] == 0), "change"] = 1e-3
    assert "decides 20 of the 80 cells has changed" in code(plan, cells)
    assert code(plan, cells).endswith(
        "Of 20 other cells that the same code had made and today's code has made anew, 16 have the same values to "
        "six digits."
    )
