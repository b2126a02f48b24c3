"""Estimators from study files: objects at any depth, seeds, errors that name the place, and absent packages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from rflib.experiment.estimators import build_estimator, libraries, missing_packages, modules_of, of_task
from rflib.experiment.fingerprint import is_installed
from rflib.experiment.plan import plan_study
from rflib.experiment.studies import check, load_study
from rflib.kernels import Gaussian
from rflib.maps import MercerFeatures

ROOT = Path(__file__).parents[2]
SEARCH: dict[str, Any] = {
    "type": "sklearn.model_selection:GridSearchCV",
    "cv": {"type": "sklearn.model_selection:ShuffleSplit", "n_splits": 1, "random_state": 5},
    "param_grid": {"map__kernel__sigma": [1, 2], "scale": [{"type": "sklearn.preprocessing:StandardScaler"}]},
    "estimator": {
        "type": "sklearn.pipeline:Pipeline",
        "steps": [
            ["scale", "passthrough"],
            ["map", {"type": "MercerFeatures", "kernel": {"type": "Gaussian"}, "n_components": 8}],
            ["model", {"type": "sklearn.linear_model:SGDRegressor"}],
        ],
    },
}
STUDY: dict[str, Any] = {
    "title": "A study",
    "datasets": [{"name": "wine", "max_train": 50}, {"name": "diabetes"}],
    "estimators": {"ridge": {"type": "sklearn.linear_model:Ridge", "task": "regression"}},
    "repetitions": 3,
}


def plan(settings: dict[str, Any] | None = None, **changes: Any) -> Any:
    study = {**STUDY, **changes}
    check(study, "study", "a.yaml")
    return plan_study("a", study, settings or {})


def test_a_mapping_with_a_type_is_an_object_at_any_depth() -> None:
    search = build_estimator(SEARCH, seed=3)
    assert isinstance(search, GridSearchCV)
    assert isinstance(search.cv, ShuffleSplit)
    steps = dict(search.estimator.steps)
    assert steps["scale"] == "passthrough"
    assert isinstance(steps["map"], MercerFeatures)
    assert steps["map"].kernel == Gaussian()
    assert type(search.param_grid["scale"][0]).__name__ == "StandardScaler"
    assert search.param_grid["map__kernel__sigma"] == [1, 2]


def test_every_random_state_that_is_none_gets_the_seed() -> None:
    search = build_estimator(SEARCH, seed=3)
    assert search.estimator["map"].random_state == search.estimator["model"].random_state == 3
    assert search.cv.random_state == 5
    given = {"type": "sklearn.linear_model:SGDRegressor", "random_state": 7}
    assert build_estimator(given, seed=3).random_state == 7


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "KernelRegresor"}, "rflib has no class 'KernelRegresor'. Did you mean 'KernelRegressor'"),
        ({"type": "learners"}, "rflib has no class 'learners'"),
        ({"type": "sklearn.linear_model:Rigde"}, "'sklearn.linear_model:Rigde' cannot be imported"),
        ({"type": "no_package:A"}, r"No module named 'no_package'.*optional: true"),
        ({"type": "sklearn.linear_model:Ridge", "alfa": 1}, "has no parameter 'alfa'. Did you mean 'alpha'"),
        ({**SEARCH, "estimator": {"type": "Nothing"}}, "rflib has no class 'Nothing'"),
    ],
)
def test_a_wrong_type_or_parameter_is_named(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_estimator(spec)
    with pytest.raises(ValueError, match=f"estimator 'mine': .*{message}"):
        plan(estimators={"mine": spec})


def test_an_entry_is_for_both_tasks_for_one_or_has_one_for_each() -> None:
    one = {"type": "sklearn.linear_model:Ridge", "alpha": 2}
    assert of_task(one, "regression") == of_task(one, "classification") == one
    assert of_task({**one, "task": "regression", "optional": True}, "regression") == one
    assert of_task({**one, "task": "regression"}, "classification") is None
    assert of_task({"regression": one, "datasets": ["wine"]}, "regression") == one
    assert of_task({"regression": one}, "classification") is None
    for wrong in ({}, {**one, "regression": one}):
        with pytest.raises(ValueError, match="give either type"):
            of_task(wrong, "regression")
    with pytest.raises(ValueError, match="unknown key 'alpha' beside regression"):
        of_task({"regression": one, "alpha": 2}, "regression")


def test_the_modules_are_those_of_all_parts() -> None:
    found = set(modules_of(SEARCH))
    assert {"rflib.maps.mercer", "rflib.kernels.gaussian", "sklearn.pipeline"} <= found
    assert {module for module in found if not is_installed(module)} == {
        "rflib.maps.mercer",
        "rflib.kernels.gaussian",
    }
    assert missing_packages({"regression": SEARCH}) == []
    assert missing_packages({"type": "sklearn.svm:SVR", "part": {"type": "no_package.a:A"}}) == ["no_package"]
    assert libraries({"type": "pandas:A", "part": SEARCH}).startswith("pandas=")


def test_a_job_for_each_data_set_of_the_task_and_its_seeds() -> None:
    both = {
        "both": {"classification": {"type": "KernelClassifier"}, "regression": {"type": "KernelRegressor"}}
    }
    found = plan(estimators={**STUDY["estimators"], **both})
    assert [(w.dataset, w.method, w.job.estimator["type"]) for w in found.wanted] == [
        ("wine", "both", "KernelClassifier"),
        ("diabetes", "ridge", "sklearn.linear_model:Ridge"),
        ("diabetes", "both", "KernelRegressor"),
    ]
    for wanted in found.wanted:
        assert wanted.job.seeds == (0, 3)
        assert type(wanted.job).of(yaml.safe_load(wanted.job.text)) == wanted.job
    assert found.wanted[0].job.data.max_train == 50
    restricted = plan(estimators={"both": {**both["both"], "datasets": ["wine"]}})
    assert [w.dataset for w in restricted.wanted] == ["wine"]
    in_grids = plan(
        estimators={**STUDY["estimators"], **both},
        grids=[{"estimators": ["ridge"], "repetitions": 7}, {"estimators": ["both"], "datasets": ["wine"]}],
    )
    assert [(w.method, w.demand.repetitions) for w in in_grids.wanted] == [("ridge", 7), ("both", 3)]


def test_whether_an_optional_package_is_there_is_decided_once() -> None:
    """The plan without settings, of the page and of kept cells, has its cells wherever the page is drawn."""
    absent = {"type": "no_package:A", "optional": True}
    estimators = {**STUDY["estimators"], "absent": absent}
    assert {w.method for w in plan(estimators=estimators).wanted} == {"ridge", "absent"}
    found = plan({"absent": ["no_package"]}, estimators=estimators)
    assert {w.method for w in found.wanted} == {"ridge"}
    assert found.skipped == (("none", "absent", "the package no_package is not installed"),)


def test_labels_and_keys_of_a_study_are_checked() -> None:
    ridge = STUDY["estimators"]["ridge"]
    parts: dict[str, Any] = {
        "kernels": {"G": {"type": "Gaussian"}},
        "methods": {"RFF": {"type": "RFF"}},
        "s": [4],
    }
    with pytest.raises(ValueError, match="'RFF' is the label of a method and of an estimator"):
        plan(**parts, estimators={"RFF": ridge})
    with pytest.raises(ValueError, match=r"estimator 'ridge': datasets names 'whine'.*Did you mean 'wine'"):
        plan(estimators={"ridge": {**ridge, "datasets": ["whine"]}})
    with pytest.raises(ValueError, match="the key 'kernels' is missing"):
        check({key: value for key, value in STUDY.items() if key != "estimators"}, "study", "a.yaml")
    with pytest.raises(ValueError, match=r"unknown key 'estimator'. Did you mean 'estimators'"):
        check({**STUDY, "estimator": {}}, "study", "a.yaml")
    with pytest.raises(ValueError, match="the key 'methods' is missing, which 'kernels' needs"):
        plan(kernels=parts["kernels"])
    assert {w.method for w in plan(**parts).wanted} == {"RFF", "ridge"}


def test_the_presets_size_the_repetitions() -> None:
    assert {w.job.seeds for w in plan({"preset": "smoke"}).wanted} == {(0, 2)}
    assert plan({"preset": "smoke"}).wanted[0].job.data.max_train == 300
    assert {w.demand.repetitions for w in plan({"preset": "full"}).wanted} == {20}


def test_the_guides_tuned_learner_fits() -> None:
    from sklearn.datasets import load_diabetes

    guide = (ROOT / "docs/add-a-kernel-data-set-or-study.md").read_text(encoding="utf-8")
    _, tuned = re.findall(r"```yaml\n(estimators:\n.*?)```", guide, re.DOTALL)
    (spec,) = yaml.safe_load(tuned)["estimators"].values()
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X["sex"] = X["sex"].gt(0).map({True: "b", False: "a"}).astype("category")
    search = build_estimator(of_task(spec, "regression"), 0).fit(X[:300], y[:300])
    assert search.best_params_["model__C"] == 100
    assert search.score(X[300:], y[300:]) > Ridge(alpha=1e6).fit(X[:300].drop(columns="sex"), y[:300]).score(
        X[300:].drop(columns="sex"), y[300:]
    )


def test_the_learners_of_tabular_can_be_built() -> None:
    study = load_study(ROOT / "workflow/studies/tabular.yaml")
    for label, asked in study["estimators"].items():
        for task in ("classification", "regression"):
            spec = of_task(asked, task)
            assert spec is not None, label
            if not missing_packages(spec):
                build_estimator(spec, 0)
