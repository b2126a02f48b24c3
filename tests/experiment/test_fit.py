"""The step that fits an estimator to raw columns: scores, seconds, memory, warnings, errors of users' classes."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.tree import DecisionTreeRegressor

from rflib.cli import main
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.experiment.data import Data
from rflib.experiment.jobs_on_rows import FitJob
from rflib.experiment.scores import scores_of

DIGITS = Data("digits", max_train=200, max_test=150)
DIABETES = Data("diabetes", max_train=200)
MEGABYTES = 40


class Peculiar(ClassifierMixin, BaseEstimator):
    """It warns, takes memory and time, and fails where it is told to."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails

    def fit(self, X: pd.DataFrame, y: Any) -> Peculiar:
        if self.fails:
            raise {"as usual": KeyError("as usual"), "unsendable": _Unsendable(1, 2)}[self.fails]
        warnings.warn(f"of {len(X)} rows", UserWarning, stacklevel=1)
        self.classes_ = np.unique(y)
        np.ones(MEGABYTES * 10**6 // 8).sum()
        start = time.process_time()
        while time.process_time() < start + 0.05 * (len(X) == 200):
            pass
        return self

    def predict(self, X: pd.DataFrame) -> Any:
        return np.full(len(X), self.classes_[0])


class _Unsendable(Exception):
    """It is read back with other arguments than it needs."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name in ("digits", "diabetes"):
        prepare(name, folder, folder / "data" / name)
    return folder


def measured(results: Path, data: Data, **spec: Any) -> pd.DataFrame:
    job = FitJob(data, spec, (0, 2))
    main(["fit", "--job", job.text, "--results", str(results), "--code", "0"])
    return pd.read_parquet(results / job.path)


def values(table: pd.DataFrame) -> pd.DataFrame:
    return table.pivot(index="seed", columns="metric", values="value")


def test_the_scores_are_those_of_the_library(results: Path) -> None:
    found = values(measured(results, DIGITS, type="sklearn.ensemble:RandomForestClassifier", n_estimators=10))
    for seed in (0, 1):
        rows = load(results / "data/digits", repetition=seed, max_train=200, max_test=150)
        forest = RandomForestClassifier(n_estimators=10, random_state=seed).fit(rows.X_train, rows.y_train)
        probabilities = forest.predict_proba(rows.X_test)
        accuracy = accuracy_score(rows.y_test, forest.predict(rows.X_test))
        expected = {
            "accuracy": accuracy,
            "error": 1 - accuracy,
            "auc": roc_auc_score(rows.y_test, probabilities, multi_class="ovr"),
            "log_loss": log_loss(rows.y_test, probabilities),
        }
        for metric, value in expected.items():
            assert found.loc[seed, metric] == pytest.approx(value, rel=1e-12), metric
    assert (found["learning_seconds"] > 0).all()


def test_a_regressor_has_r2_and_its_errors(results: Path) -> None:
    found = values(measured(results, DIABETES, type="sklearn.tree:DecisionTreeRegressor", max_depth=3))
    rows = load(results / "data/diabetes", repetition=1, max_train=200)
    tree = DecisionTreeRegressor(max_depth=3, random_state=1).fit(rows.X_train, rows.y_train)
    assert found.loc[1, "r2"] == pytest.approx(tree.score(rows.X_test, rows.y_test), rel=1e-12)
    assert found.loc[1, "error"] == 1 - found.loc[1, "r2"]
    squares = (tree.predict(rows.X_test) - rows.y_test) ** 2
    assert found.loc[1, "rmse"] == pytest.approx(np.sqrt(squares.mean()), rel=1e-12)
    assert {"accuracy", "auc", "log_loss"}.isdisjoint(found)


def test_classes_that_the_training_rows_lack_count_as_impossible() -> None:
    """And the area under the curve of decisions, for two classes and for more, is that of scikit-learn."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 3)), np.repeat([1, 3, 5], 30)
    X[:, 0] += y
    some, classes = y != 5, np.array([1, 3, 5])
    two = RidgeClassifier().fit(X[some], y[some])
    found = scores_of(two, X[some], y[some], two.predict(X[some]), classes)
    assert found["auc"] == pytest.approx(roc_auc_score(y[some], two.decision_function(X[some])))
    assert "log_loss" not in found
    three = RidgeClassifier().fit(X, y)
    each = [roc_auc_score(y == c, three.decision_function(X)[:, i]) for i, c in enumerate(classes)]
    assert scores_of(three, X, y, three.predict(X), classes)["auc"] == pytest.approx(np.mean(each))
    forest = RandomForestClassifier(random_state=0).fit(X[some], y[some])
    found = scores_of(forest, X, y, forest.predict(X), classes)
    eps = np.finfo(np.float64).eps
    seen = log_loss(y[some], forest.predict_proba(X[some]))
    assert found["log_loss"] == pytest.approx((60 * seen - 30 * np.log(eps)) / 90, rel=1e-6)
    assert np.isnan(scores_of(forest, X[:30], y[:30], forest.predict(X[:30]), classes)["auc"])


@pytest.mark.filterwarnings("default::rflib.experiment.warned.FitWarning")
def test_seconds_memory_and_warnings_of_a_class_from_elsewhere(results: Path, capsys: Any) -> None:
    table = measured(results, DIGITS, type=f"{__name__}:Peculiar")
    found = values(table)
    assert (found["learning_seconds"] >= 0.05).all()
    assert found["learning_megabytes"].between(0.9 * MEGABYTES, 2 * MEGABYTES).all()
    assert {"auc", "log_loss"}.isdisjoint(found)
    assert set(table["warnings"]) == {"UserWarning: of 200 rows"}
    assert capsys.readouterr().err.count("warning: ") == 1
    assert set(table["n_components"]) == {0}


@pytest.mark.parametrize(
    ("fails", "line"), [("as usual", "KeyError: 'as usual'"), ("unsendable", "_Unsendable: 1 and 2")]
)
def test_an_error_in_a_class_from_elsewhere_has_its_traceback(
    fails: str, line: str, results: Path, capfd: Any
) -> None:
    # Where Dask was imported, its reducers send every exception back as it is.
    with pytest.raises((KeyError, RuntimeError, _Unsendable), match=line.split(": ")[1]):
        measured(results, DIGITS, type=f"{__name__}:Peculiar", fails=fails)
    told = capfd.readouterr().err
    assert "Traceback" in told
    assert f"{Path(__file__).name}" in told
    assert line in told


def test_the_code_of_a_job_is_that_of_the_users_module(tmp_path: Path, monkeypatch: Any) -> None:
    from rflib.experiment.fingerprint import _parsed, _spec, closure, fingerprint

    (tmp_path / "learners_of_mine.py").write_text("import helpers_of_mine\nclass A: ...\n")
    (tmp_path / "helpers_of_mine.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    for cached in (_parsed, _spec, fingerprint):
        cached.cache_clear()
    job = FitJob(DIGITS, {"type": "learners_of_mine:A", "part": {"type": "sklearn.svm:SVC"}}, (0, 1))
    assert job.modules == ("rflib.experiment.fit", "learners_of_mine")
    reached = closure(*job.sources)
    assert {"helpers_of_mine", "rflib.experiment.scores", "rflib.datasets.raw_columns"} <= reached
    assert not any(module.startswith("sklearn") for module in reached)
    sys.modules.pop("learners_of_mine", None)


def test_the_cells_of_learners_are_kept_and_restored(results: Path, tmp_path: Path) -> None:
    """Also where the package of another learner, which the plan of kept cells always has, is not installed."""
    from rflib.experiment.fingerprint import fingerprint
    from rflib.experiment.held import divided
    from rflib.experiment.kept import keep, restore
    from rflib.experiment.plan import plan_study

    study = {
        "title": "A study",
        "datasets": [{"name": "diabetes", "max_train": 60}],
        "estimators": {
            "tree": {"type": "sklearn.tree:DecisionTreeRegressor"},
            "gone": {"type": "no_package:A", "optional": True},
        },
        "repetitions": 2,
    }
    plan = plan_study("a", study, {"absent": ["no_package"]})
    (wanted,) = divided([plan], results)[0].wanted
    main(
        [
            "fit",
            "--job",
            wanted.job.text,
            "--results",
            str(results),
            "--code",
            fingerprint(*wanted.job.sources),
        ]
    )
    keep(plan_study("a", study, {}), results, tmp_path, "abc")
    assert restore(plan_study("a", study, {}), tmp_path, tmp_path / "cells.parquet")
    cells = pd.read_parquet(tmp_path / "cells.parquet")
    measured_ = pd.read_parquet(results / wanted.job.path)
    assert len(cells) == len(measured_)
    assert set(cells["method"]) == {"tree"}
    assert (cells["kernel"].unique(), cells["s_label"].unique()) == (["none"], [""])
    # single precision is kept
    assert sorted(cells["value"]) == pytest.approx(sorted(measured_["value"]), rel=1e-6)
