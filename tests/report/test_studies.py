"""The study files: every table, figure and claim has a known type, right keys, and labels that the study has."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rflib.experiment.grids import kernels_of, methods_of
from rflib.experiment.plan import EXACT, plan_study
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
    wanted = [w for preset in ("paper", "full") for w in plan_study("a", study, {"preset": preset}).wanted]
    assert {w.kernel for w in wanted} == set(kernels_of(study))
    assert {w.method for w in wanted} - {EXACT} == set(methods_of(study))
    assert {w.dataset for w in wanted} == {dataset["name"] for dataset in study["datasets"]}


def test_the_papers_have_at_least_25_claims():
    studies = [load_study(path) for path in STUDIES]
    assert {study["paper"] for study in studies if "paper" in study} == PAPERS
    assert sum(len(study["claims"]) for study in studies if "paper" in study) >= 25
