"""What a study would take in full: what was run counts as it is, and the rest follows a power law."""

import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.kept import identity
from rflib.experiment.plan import plan_study
from rflib.experiment.studies import read_study
from rflib.files import write_rows
from rflib.report.whole_cost import estimate, whole_core_hours

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
                "n_components": n or float("nan"),
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


TINY = {
    "title": "Tiny",
    "datasets": [{"name": "digits", "max_train": 90}, {"name": "wine", "max_train": 90}],
    "kernels": {"a": {"type": "Gaussian", "sigma": 0.5}},
    "methods": {"RFF": {"type": "RFF"}, "ORF": {"type": "ORF"}},
    "learners": {"ridge": {"type": "KRRClassifier", "exact": {"type": "ExactKRRClassifier"}}},
    "s": [[16, 32]],
    "budget": "n_components",
    "repetitions": 20,
}


def test_one_repetition_tells_the_time_and_the_memory_of_a_study(tmp_path, monkeypatch):
    """Each step takes 36 s for a repetition, so 6 minutes for the ten of one job; the last one is estimated."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    with pytest.raises(ValueError, match=r"holds no cells of tiny .* snakemake tiny .* repetitions=1"):
        estimate(Path("tiny.yaml"))
    plan = plan_study("tiny", TINY, {"repetitions": 1})
    for wanted in plan.wanted[:-1]:
        write_cells_of(wanted, tmp_path / "results", cpu_seconds=36)
    text = estimate(Path("tiny.yaml"))
    steps, repetitions = len(plan.wanted), 20
    assert f"tiny in full: roughly {steps * repetitions * 36 / 3600:.2g} core-hours" in text
    assert f"{(steps - 1) * 36 / 3600:.2g} of them done" in text
    assert "Its longest step takes roughly 6 minutes." in text
    assert f"declares {max(w.job.megabytes for w in plan.wanted):,} MB" in text
    assert "measured on 1 of 20 repetitions" in text
    assert "Not counted" not in text and "number of columns D alone" not in text


def test_what_cannot_be_estimated_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    plan = plan_study("tiny", TINY, {"repetitions": 1})
    for wanted in plan.wanted:
        if wanted.dataset == "digits" and wanted.job.step == "evaluate":
            write_cells_of(wanted, tmp_path / "results", cpu_seconds=36)
    text = estimate(Path("tiny.yaml"))
    assert "Not counted, because no such step has ended: exact ridge, train ridge." in text
    assert "The time on wine is estimated by the number of columns D alone" in text


def test_a_class_in_the_current_folder_is_found_as_in_jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    (tmp_path / "own_of_estimate.py").write_text(
        "from rflib.maps import RFF\n\n\nclass Own(RFF):\n    pass\n"
    )
    study = {**TINY, "methods": {"Own": {"type": "own_of_estimate:Own"}}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(study))
    with pytest.raises(ValueError, match="holds no cells of own"):
        estimate(Path("own.yaml"))


def write_cells_of(wanted, results, cpu_seconds):
    """Make up the file of a job and its log; the features of a block take no time."""
    columns = sorted({n for _, _, n in wanted.s}) or [float("nan")]
    rows = [{"n_components": n, "seed": 0, "metric": "error", "value": 0.5, "seconds": 1.0} for n in columns]
    for file in (wanted.job.stored, wanted.job.path):
        (results / file).parent.mkdir(parents=True, exist_ok=True)
        (results / file).touch()
    write_rows(results / wanted.job.path, rows, fingerprint=fingerprint(*wanted.job.sources))
    log = results / "logs" / Path(wanted.job.path).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"rflib step\ndone in 99.00 s, {cpu_seconds:.2f} s of CPU time\n")
