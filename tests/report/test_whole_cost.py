"""What a study would take in full: what was run counts as it is, and the rest follows a power law."""

from pathlib import Path

import pandas as pd
import pytest

from rflib.experiment.kept import identity
from rflib.experiment.plan import plan_study
from rflib.experiment.studies import read_study
from rflib.report.whole_cost import whole_core_hours

STUDIES = Path(__file__).parents[2] / "workflow/studies"
RATES = {"RFF": 2e-3, "ORF": 5e-3}


def made_up(plan):
    """One row for each cell, with times that are power laws in the number of columns."""
    return pd.DataFrame(
        [
            {
                "name": w.dataset,
                "job": identity(w.job),
                "method": w.method,
                "n_components": n,
                "seed": seed,
                "metric": "error",
                "job_seconds": RATES.get(w.method, 1e-3) * n**1.5 if n else 7.0,
            }
            for w in plan.wanted
            for n in sorted({n for _, _, n in w.s} or {0})
            for seed in range(w.demand.repetitions)
        ]
    ).drop_duplicates(["job", "method", "n_components", "seed"])


@pytest.mark.parametrize("study", ["quickstart", "luo2021", "fair"])
def test_the_rest_is_estimated(study):
    plan = plan_study(study, read_study(STUDIES / f"{study}.yaml"), {})
    cells = made_up(plan)
    full = cells["job_seconds"].sum() / 3600
    assert whole_core_hours(cells, plan) == pytest.approx(full)
    part = cells[(cells["seed"] < 2) & (cells["name"] != cells["name"].iloc[0])]
    assert len(part) < 0.8 * len(cells)
    assert whole_core_hours(part, plan) == pytest.approx(full, rel=0.02)


def test_absent_data_sets_do_not_count():
    plan = plan_study("quickstart", read_study(STUDIES / "quickstart.yaml"), {})
    cells = made_up(plan)
    first = cells["name"].iloc[0]
    rest = cells[cells["name"] != first]
    assert whole_core_hours(rest, plan, [first]) == pytest.approx(rest["job_seconds"].sum() / 3600)
