"""The three sentences about a study, on made-up tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rflib.report.findings import Shown, findings
from rflib.report.kind import Results

from .made_up import ERROR, made_up_cells

NONE = pd.DataFrame({"verdict": []})


def found(cells, *, claims=(), verdicts=(), tables=()):
    titles = [claim["title"] for claim in claims]
    shown = Shown(pd.DataFrame({"verdict": list(verdicts), "claim": titles}), list(tables), "claims", "first")
    return findings(Results({"claims": list(claims), "datasets": [], "s": []}, cells, Path()), shown)


def better(title, method, than, **more):
    return {"type": "better", "title": title, "metric": ERROR, "method": method, "than": than, **more}


def published(verdicts, ours):
    table = pd.DataFrame({"verdict": verdicts, "ours": ours, "published": 1.0, "data set": "letter"})
    table = table.assign(kernel="delta", method="GORF", s=["d", "2d", np.nan][: len(table)])
    return ("place", {"type": "published", "metric": ERROR}, table)


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["reproduced"], "The only claim is reproduced: “0”."),
        (["no data"], "The only claim is without data."),
        (["reproduced"] * 3, "All 3 claims are reproduced: “0”, “1” and 1 more."),
        (["mixed"] * 5, "All 5 claims are mixed: “0”, “1” and 3 more."),
        (
            ["not reproduced", "reproduced", "mixed", "reproduced", "undecided"],
            "Of 5 claims, 2 are reproduced, 1 is mixed, 1 is undecided and 1 is not reproduced. "
            "Not reproduced: “0”.",
        ),
    ],
)
def test_verdicts_of_claims_are_counted_and_name_claims_those_that_fail_first(verdicts, sentence):
    claims = [better(str(i), "A", "B") for i in range(len(verdicts))]
    first = found(made_up_cells({"A": 0.1, "B": 0.2}), claims=claims, verdicts=verdicts)[0]
    assert (first.text, first.evidence) == (sentence, "claims")


def test_verdicts_of_published_numbers_are_counted():
    table = published(["agrees", "better", "not run"], [1.0, 0.5, np.nan])
    first = found(made_up_cells({"A": 0.1}), tables=[table])[0]
    assert first.text == (
        "Of 2 published numbers that were measured again, ours agrees with 1, is better than 1 and worse than 0."
    )
    assert first.evidence == "place"
    none = found(made_up_cells({"A": 0.1}), tables=[published(["not run"], [np.nan])])[0]
    assert none.text == "None of the published numbers was measured."


def test_a_study_without_claims_and_numbers_says_so():
    first, best, surprise = found(made_up_cells({"A": 0.1}))
    assert first.text == "The study checks no claims and no published numbers."
    assert best.text == "No two methods were run with the same number of columns, so none is best."
    assert surprise.text == "There is no surprise, because nothing was compared."
    assert {first.evidence, best.evidence, surprise.evidence} == {"first"}


def test_the_best_map_is_the_one_that_is_best_most_often():
    cells = made_up_cells({"A": 0.1, "B": 0.2, "C": 0.3})
    usps_64 = (cells["dataset"] == "usps") & (cells["n_components"] == 64)
    cells.loc[usps_64 & (cells["method"] == "B"), "value"] -= 0.15
    ranking = ("ranks", {"type": "ranking", "metric": ERROR}, NONE.drop(columns="verdict"))
    best, surprise = found(cells, tables=[ranking])[1:]
    assert best.text == (
        "With equal numbers of columns, A has the best relative error (Frobenius) in 3 of 4 comparisons, "
        "and B in 1."
    )
    assert best.evidence == "ranks"
    assert surprise.text == (
        "The largest surprise: on usps, delta, D = 64, B is 2 times better than A by relative error (Frobenius)."
    )
    assert surprise.evidence == "standings"


def test_a_map_that_is_exact_somewhere_is_no_surprise():
    cells = made_up_cells({"A": 0.1, "B": 0.2, "C": 0.3})
    usps_64 = (cells["dataset"] == "usps") & (cells["n_components"] == 64)
    cells.loc[usps_64 & (cells["method"] == "B"), "value"] *= 1e-14
    cells.loc[usps_64 & (cells["method"] == "C"), "value"] -= 0.25
    assert "D = 64, C is 2 times better than A" in found(cells)[2].text


def test_higher_accuracy_is_better():
    cells = made_up_cells({"A": 0.1, "B": 0.2}).assign(metric="accuracy", learner="SVM")
    assert "B has the best accuracy with SVM in all 4 comparisons." in found(cells)[1].text


def test_without_a_significant_loss_both_counts_are_shown_and_what_could_have_been_found():
    cells = made_up_cells({"A": 0.1, "B": 0.2}, spread=0.01)
    surprise = found(cells)[2]
    counted = (
        "By relative error (Frobenius), A is better in {} of 4 pairings with other methods and worse in {}"
    )
    detectable = " Smallest detectable loss: in one comparison: 1."
    assert surprise.text.startswith(f"{counted.format(4, 0)}.{detectable}")
    worse = (cells["dataset"] == "usps") & (cells["n_components"] == 64) & (cells["method"] == "A")
    noise = np.random.default_rng(0).standard_normal(len(cells)) * 0.2 * worse
    cells["value"] += worse * 0.11 + noise - noise[worse].mean() * worse
    surprise = found(cells)[2]
    assert surprise.text.startswith(
        f"{counted.format(3, 1)}, by up to 1.05 times, which may be noise.{detectable}"
    )


def test_one_repetition_allows_no_test():
    cells = made_up_cells({"A": 0.1, "B": 0.2})
    surprise = found(cells[cells["seed"] == 0])[2]
    assert surprise.text == "There is no surprise, because one repetition allows no test."


def test_the_surprise_is_the_claim_that_is_contradicted_most():
    cells = made_up_cells({"A": 0.1, "B": 0.2, "C": 0.8})
    cells.loc[cells["dataset"].eq("letter") & cells["s"].eq(16) & cells["method"].eq("C"), "value"] += 0.1
    claims = [better("B beats A", "B", "A"), better("C beats A", "C", "A"), better("A beats B", "A", "B")]
    surprise = found(cells, claims=claims, verdicts=["not reproduced", "explained", "reproduced"])[2]
    assert surprise.text == (
        "The largest surprise: “C beats A” is contradicted but explained. On letter, delta, s = d, the mean "
        "relative error (Frobenius) is 0.9 with C and 0.1 with A."
    )
    assert surprise.evidence == "claims-1"
    surprise = found(cells, claims=claims, verdicts=["mixed", "undecided", "reproduced"])[2]
    assert surprise.text.startswith("The largest surprise: “B beats A” is mixed. On letter, delta, s = ")
    numbers = {"type": "agrees", "title": "As printed", "metric": ERROR}
    surprise = found(cells, claims=[numbers], verdicts=["not reproduced"])[2]
    assert surprise.text == "The largest surprise: “As printed” is not reproduced."


def test_without_a_broken_claim_the_surprise_is_a_published_number():
    table = published(["better", "worse", "agrees"], [0.8, 3.0, 9.0])
    surprise = found(made_up_cells({"GORF": 0.1}), tables=[table])[2]
    assert surprise.text == (
        "The largest difference from a published number is worse: on letter, delta, s = 2d, the relative error "
        "(Frobenius) of GORF is 3 instead of 1."
    )
    assert surprise.evidence == "place"
