"""What the studies say of the papers is about what the papers ran: their methods and settings, and these run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib.cli import main
from rflib.datasets.prepare import prepare
from rflib.experiment.jobs import Job
from rflib.experiment.plan import EXACT, Wanted, plan_study
from rflib.experiment.studies import load_study
from rflib.files import read_table

STUDIES = Path(__file__).parents[2] / "workflow/studies"
SIZE: dict[str, Any] = {"repetitions": 1, "seed_block": 1, "kernel_error": {"rows": 60}}
PARTS = {
    "luo2021": {
        "kernels": ["polynomial"],
        "methods": ["SRF as printed", "DIGMM as run"],
        "learners": ["SVM"],
        "s": ["2d"],
        "budget": "paper",
    },
    "pennington2015": {
        "kernels": ["p=3"],
        "methods": ["SRF as printed"],
        "learners": ["SVM", "SVM tuned"],
        "s": [32],
    },
    "wacker2022": {
        "kernels": ["a=2 p=3, not centred"],
        "methods": ["OM Rademacher as published", "OM SRHT as published", "RM", "TS", "SRF"],
        "learners": [],
        "s": [32],
    },
}


def part(name: str) -> dict[str, Any]:
    """The parts of a study that are as printed, on data that scikit-learn ships."""
    study, changes = load_study(STUDIES / f"{name}.yaml"), PARTS[name]
    chosen = {
        role: {
            label: {
                key: value for key, value in study[role][label].items() if key not in ("datasets", "kernels")
            }
            for label in changes[role]
        }
        for role in ("kernels", "methods", "learners")
        if role in study
    }
    chosen |= {key: changes[key] for key in ("s", "budget") if key in changes}
    study = {key: value for key, value in study.items() if key != "grids"}
    return {**study, **SIZE, **chosen, "datasets": [{"name": "wine", "preprocess": "unit_norm"}]}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    prepare("wine", folder, folder / "data/wine")
    return folder


def run(job: Job, results: Path) -> Path:
    for before in job.after:
        run(before, results)
    if not (results / job.path).exists():
        main([job.step, "--job", job.text, "--results", str(results)])
    return results / job.path


def columns(name: str, results: Path) -> dict[tuple[str, str | None], int]:
    """Run the parts as printed, and return the number of columns of each method and learner."""

    def of(wanted: Wanted) -> int:
        table = read_table(run(wanted.job, results))
        values = table[table["metric"].isin(["relative_frobenius_error", "accuracy"])]["value"]
        assert len(values) == 1 and np.isfinite(values).all()
        return int(table["n_components"].iloc[0])

    wanted = plan_study(name, part(name), {}).wanted
    return {(each.method, each.learner): of(each) for each in wanted if each.method != EXACT}


def test_luo2021_as_printed_runs_with_the_papers_columns(results: Path) -> None:
    """At s = 2 d, of 13 columns: SRF has a column for each frequency, DIGMM a cosine and a sine."""
    assert columns("luo2021", results) == {
        ("SRF as printed", None): 26,
        ("SRF as printed", "SVM"): 26,
        ("DIGMM as run", None): 52,
        ("DIGMM as run", "SVM"): 52,
    }


@pytest.mark.filterwarnings("ignore::rflib.learners.grid_edge.GridEdgeWarning")  # of few rows
def test_pennington2015_has_both_settings_of_the_svm(results: Path) -> None:
    assert {learner for _, learner in columns("pennington2015", results)} == {None, "SVM", "SVM tuned"}


def test_wacker2022_measures_errors_on_rows_that_are_not_centred(results: Path) -> None:
    assert {method for method, _ in columns("wacker2022", results)} == set(PARTS["wacker2022"]["methods"])
    (apart,) = {wanted.job.data for wanted in plan_study("wacker2022", part("wacker2022"), {}).wanted}
    assert (apart.preprocess, apart.for_fit.preprocess) == ("centre+unit_norm", "standardize+unit_norm")


@pytest.mark.parametrize(
    ("name", "ours"), [("luo2021", {"SRF", "DIGMM", "MVORF"}), ("pennington2015", {"SRF", "MVORF"})]
)
def test_claims_of_a_paper_are_about_its_own_methods(name: str, ours: set[str]) -> None:
    claims = [
        claim for claim in load_study(STUDIES / f"{name}.yaml")["claims"] if claim["source"] != "this project"
    ]
    for claim in claims:
        assert not ours & {claim.get("method"), claim.get("than"), *claim.get("methods", ())}, claim["title"]
        assert claim.get("learner") != "SVM tuned", claim["title"]
    assert claims


def test_the_svm_of_pennington2015_has_the_default_of_liblinear() -> None:
    assert load_study(STUDIES / "pennington2015.yaml")["learners"]["SVM"]["C"] == 1
