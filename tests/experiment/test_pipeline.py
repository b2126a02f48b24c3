"""Studies beside each other: one that is wrong is named by its file, and blocks no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from rflib.experiment.pipeline import Pipeline

from .test_plan import STUDY

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())
MINE = {"name": "mine", "file": "mine.csv", "target": "label", "task": "classification", "columns": 1}
Make = Callable[..., Pipeline]


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make the pipeline of a healthy study "good" and of others, in a folder with two files of data."""
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("a,label\n1,0\n2,1\n")
    Path("other.csv").write_text("a,label\n1,1\n2,0\n")

    def make(
        also_check: Callable[[Mapping[str, Any]], None] = lambda study: None,
        datasets: list[str] | None = None,
        **studies: Any,
    ) -> Pipeline:
        folder = tmp_path / "workflow/studies"
        folder.mkdir(parents=True)
        for name, study in {"good": {}, **studies}.items():
            text = study if isinstance(study, str) else yaml.safe_dump({**STUDY, **study})
            (folder / f"{name}.yaml").write_text(text)
        return Pipeline({**CONFIG, "datasets": datasets}, tmp_path / "workflow", also_check=also_check)

    return make


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ("title: [\n", "bad.yaml is not valid YAML"),
        ("title: A\n", "bad.yaml: the key .* is missing"),
        ({"methods": {"m": {"type": "GOORF"}}}, "bad.yaml: method 'm': .*Did you mean 'GORF'"),
        (
            {"datasets": [{"name": "nowhere", "optional": True}]},
            "bad.yaml: data set 'nowhere': There is no data",
        ),
        ({"datasets": [{**MINE, "file": "none.csv"}]}, "bad.yaml: data set 'mine': .*no file none.csv"),
        ({"datasets": [{**MINE, "name": "wine"}]}, "bad.yaml: data set 'wine': .*the registry"),
        (
            {"datasets": [MINE, {**MINE, "file": "other.csv"}]},
            "bad.yaml: .*the study gives this name to different data",
        ),
    ],
)
def test_a_broken_study_blocks_itself_only(study: Any, words: str, pipeline: Make) -> None:
    found = pipeline(bad=study)
    assert set(found.studies) == {"good"}
    assert found.asked([]) == ["good"]
    with pytest.raises(ValueError, match=f"workflow/studies/{words}"):
        found.asked(["bad"])


@pytest.mark.parametrize(("key", "value"), [("file", "none.csv"), ("task", None)])
def test_an_error_in_a_users_data_names_the_data_set_once(key: str, value: Any, pipeline: Make) -> None:
    mine = {k: v for k, v in {**MINE, key: value}.items() if v is not None}
    assert pipeline(bad={"datasets": [mine]}).broken["bad"].count("data set 'mine'") == 1


def test_what_a_study_shows_is_checked_too(pipeline: Make) -> None:
    def refuse(study: Mapping[str, Any]) -> None:
        if study["title"] == "Bad":
            raise ValueError("figures[0]: no")

    found = pipeline(refuse, bad={"title": "Bad"})
    assert found.broken == {"bad": "workflow/studies/bad.yaml: figures[0]: no"}


def test_one_name_for_different_data_blocks_both(pipeline: Make) -> None:
    same = {"datasets": [MINE]}
    found = pipeline(a=same, b={"datasets": [{**MINE, "file": "other.csv"}]}, c=same)
    assert set(found.studies) == {"good"}
    for name in "abc":
        assert all(f"workflow/studies/{place}.yaml: file" in found.broken[name] for place in "abc")


def test_one_name_for_the_same_content_is_shared(pipeline: Make) -> None:
    Path("copy.csv").write_bytes(Path("mine.csv").read_bytes())
    found = pipeline(
        a={"datasets": [MINE]}, b={"datasets": [{**MINE, "file": "copy.csv", "preprocess": "minmax"}]}
    )
    folders = {wanted.job.data.folder for name in "ab" for wanted in found.studies[name].wanted}
    assert set(found.studies) == {"a", "b", "good"}
    assert len(folders) == 1


def test_the_settings_of_a_study_are_its_own(pipeline: Make) -> None:
    found = pipeline(a={"datasets": [MINE]})
    assert "mine-" in found.settings_of("a")
    assert "mine-" not in found.settings_of("good")


def test_optional_files_of_the_user_are_left_out_where_absent(pipeline: Make) -> None:
    optional = {**MINE, "file": "none.csv", "optional": True}
    found = pipeline(a={"datasets": [*STUDY["datasets"], optional]})
    assert {wanted.dataset for wanted in found.studies["a"].wanted} == {"digits"}


def test_a_study_without_the_chosen_data_sets_is_left_out_silently(pipeline: Make) -> None:
    found = pipeline(datasets=["digits"], other={"datasets": [{"name": "wine"}]})
    assert set(found.studies) == {"good"}
    assert found.broken == {}
    assert found.asked(["good"]) == found.asked([]) == ["good"]
    message = r"other\.yaml: the study has none of the data sets .* names \(digits\)\. It has wine\."
    with pytest.raises(ValueError, match=message):
        found.asked(["other"])
    with pytest.raises(ValueError, match=message):
        found.files("other")


def test_a_study_that_the_configuration_leaves_out_is_named(pipeline: Make) -> None:
    found = pipeline()
    (found.home / "studies").mkdir(exist_ok=True)
    (found.home / "studies/luo2021.yaml").touch()
    with pytest.raises(ValueError, match=r"leaves out the study 'luo2021': its key studies names good\."):
        found.asked(["luo2021"])


def test_a_study_file_beside_the_configuration_is_named_with_the_command(pipeline: Make) -> None:
    found = pipeline()
    Path("new.yaml").write_text("title: New\n")
    for word in ("new", "new.yaml"):
        with pytest.raises(ValueError, match=r"snakemake new --cores 1 --config 'studies=\[new\.yaml\]'"):
            found.asked([word])
    with pytest.raises(
        ValueError, match=r"good\.yaml is a study's file\. Ask for the study by its name: good\."
    ):
        found.asked(["good.yaml"])


def test_a_data_set_that_no_study_has_is_an_error(pipeline: Make) -> None:
    with pytest.raises(
        ValueError, match=r"config\.yaml: datasets: no study has .* 'digitss'\. Did you mean 'digits'"
    ):
        pipeline(datasets=["digits", "digitss"])


def test_a_data_set_of_a_broken_study_is_not_said_to_be_a_typo_only(pipeline: Make) -> None:
    broken = {"datasets": [MINE], "titel": "A"}
    with pytest.raises(
        ValueError, match=r"no study has the data set 'mine'(.|\n)*bad\.yaml: unknown key 'titel'"
    ):
        pipeline(datasets=["mine"], bad=broken)
