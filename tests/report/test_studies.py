"""The study files: every table, figure and claim has a known type, right keys, and labels that the study has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from rflib.experiment.grids import kernels_of, methods_of
from rflib.experiment.plan import EXACT, plan_study
from rflib.experiment.specs import build_kernel, build_map
from rflib.experiment.studies import load_study
from rflib.report.claims import check_claims
from rflib.report.kind import Results
from rflib.report.kinds.published import published_numbers
from rflib.report.options import check_shown

ROOT = Path(__file__).parents[2]
STUDIES = sorted((ROOT / "workflow/studies").glob("*.yaml"))
NO_CELLS = pd.DataFrame(
    columns=[
        "data",
        "dataset",
        "name",
        "kernel",
        "method",
        "learner",
        "metric",
        "at",
        "s_label",
        "s",
        "n_components",
        "seed",
        "value",
    ]
)
PAPERS = {"luo2021", "pennington2015", "liu2020", "poczos", "wacker2022"}


@pytest.fixture(params=STUDIES, ids=lambda path: path.stem)
def study(request):
    return load_study(request.param)


def test_entries_are_right(study):
    check_shown(study)
    assert study["tables"]
    assert study["figures"]


def test_claims_without_results_have_no_data(study):
    """Checks the explanations too, which are claims themselves."""
    found = check_claims(Results(study, NO_CELLS, ROOT / "workflow/published"))
    assert set(found["verdict"]) <= {"no data"}
    assert len(found) == len(study.get("claims", []))


def test_published_tables_are_there_with_every_name(study):
    for entry in study.get("tables", []):
        if "paper" in entry:
            numbers = published_numbers(
                ROOT / "workflow/published", entry["paper"], entry["table"], entry["metric"]
            )
            assert set(entry["kernels"].values()) <= set(numbers["kernel"])
            assert set(entry["methods"].values()) <= set(numbers["method"])
            assert set(entry.get("datasets", {}).values()) <= set(numbers["dataset"])


def test_every_kernel_method_and_data_set_is_used(study):
    plan = plan_study("a", study, {})
    assert {wanted.kernel for wanted in plan.wanted} == set(kernels_of(study))
    assert {wanted.method for wanted in plan.wanted} - {EXACT} == set(methods_of(study))
    used = {wanted.dataset for wanted in plan.wanted}
    assert used == {dataset["name"] for dataset in study["datasets"]}


def test_named_ties_are_cells_where_both_methods_draw_one_law():
    """The plain MVORF and GORF, on the digits of scikit-learn; MVORF itself has harmonics alone there."""
    study = load_study(ROOT / "workflow/studies/indefinite.yaml")
    (claim,) = (claim for claim in study["claims"] if "ties" in claim)
    kernel = build_kernel(study["kernels"]["polynomial p=10"])
    rows = normalize(load_digits().data)[:600]

    def law(label):
        return build_map(study["methods"][label], kernel, n_components=128, random_state=0).fit(rows)

    fitted = {label: law(label) for label in (claim["method"], claim["than"], "MVORF")}
    laws = []
    for label in (claim["method"], claim["than"]):
        norms = np.linalg.norm(fitted[label].frequencies_, axis=1)
        laws.append(np.unique(np.column_stack([norms, fitted[label].weights_]).round(5), axis=0))
    np.testing.assert_array_equal(*laws)
    assert len(fitted["MVORF"].frequencies_) == 0


def test_the_papers_have_at_least_25_claims():
    studies = [load_study(path) for path in STUDIES]
    assert {study["paper"] for study in studies if "paper" in study} == PAPERS
    assert sum(len(study["claims"]) for study in studies if "paper" in study) >= 25
