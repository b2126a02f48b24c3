"""What `rflib new-method` writes, and what it refuses."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rflib.cli import main
from rflib.experiment.new_method import BASELINES, methods_of, new_method
from rflib.experiment.plan import plan_study
from rflib.experiment.studies import load_study, read_study
from rflib.report.options import check_shown

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "workflow/studies").mkdir(parents=True)
    shutil.copy(ROOT / "workflow/studies/quickstart.yaml", tmp_path / "workflow/studies")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_guide_prints_what_is_written(checkout: Path) -> None:
    new_method("Paired", "mypackage")
    guide = (ROOT / "docs/add-a-method.md").read_text(encoding="utf-8")
    printed = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", guide, re.DOTALL))
    assert set(printed) == {"mypackage/paired.py", "mypackage/test_paired.py"}
    for path, text in printed.items():
        assert (checkout / path).read_text() == text


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_the_study_has_the_method_beside_baselines_or_all(
    checkout: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    main(["new-method", "TwoPhases", "--package", "mine", *options])
    said = capsys.readouterr().out
    study = checkout / "workflow/studies/two_phases.yaml"
    assert f"{study.relative_to(checkout)} " in said and "snakemake --cores 2 two_phases" in said
    assert ("Beside it stand RFF, ORF, Nystroem; --all compares with every" in said) == (not options)
    made, quickstart = load_study(study), read_study(study.with_stem("quickstart"))
    names = quickstart["methods"] if options else BASELINES
    own = {"TwoPhases": {"type": "mine.two_phases:TwoPhases"}}
    assert made["methods"] == own | {name: quickstart["methods"][name] for name in names}
    first, second, *claims = made["claims"]
    assert methods_of(first) == ["TwoPhases", "RFF"] and methods_of(second) == ["TwoPhases", "ORF"]
    gone = quickstart["methods"].keys() - names
    assert claims == [claim for claim in quickstart["claims"] if gone.isdisjoint(methods_of(claim))]
    assert "TwoPhases beside " in made["title"]
    assert "`budget: columns` means D = 4 s: s from 16 to 128 are D from 64 to 512" in study.read_text()
    assert (made["s"], made["budget"]) == ([[16, 32, 64, 128]], "columns")
    if options:
        changed = ("title", "methods", "claims")
        assert {**made, **{key: quickstart[key] for key in changed}} == quickstart


def test_beside_the_baselines_the_study_has_what_the_method_supports_and_is_quick(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_method("TwoWaves", "of_waves")
    monkeypatch.syspath_prepend(checkout)
    study = load_study(checkout / "workflow/studies/two_waves.yaml")
    check_shown(study)
    plan = plan_study("two_waves", study, {})
    assert plan.skipped == ()
    assert "estimators" not in study
    quick = plan_study("quickstart", load_study(checkout / "workflow/studies/quickstart.yaml"), {})
    known = {wanted.job.path for wanted in quick.wanted}
    assert {wanted.method for wanted in plan.wanted if wanted.job.path not in known} == {"TwoWaves"}


@pytest.mark.parametrize("taken", ["mine/own.py", "mine/test_own.py", "workflow/studies/own.yaml"])
def test_nothing_is_overwritten(checkout: Path, taken: str) -> None:
    (checkout / taken).parent.mkdir(exist_ok=True)
    (checkout / taken).write_text("mine")
    before = sorted(checkout.rglob("*"))
    with pytest.raises(FileExistsError, match=rf"{taken} would be overwritten\. Take another name"):
        new_method("Own", "mine")
    assert sorted(checkout.rglob("*")) == before


@pytest.mark.parametrize("name", ["own", "Own method", "None", "3D", ""])
def test_names_of_classes(checkout: Path, name: str) -> None:
    with pytest.raises(ValueError, match="must be that of a class, such as Paired, got"):
        new_method(name, "mine")


@pytest.mark.parametrize("name", ["RFF", "ORF", "MVORF"])
def test_labels_of_quickstart_are_taken(checkout: Path, name: str) -> None:
    """The study would have two methods of one label, and could not be loaded."""
    before = sorted(checkout.rglob("*"))
    with pytest.raises(ValueError, match=rf"quickstart\.yaml has a method '{name}' already\. Take a name"):
        new_method(name, "mine")
    assert sorted(checkout.rglob("*")) == before


@pytest.mark.parametrize("package", ["my-package", "a/b", "class", ""])
def test_names_of_packages(checkout: Path, package: str) -> None:
    with pytest.raises(ValueError, match="--package must be the name of a package, got"):
        new_method("Own", package)


def test_outside_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ValueError, match=r"quickstart\.yaml is not here\. Run it in the folder of a checkout"
    ):
        new_method("Own", "mine")
