"""What moved between two results: judged by seed, corrected for the number of comparisons, and shown on a page."""

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By

from rflib.cli import main
from rflib.files import read_table, write_table
from rflib.report.changes import changes, compare_reports

from .browser import accessibility, complaints, needs_axe, needs_browser, requested, visible, visit
from .made_up import made_up_cells


def outcomes(found):
    return found["outcome"].value_counts().to_dict()


def test_equal_results_are_unchanged():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    assert outcomes(changes(cells, cells)) == {"unchanged": 8}
    rounded = cells.assign(value=cells["value"] * (1 + 1e-13))
    assert outcomes(changes(cells, rounded)) == {"unchanged": 8}


def test_what_moves_beyond_noise_is_better_or_worse():
    old = made_up_cells({"A": 0.1, "B": 0.2})
    factor = old["method"].map({"A": 0.9, "B": 1.0}).where(old["dataset"] == "usps", 1.0)
    found = changes(old, old.assign(value=old["value"] * factor))
    assert outcomes(found) == {"unchanged": 6, "better": 2}
    better = found[found["outcome"] == "better"]
    assert set(better["method"]) == {"A"}
    np.testing.assert_allclose(better["change"], 0.1)
    np.testing.assert_allclose(better["new"], 0.09)
    accuracy = old.assign(metric="accuracy", learner="SVM")
    assert outcomes(changes(accuracy, accuracy.assign(value=accuracy["value"] * factor))) == {
        **{"unchanged": 6, "worse": 2}
    }


def test_a_change_of_nothing_is_found_in_few_studies():
    """1,000 studies of 8 means of 5 repetitions: more than 72 with a false alarm have probability 1e-3."""
    old = made_up_cells({"A": 0.1, "B": 0.2}, seeds=5)
    rng = np.random.default_rng(0)
    copies = [old.assign(learner=f"l{i}") for i in range(1000)]
    old = pd.concat(copies, ignore_index=True)
    found = changes(old, old.assign(value=old["value"] + rng.standard_normal(len(old))))
    wrong = found[found["outcome"].isin(["better", "worse"])]
    assert wrong["learner"].nunique() <= 72
    assert outcomes(found)["within noise"] > 7900


def test_cells_are_paired_by_seed_and_only_where_both_have_them():
    old = made_up_cells({"A": 0.1, "B": 0.2})
    new = old[(old["method"] == "A") & (old["seed"] >= 4)].sample(frac=1.0, random_state=0)
    found = changes(old, new)
    assert outcomes(found) == {"unchanged": 4}
    assert set(found["n"]) == {6}
    one = changes(old[old["seed"] == 0], old[old["seed"] == 0].assign(value=9.0))
    assert outcomes(one) == {"within noise": 8}, "one repetition proves nothing"


def test_seconds_and_curves_are_not_compared():
    cells = made_up_cells({"A": 0.1})
    seconds, curve = cells.assign(metric="transform_seconds"), cells.assign(at=1.0)
    assert changes(pd.concat([cells, seconds, curve]), cells)["n"].sum() == 40


@pytest.fixture
def folders(tmp_path):
    """Two results of a study, of which the second has a better GORF and another verdict of a claim."""
    old = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    new = old.assign(value=old["value"] * old["method"].map({"GORF": 0.8, "GRFF": 1.0}))
    for name, cells, verdict in (("old", old, "undecided"), ("new", new, "reproduced")):
        folder = tmp_path / name / "made_up"
        (folder / "tables").mkdir(parents=True)
        write_table(folder / "cells.parquet", cells)
        claims = pd.DataFrame({"verdict": [verdict, "no data"], "claim": ["GORF <b>wins</b>", "C"]})
        claims.to_csv(folder / "tables/claims.csv", index=False)
    return tmp_path / "old", tmp_path / "new"


def test_the_page_of_changes(folders, tmp_path, capsys):
    main(["compare-reports", *map(str, folders), "--out", str(tmp_path / "changes.html")])
    assert capsys.readouterr().out == (
        "4 means became better and 0 worse; 4 of 8 means are unchanged and 0 moved within noise. "
        "1 verdict changed.\n"
    )
    html = (tmp_path / "changes.html").read_text(encoding="utf-8")
    assert "GORF &lt;b&gt;wins&lt;/b&gt;" in html
    assert "<td>undecided</td>" in html
    compare_reports(folders[0], folders[0], tmp_path / "same.html")
    html = (tmp_path / "same.html").read_text(encoding="utf-8")
    assert "No mean changed: all 8 are the same in both results." in html
    assert "Verdicts that are not the same" not in html


def test_a_few_repetitions_are_said_to_show_large_changes_only(folders, tmp_path):
    old, new = (folder / "made_up/cells.parquet" for folder in folders)
    cells = read_table(old)
    cells = cells[cells["seed"] < 2]
    write_table(old, cells)
    write_table(new, cells.assign(value=cells["value"] * cells["seed"].map({0: 1.01, 1: 0.99})))
    assert compare_reports(*folders, tmp_path / "changes.html") == (
        "No mean moved beyond noise: 0 of 8 means are unchanged and 8 moved within noise. "
        "With 2 repetitions, only large changes are beyond noise. 1 verdict changed."
    )


def test_folders_without_a_common_study_are_refused(folders, tmp_path):
    with pytest.raises(ValueError, match="hold cells of no study in common"):
        compare_reports(folders[0], tmp_path, tmp_path / "changes.html")


@pytest.mark.parametrize("swapped", [False, True])
def test_a_folder_that_is_missing_is_named(folders, tmp_path, swapped):
    pair = [folders[0], tmp_path / "nowhere"]
    with pytest.raises(ValueError, match=r"There is no folder \S*nowhere\. Give two folders of results\."):
        compare_reports(*(reversed(pair) if swapped else pair), tmp_path / "changes.html")


@needs_browser
@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_of_changes_in_a_browser(folders, tmp_path, theme):
    compare_reports(*folders, tmp_path / "changes.html")
    with visit(tmp_path / "changes.html") as driver:
        assert complaints(driver) == []
        assert requested(driver) == []
        assert len(visible(driver, "table[data-name='Moved means of made_up'] tbody tr")) == 4
        driver.find_element(By.CSS_SELECTOR, "button.method").click()
        assert "one=made_up%2FGORF" in driver.current_url
        root = driver.find_element(By.TAG_NAME, "html")
        assert root.get_property("scrollWidth") == root.get_property("clientWidth")
        assert accessibility(driver, theme)["faults"] == []
