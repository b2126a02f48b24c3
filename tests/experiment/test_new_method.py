"""What `rflib new-method` writes, and what it refuses."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rflib.cli import main
from rflib.experiment.new_method import BASELINES, methods_of, new_method
from rflib.experiment.studies import load_study, read_study

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
def test_the_study_is_quickstart_with_the_method_beside_baselines_or_all(
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
    assert made.pop("methods") == own | {name: quickstart["methods"][name] for name in names}
    first, *claims = made.pop("claims")
    assert methods_of(first) == ["TwoPhases", "RFF"]
    gone = quickstart["methods"].keys() - names
    assert claims == [claim for claim in quickstart["claims"] if gone.isdisjoint(methods_of(claim))]
    assert "TwoPhases beside " in made.pop("title")
    assert made == {key: quickstart[key] for key in quickstart if key not in ("title", "methods", "claims")}


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
