"""A study of learners that take the rows themselves: a smoke run to its page, with a learner of the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pandas as pd
import pytest
import yaml

from .conftest import ROOT, Workspace

pytestmark = pytest.mark.workflow

GUIDE = (ROOT / "docs/add-a-kernel-data-set-or-study.md").read_text(encoding="utf-8")
TABLE, PAGE = "results/tabular/cells.parquet", "results/report/index.html"
LEARNERS = ("rflib default", "HistGradientBoosting", "nearest neighbours")


def test_a_learner_of_ones_own_beside_those_of_the_study(
    fresh: Workspace, copy_of: Callable[[Workspace], Workspace]
) -> None:
    """The learner is the guide's; what has run before does not run again for it."""
    home = copy_of(fresh)
    study = yaml.safe_load((ROOT / "workflow/studies/tabular.yaml").read_text(encoding="utf-8"))
    small = {"max_train": 90, "max_test": 60}
    study |= {
        "datasets": [{"name": "wine"}, {"name": "diabetes", **small}],
        "estimators": {label: study["estimators"][label] for label in LEARNERS}
        | {"absent": {"type": "no_such_package.module:Learner", "optional": True}},
        "repetitions": 2,
        "claims": [claim for claim in study["claims"] if {claim["method"], claim["than"]} <= set(LEARNERS)],
    }
    path = home.folder / "workflow/studies/tabular.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    home.snakemake(TABLE)

    blocks = re.findall(r"```python\n# (mypackage/\S+\.py)\n(.*?)```", GUIDE, re.S)
    [(module, code)] = [block for block in blocks if "RegressorMixin" in block[1]]
    (home.folder / module).parent.mkdir()
    (home.folder / module).write_text(code)
    entry, _ = re.findall(r"```yaml\n(estimators:\n.*?)```", GUIDE, re.S)
    study["estimators"] |= yaml.safe_load(entry)["estimators"]
    (own,) = set(study["estimators"]) - {*LEARNERS, "absent"}
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    assert home.planned(target=TABLE) == {"fits": study["repetitions"], "aggregate": 1}
    home.snakemake("tabular")

    cells = pd.read_parquet(home.folder / TABLE)
    assert set(cells["method"]) == {*LEARNERS, own}
    values = cells.pivot_table(index=["dataset", "method"], columns="metric", values="value")
    assert set(values.columns) == {
        *("error", "accuracy", "r2", "rmse", "auc", "log_loss"),
        *("learning_seconds", "prediction_seconds", "learning_megabytes"),
    }
    assert values.loc["wine", "accuracy"].min() > 0.8
    assert values.loc["diabetes", "r2"].between(0, 0.7).all()
    assert set(cells.loc[cells["method"] == own, "dataset"]) == {"diabetes"}
    page = unescape((home.folder / PAGE).read_text(encoding="utf-8"))
    assert "Left out, because their files or packages are not available: absent." in page
    assert "Friedman's test" in page
    assert own in page
