"""Kept cells give back the table of cells of the run that made them, and hold nothing of other code."""

from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rflib.experiment import aggregate
from rflib.experiment.cost_job import CostJob
from rflib.experiment.fingerprint import fingerprint
from rflib.experiment.held import divided
from rflib.experiment.jobs_on_rows import ExactJob
from rflib.experiment.kept import keep, restore
from rflib.experiment.plan import StudyPlan, Wanted, plan_study
from rflib.files import read_table, write_rows
from rflib.report.provenance import core_hours

STUDY = {
    "title": "Kept",
    "datasets": [{"name": "digits", "max_train": 90}, {"name": "wine", "max_train": 90}],
    "kernels": {"a": {"type": "Gaussian", "sigma": 0.5}},
    "methods": {"RFF": {"type": "RFF"}, "ORF": {"type": "ORF"}},
    "learners": {"ridge": {"type": "KRRClassifier", "exact": {"type": "ExactKRRClassifier"}}},
    "s": [16, [32, 64]],
    "budget": "n_components",
    "repetitions": 4,
    "seed_block": 2,
    "cost": True,
}


def planned(**changes: object) -> StudyPlan:
    return plan_study("kept", {**STUDY, **changes}, {})


def run(plan: StudyPlan, results: Path, *, code: str | None = None, value: float = 0) -> None:
    """Make up the files of the plan's jobs."""
    for wanted in divided([plan], results)[0].wanted:
        write_rows(results / wanted.job.path, rows(wanted, value), fingerprint=code or made_by(wanted))
        for job in (wanted.job, *wanted.job.after):
            log = results / "logs" / Path(job.path).with_suffix(".log")
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("rflib step\ndone in 9.00 s, 1.50 s of CPU time\n")


def made_by(wanted: Wanted) -> str:
    return fingerprint(*wanted.job.sources)


def rows(wanted: Wanted, value: float) -> list[dict]:
    job = wanted.job
    exact = isinstance(job, ExactJob)
    seeds = job.seeds if isinstance(job, ExactJob | CostJob) else job.sample.seeds
    sizes = (
        [float("nan")] if exact else job.n_components if isinstance(job, CostJob) else job.sample.n_components
    )
    methods = [method["type"] for method in job.methods] if isinstance(job, CostJob) else [None]
    return [
        {
            **({"method_id": method} if method else {}),
            "n_components": n,
            "seed": seed,
            "metric": f"{job.step}_metric",
            "value": value + hash((method, job.name)) % 1000 / 7,
            "seconds": 1.0,
        }
        for method in methods
        for n in sizes
        for seed in range(*seeds)
    ]


def table(plan: StudyPlan, folder: Path, output: Path) -> pd.DataFrame:
    assert restore(plan, folder, output)
    return read_table(output)


def by_older_code(kept: Path) -> None:
    """Have the kept cells say that other code made them."""
    pd.read_parquet(kept / "kept.parquet").assign(fingerprint="0123").to_parquet(kept / "kept.parquet")


def test_a_table_of_cells_comes_back_the_same(tmp_path: Path) -> None:
    plan = planned()
    run(plan, tmp_path / "results")
    aggregate.run(divided([plan], tmp_path / "results")[0], tmp_path / "results", tmp_path / "cells.parquet")
    keep(plan, tmp_path / "results", tmp_path / "kept", "abc")
    found = table(plan, tmp_path / "kept", tmp_path / "restored.parquet")
    assert set(found["commit"]) == {"abc"}
    assert set(found["metric"]) == {"evaluate_metric", "train_metric", "exact_metric", "cost_metric"}
    assert_frame_equal(
        found.drop(columns=["job", "commit", "cores", "bytes", "job_seconds"]),
        read_table(tmp_path / "cells.parquet"),
        check_like=True,
    )
    files = [file for file in (tmp_path / "results").rglob("*.*") if file.is_file()]
    kept = pd.read_parquet(tmp_path / "kept/kept.parquet")
    assert kept["bytes"].sum() == pytest.approx(sum(file.stat().st_size for file in files), rel=1e-3)
    n_logs = sum(file.suffix == ".log" for file in files)
    assert kept["job_seconds"].sum() == pytest.approx(1.5 * n_logs, rel=1e-3)
    assert core_hours(found) == pytest.approx(1.5 * n_logs / 3600, rel=1e-3)
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["kept.parquet"]


def test_runs_of_parts_of_a_study_add_up(tmp_path: Path) -> None:
    whole = planned()
    parts = [planned(datasets=[dataset]) for dataset in STUDY["datasets"]]
    for number, part in enumerate(parts):
        run(part, tmp_path / str(number))
        keep(whole, tmp_path / str(number), tmp_path / "kept", str(number))
    found = table(whole, tmp_path / "kept", tmp_path / "cells.parquet")
    assert found.groupby("dataset")["commit"].unique().map(list).to_dict() == {"digits": ["0"], "wine": ["1"]}
    run(whole, tmp_path / "all")
    aggregate.run(divided([whole], tmp_path / "all")[0], tmp_path / "all", tmp_path / "all.parquet")
    assert len(found) == len(read_table(tmp_path / "all.parquet"))


def test_a_later_run_replaces_its_cells_and_keeps_the_others(tmp_path: Path) -> None:
    run(planned(), tmp_path / "first")
    keep(planned(), tmp_path / "first", tmp_path / "kept", "first")
    by_older_code(tmp_path / "kept")
    run(planned(repetitions=2), tmp_path / "second", value=1000)
    keep(planned(), tmp_path / "second", tmp_path / "kept", "second")
    found = table(planned(), tmp_path / "kept", tmp_path / "cells.parquet")
    assert set(found.loc[found["seed"] < 2, "commit"]) == {"second"}
    assert (found.loc[found["seed"] < 2, "value"] >= 1000).all()
    assert set(found.loc[found["seed"] >= 2, "commit"]) == {"first"}
    assert not found.duplicated(["job", "method", "n_components", "seed", "metric", "s_label"]).any()


def test_rows_at_measured_places_replace_those_at_others(tmp_path: Path) -> None:
    """A path of ridges is kept by the effective ridge, which rounding moves."""
    plan = planned()
    for name, at in (("first", 0.1), ("second", 0.1 + 1e-12)):
        for wanted in divided([plan], tmp_path / name)[0].wanted:
            found = [{**row, "at": at} for row in rows(wanted, 0)]
            write_rows(tmp_path / name / wanted.job.path, found, fingerprint=made_by(wanted))
        if name == "second":
            by_older_code(tmp_path / "kept")
        keep(plan, tmp_path / name, tmp_path / "kept", name)
    found = table(plan, tmp_path / "kept", tmp_path / "cells.parquet")
    assert set(found["commit"]) == {"second"}
    assert set(found["at"]) == {0.1 + 1e-12}


@pytest.mark.parametrize(("value", "changed"), [(0, False), (1000, True)])
def test_rows_that_replace_those_of_older_code_say_what_changed(
    tmp_path: Path, value: float, changed: bool
) -> None:
    run(planned(), tmp_path / "first")
    keep(planned(), tmp_path / "first", tmp_path / "kept", "first")
    by_older_code(tmp_path / "kept")
    run(planned(repetitions=2), tmp_path / "second", value=value)
    for _ in range(2):
        keep(planned(), tmp_path / "second", tmp_path / "kept", "second")
    found = table(planned(), tmp_path / "kept", tmp_path / "cells.parquet")
    again = found["seed"] < 2
    assert set(found.loc[again, "before"]) == {"0123"}
    assert set(found.loc[again, "change"] > 1e-6) == {changed}
    assert found.loc[~again, ["before", "change"]].isna().all(axis=None)


def test_results_of_other_code_are_not_kept(tmp_path: Path) -> None:
    run(planned(), tmp_path / "results", code="0123456789abcdef")
    keep(planned(), tmp_path / "results", tmp_path / "kept", "abc")
    assert not restore(planned(), tmp_path / "kept", tmp_path / "cells.parquet")


def test_cells_that_the_study_does_not_have_any_more_are_not_shown(tmp_path: Path) -> None:
    run(planned(), tmp_path / "results")
    keep(planned(), tmp_path / "results", tmp_path / "kept", "abc")
    smaller = planned(methods={"Mine": {"type": "ORF"}}, cost=False)
    found = table(smaller, tmp_path / "kept", tmp_path / "cells.parquet")
    assert set(found["method"]) == {"Mine", "exact kernel"}, "labels are those of the study today"
    assert set(found["commit"]) == {"abc"}
    with pytest.raises(KeyError):
        found.groupby("metric").get_group("cost_metric")


def test_an_archive_changes_only_by_cells_that_it_does_not_have(tmp_path: Path) -> None:
    """Git stores a changed archive as a whole."""
    run(planned(repetitions=2), tmp_path / "first")
    keep(planned(), tmp_path / "first", tmp_path / "kept", "first")
    archive = tmp_path / "kept/kept.parquet"
    before = archive.read_bytes()
    run(planned(repetitions=2), tmp_path / "again", value=1000)
    keep(planned(), tmp_path / "again", tmp_path / "kept", "second")
    keep(planned(methods={"Mine": {"type": "ORF"}}), tmp_path / "none", tmp_path / "kept", "third")
    assert archive.read_bytes() == before, "the same code, and a study that has fewer cells today"
    run(planned(), tmp_path / "more")
    keep(planned(), tmp_path / "more", tmp_path / "kept", "fourth")
    found = table(planned(), tmp_path / "kept", tmp_path / "cells.parquet")
    assert dict(found.groupby("seed")["commit"].first()) == {0: "first", 1: "first", 2: "fourth", 3: "fourth"}


def test_numbers_of_few_digits_are_kept_as_they_are(tmp_path: Path) -> None:
    run(planned(), tmp_path / "results")
    for wanted in divided([planned()], tmp_path / "results")[0].wanted:
        found = [{**row, "value": 0.9485, "seconds": 0.123456} for row in rows(wanted, 0)]
        write_rows(tmp_path / "results" / wanted.job.path, found, fingerprint=made_by(wanted))
    keep(planned(), tmp_path / "results", tmp_path / "kept", "abc")
    found = table(planned(), tmp_path / "kept", tmp_path / "cells.parquet")
    assert set(found["value"]) == {0.9485}
    assert set(found["seconds"]) == {0.123}
