"""`rflib new-method` compares with baselines unless `--all` is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from rflib import cli
from rflib.experiment.new_method import BASELINES
from rflib.experiment.studies import read_study

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "workflow/studies").mkdir(parents=True)
    shutil.copy(ROOT / "workflow/studies/quickstart.yaml", tmp_path / "workflow/studies")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(checkout: Path, *options: str) -> dict:
    cli.main(["new-method", "Paired", *options])
    study = checkout / "workflow/studies/paired.yaml"
    read_study(study)
    return yaml.safe_load(study.read_text())


def test_the_study_is_quickstart_with_the_baselines_alone(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = made(checkout)
    assert "snakemake --cores 2 paired" in (said := capsys.readouterr().out)
    assert said.endswith(
        "Beside it stand RFF, ORF, Nystroem; --all compares with every method of quickstart.\n"
    )
    quickstart = yaml.safe_load((checkout / "workflow/studies/quickstart.yaml").read_text())
    methods = found.pop("methods")
    assert methods.pop("Paired") == {"type": "mypackage.paired:Paired"}
    assert methods == {name: quickstart["methods"][name] for name in BASELINES}
    assert {(claim["method"], claim["than"]) for claim in found.pop("claims")} == {
        ("Paired", "RFF"),
        ("ORF", "RFF"),
    }
    assert found.pop("title") == "Paired beside RFF, ORF, Nystroem"
    assert found == {key: quickstart[key] for key in found} and len(found) == len(quickstart) - 3


def test_methods_and_claims_in_blocks_are_left_out_as_a_whole(checkout: Path) -> None:
    quickstart = checkout / "workflow/studies/quickstart.yaml"
    flow = "  MVORF: {type: MVORF}\n"
    assert flow in quickstart.read_text()
    block = "  MVORF:\n    type: MVORF\n    objective: learner\n"
    quickstart.write_text(quickstart.read_text().replace(flow, block))
    assert list(made(checkout)["methods"]) == ["Paired", *BASELINES]


def test_all_methods_are_there_if_asked_for(checkout: Path) -> None:
    quickstart = yaml.safe_load((checkout / "workflow/studies/quickstart.yaml").read_text())
    assert set(made(checkout, "--all")["methods"]) == {"Paired", *quickstart["methods"]}
