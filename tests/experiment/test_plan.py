"""The plan: blocks, sharing, columns, and errors that name the study and the entry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rflib.experiment.cost_job import CostJob
from rflib.experiment.grids import methods_of
from rflib.experiment.held import divided
from rflib.experiment.jobs import BlockJob, Data, SampleJob
from rflib.experiment.jobs_on_rows import ExactJob
from rflib.experiment.plan import EXACT, StudyPlan, Wanted, plan_study
from rflib.experiment.studies import check, load_study

STUDIES = Path(__file__).parents[2] / "workflow/studies"
STUDY: dict[str, Any] = {
    "title": "A study",
    "datasets": [{"name": "digits", "preprocess": "unit_norm"}],
    "kernels": {"delta": {"type": "DeltaGaussian"}, "poly": {"type": "SphericalPolynomial", "a": 3, "p": 1}},
    "methods": {"GORF": {"type": "GORF"}, "RM": {"type": "RandomMaclaurin"}},
    "s": [4, "d/2"],
    "repetitions": 20,
}


def plan(settings: dict[str, Any] | None = None, **changes: Any) -> StudyPlan:
    study = {**STUDY, **changes}
    check(study, "study", "a.yaml")
    return plan_study("a", study, settings or {})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("missing", [None], r'missing\.0: must be a word in quotes, such as "NA", got None'),
        ("separator", ";;", r"""separator: must be one character in quotes, such as ";", got ';;'"""),
        ("decimal", ";", r"""decimal: must be "\." or ",", got ';'"""),
    ],
)
def test_what_a_study_says_of_a_file(key: str, value: Any, message: str) -> None:
    data = {"name": "mine", "file": "mine.csv", "missing": ["NA", "?"], "separator": "\t", "decimal": ","}
    check({**STUDY, "datasets": [data]}, "study", "a.yaml")
    with pytest.raises(ValueError, match=message):
        check({**STUDY, "datasets": [{**data, key: value}]}, "study", "a.yaml")


def jobs(*arguments: Any, **changes: Any) -> StudyPlan:
    """The plan as it is cut into jobs where there are no results yet."""
    (found,) = divided([plan(*arguments, **changes)], Path("nowhere"))
    return found


def files(*arguments: Any, **changes: Any) -> set[str]:
    return {wanted.job.path for wanted in jobs(*arguments, **changes).wanted}


def samples(found: StudyPlan) -> Iterator[tuple[Wanted, SampleJob]]:
    """What is wanted of features, with the job that draws them."""
    return ((w, w.job.sample) for w in found.wanted if isinstance(w.job, BlockJob))


def test_a_file_for_each_block() -> None:
    assert files(methods={"GORF": {"type": "GORF"}}, kernels={"delta": {"type": "DeltaGaussian"}}) == {
        f"errors/digits.unit_norm/DeltaGaussian/GORF/{n}-r{a}_{a + 10}/rows=1000.parquet"
        for n in (16, 128)
        for a in (0, 10)
    }


def test_an_inner_list_is_one_block() -> None:
    assert {sample.n_components for _, sample in samples(plan(s=[[4, "d/2"], 8]))} == {(16, 128), (32,)}


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({"repetitions": 30}, {}),
        ({}, {"s": [4, "d/2", "d"]}),
        ({}, {"datasets": [*STUDY["datasets"], {"name": "diabetes", "preprocess": "unit_norm"}]}),
        ({}, {"methods": {**STUDY["methods"], "SRF": {"type": "SRF"}}}),
        ({}, {"learners": {"SVM": {"type": "LinearSVM"}}}),
    ],
)
def test_more_of_anything_keeps_what_there_is(settings: dict[str, Any], changes: dict[str, Any]) -> None:
    assert files() < files(settings, **changes)


def test_the_same_cell_has_the_same_file_in_every_study() -> None:
    labels = {"other": {"type": "GORF", "directions": "orthogonal"}, "RM": {"type": "RandomMaclaurin"}}
    assert files(methods=labels, title="Another") == files()


def test_budgets() -> None:
    columns = {
        budget: {(w.method, *sample.n_components) for w, sample in samples(plan(budget=budget, s=[4]))}
        for budget in ("paper", "columns", "both")
    }
    assert columns["paper"] == {("GORF", 16), ("RM", 4)}
    assert columns["columns"] == {("GORF", 16), ("RM", 16)}
    assert columns["both"] == columns["paper"] | columns["columns"]


def test_a_method_is_left_out_where_it_does_not_apply() -> None:
    found = plan()
    assert {(wanted.kernel, wanted.method) for wanted in found.wanted} == {
        ("delta", "GORF"),
        ("poly", "GORF"),
        ("poly", "RM"),
    }
    ((kernel, method, reason),) = found.skipped
    assert (kernel, method) == ("delta", "RM")
    assert "DeltaGaussian" in reason


def test_a_kernel_may_ask_for_its_own_preprocessing() -> None:
    kernels = {"delta": {"type": "DeltaGaussian", "preprocess": "raw"}, "poly": STUDY["kernels"]["poly"]}
    assert {(wanted.kernel, wanted.job.data.id) for wanted in plan(kernels=kernels).wanted} == {
        ("delta", "digits"),
        ("poly", "digits.unit_norm"),
    }


def test_maps_may_be_fitted_to_rows_that_are_preprocessed_in_another_way() -> None:
    kernels = {
        "as measured": {"type": "DeltaGaussian"},
        "apart": {"type": "DeltaGaussian", "fit_preprocess": "standardize+unit_norm"},
    }
    found = {wanted.kernel: wanted.job.data for wanted in plan(kernels=kernels).wanted}
    assert found["as measured"].for_fit == found["as measured"]
    assert found["apart"].preprocess == "unit_norm"
    assert found["apart"].for_fit == Data("digits", "standardize+unit_norm")
    assert found["apart"].id != found["as measured"].id
    with pytest.raises(ValueError, match="unknown preprocessing 'unitnorm'"):
        plan(kernels={"delta": {"type": "DeltaGaussian", "fit_preprocess": "unitnorm"}})


def test_learners_go_with_the_task() -> None:
    learners = {
        "SVM": {"type": "LinearSVM", "task": "classification"},
        "SVR": {"type": "LinearSVR", "task": "regression"},
    }
    datasets = [{"name": "digits"}, {"name": "diabetes"}]
    found = plan(learners=learners, datasets=datasets, kernels={"delta": {"type": "DeltaGaussian"}})
    assert {(wanted.job.data.id, wanted.learner) for wanted in found.wanted if wanted.learner} == {
        ("digits", "SVM"),
        ("diabetes", "SVR"),
    }


def test_the_diagonal_matters_for_the_error_only() -> None:
    methods = {"a": {"type": "GORF"}, "b": {"type": "GORF", "unit_diagonal": True}}
    found = plan(methods=methods, kernels={"delta": {"type": "DeltaGaussian"}}, s=[4], repetitions=1)
    assert len({sample for _, sample in samples(found)}) == 1
    assert len({wanted.job for wanted in found.wanted}) == 2


def test_grids_are_parts_of_a_study_with_their_own_sizes() -> None:
    grids: list[dict[str, Any]] = [
        {"methods": ["GORF"], "kernels": ["delta"], "s": [4], "repetitions": 3},
        {"methods": ["RM"], "s": [[8, 16]], "budget": "n_components", "learners": []},
    ]
    found = jobs(grids=grids, learners={"SVM": {"type": "LinearSVM"}})
    assert {
        (w.method, w.kernel, sample.n_components, sample.seeds, w.learner) for w, sample in samples(found)
    } == {
        ("GORF", "delta", (16,), (0, 3), None),
        ("GORF", "delta", (16,), (0, 3), "SVM"),
        ("RM", "poly", (8, 16), (0, 10), None),
        ("RM", "poly", (8, 16), (10, 20), None),
    }


def test_the_same_part_twice_is_planned_once() -> None:
    assert plan(grids=[{}, {}]).wanted == plan().wanted


def test_kernel_errors_may_be_left_out() -> None:
    learners = {"SVM": {"type": "LinearSVM"}}
    kept = {file.split("/")[0] for file in files(kernel_error=None, learners=learners)}
    assert kept == {"scores"}
    assert not files(kernel_error=None)
    assert all("eigenvalues" in file for file in files(kernel_error={"eigenvalues": True}))


def test_the_costs_of_all_maps_of_a_kernel_are_measured_in_one_job() -> None:
    """Those with the same numbers of columns; a map that does not apply to the kernel is left out."""
    found = jobs(s=[[4, 8], 16], budget="n_components", cost=True, repetitions=3, seed_block=2)
    costs = [wanted for wanted in found.wanted if isinstance(wanted.job, CostJob)]
    assert {(w.kernel, w.method, w.method_id, w.job.n_components, w.job.seeds) for w in costs} == {
        (kernel, method, type_, columns, seeds)
        for kernel, method, type_ in (
            ("delta", "GORF", "GORF"),
            ("poly", "GORF", "GORF"),
            ("poly", "RM", "RandomMaclaurin"),
        )
        for columns in ((4, 8), (16,))
        for seeds in ((0, 2), (2, 3))
    }
    assert len({wanted.job for wanted in costs}) == 8
    assert not any(isinstance(wanted.job, CostJob) for wanted in jobs().wanted)


def test_columns_may_be_limited() -> None:
    grids = [{"max_columns": 128}, {"s": [[4, 64]], "max_columns": 16}]
    found = {sample.n_components for _, sample in samples(plan(s=[[4, "d/2"], 64], grids=grids))}
    assert found == {(16, 128), (16,)}, "the small blocks of both grids, and no 256"
    smoke = plan({"preset": "smoke"}, s=[4, 32], max_columns=16)
    assert {sample.n_components for _, sample in samples(smoke)} == {(16,)}


def test_a_run_may_be_on_some_data_sets() -> None:
    datasets = [*STUDY["datasets"], {"name": "wine", "preprocess": "unit_norm"}]
    assert files({"datasets": ["digits", "letter"]}, datasets=datasets) == files()
    with pytest.raises(ValueError, match=r"none of the data sets that the configuration names \(letter\)"):
        plan({"datasets": ["letter"]})


def test_optional_data_sets_are_left_out_where_absent() -> None:
    datasets = [*STUDY["datasets"], {"name": "wine", "preprocess": "unit_norm", "optional": True}]
    assert files({"absent": ["wine", "digits"]}, datasets=datasets) == files()
    assert files(datasets=datasets) > files()


def test_the_exact_kernel_runs_once_where_repetitions_have_the_same_rows() -> None:
    learners = {"SVM": {"type": "LinearSVM", "exact": {"type": "ExactKernelSVC"}}}
    kernels = {"poly": STUDY["kernels"]["poly"]}
    for dataset, expected in (
        ({"name": "usps"}, {(0, 1)}),
        ({"name": "usps", "max_train": 500}, {(0, 10), (10, 20)}),
        ({"name": "digits"}, {(0, 10), (10, 20)}),
    ):
        found = jobs(learners=learners, kernels=kernels, datasets=[{**dataset, "preprocess": "unit_norm"}])
        assert {w.job.seeds for w in found.wanted if isinstance(w.job, ExactJob)} == expected


def test_smoke_keeps_no_large_block() -> None:
    smoke = plan({"preset": "smoke"}, s=[16, [32, 1024], 4096], grids=[{}, {"s": [4096]}])
    assert {sample.n_components for _, sample in samples(smoke)} == {(64, 128), (16384,)}


def test_smoke_is_small_and_full_is_large() -> None:
    smoke = plan({"preset": "smoke"})
    assert {wanted.job.data.max_train for wanted in smoke.wanted} == {300}
    assert {wanted.demand.repetitions for wanted in smoke.wanted} == {2}
    assert {w.demand.repetitions for w in plan({"preset": "full"}, repetitions=5).wanted} == {20}


def test_full_runs_the_large_part_of_a_study() -> None:
    parts = {"s": [16, 32], "grids": [{"s": [16]}], "full": [{}, {"s": [1024], "repetitions": 30}]}
    assert {sample.n_components for _, sample in samples(plan(**parts))} == {(64,)}
    whole = plan({"preset": "full"}, **parts)
    repetitions = {
        w.job.sample.n_components: w.demand.repetitions for w in whole.wanted if isinstance(w.job, BlockJob)
    }
    assert repetitions == {(64,): 20, (128,): 20, (4096,): 30}
    with pytest.raises(ValueError, match=r"full\[0\]: methods names 'ORFF'"):
        plan(full=[{"methods": ["ORFF"]}])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        # what is unknown, with what is nearest
        ({"methods": {"mine": {"type": "MVORFF"}}}, "method 'mine': .*Did you mean 'MVORF'"),
        ({"methods": {"mine": {"type": "GORF", "direction": "x"}}}, "mine.*Did you mean 'directions'"),
        ({"kernels": {"k": {"type": "Gausian"}}}, "kernel 'k': .*Did you mean 'Gaussian'"),
        (
            {"kernels": {"k": {"type": "Gaussian", "sigma": -1}}},
            "'k': .*sigma must be a number above 0, got -1",
        ),
        (
            {"datasets": [{"name": "digits", "preprocess": "unitnorm"}]},
            "data set 'digits': unknown preprocessing 'unitnorm'. Did you mean 'unit_norm'",
        ),
        (
            {"kernels": {"delta": {"type": "DeltaGaussian", "preprocess": "minmax+unitnorm"}}},
            "data set 'digits': unknown preprocessing 'unitnorm'",
        ),
        ({"datasets": [{"name": "digitz"}]}, "data set 'digitz': .*digits"),
        ({"learners": {"l": {"type": "LinearSVMM"}}}, "learner 'l': .*Did you mean 'LinearSVM'"),
        ({"s": [4, -8]}, r"a.yaml: s.1: must be a positive integer, .*, got -8\."),
        ({"s": ["2e"]}, r"a.yaml: s.0: must be a positive integer, or like d/2, .*, got '2e'"),
        ({"repetitions": 0}, "repetitions: must be an integer of at least 1, got 0"),
        ({"kernal": {}}, "unknown key 'kernal'. Did you mean 'kernels'"),
        ({"datasets": [{"preprocess": "raw"}]}, r"datasets.0: the key 'name' is missing"),
        ({"methods": {"m": {"type": "RFF", "kernels": ["delta"]}}}, "no positive spectral measure"),
        ({"grids": [{"methods": ["GROF"]}]}, r"grids\[0\]: methods names 'GROF'.*Did you mean 'GORF'"),
        ({"grids": [{"datasets": ["wine"]}]}, r"grids\[0\]: datasets names 'wine', which the study does not"),
        ({"grids": [{"method": ["GORF"]}]}, "unknown key 'method'. Did you mean 'methods'"),
        ({"methods": {"m": {"type": "RFF", "kernels": ["delat"]}}}, "names 'delat'.*Did you mean 'delta'"),
        (
            {"kernels": {"k": {"type": "Gaussian", "datasets": ["wine"]}}},
            "names 'wine', which the study does not",
        ),
        # wrong values, with the right ones
        (
            {"learners": {"KRR": {"type": "KRR", "signed": "kreinn"}}},
            r"learners\.KRR\.signed: must be one of positive, associated, krein, got 'kreinn'\. Did you mean "
            r"'krein'\? Meaning: what it does with columns of sign -1\.",
        ),
        (
            {"learners": {"KRR": {"type": "KRR", "row_norms": 1}}},
            "KRR.row_norms: must be true or false, got 1. M",
        ),
        (
            {"learners": {"KRR": {"type": "KRR", "path": "x"}}},
            "path: must be a list that is not empty, got 'x'",
        ),
        ({"learners": {"KRR": {"type": "KRR", "path": [0]}}}, r"path\.0: must be a number above 0, got 0\."),
        ({"methods": {"RFF": {"type": "RFF", "unit_diagonal": 3}}}, "must be true or false, got 3"),
        (
            {"kernels": {"G": {"type": "Gaussian", "datasets": "mine"}}},
            r"G\.datasets: must be a list, got 'mine'",
        ),
        (
            {"datasets": [{"name": "wine", "optional": "maybe"}]},
            r"must be true or false, got 'maybe'\. Meaning: wh",
        ),
        (
            {"datasets": [{"name": "my data"}]},
            r"name: must be a name that holds only letters, digits and _, got 'my data'\. Meaning: a name of docs",
        ),
        ({"datasets": [{"name": "wine", "test_size": 2}]}, "must be a number above 0 and below 1, got 2"),
        ({"kernel_error": {"ridges": [1, 1]}}, r"must be a list of different numbers above 0, got \[1, 1\]"),
        ({"kernel_error": 3}, "kernel_error: must be a mapping or null, got 3"),
        ({"title": ""}, "title: must be a text that is not empty, got ''"),
        # what the study gives itself; in a job, it would be given twice
        (
            {"methods": {"m": {"type": "GORF", "n_components": 8}}},
            r"method 'm': GORF gets n_components from the study \(by s and budget\)\. Remove the key",
        ),
        (
            {"methods": {"m": {"type": "GORF", "random_state": 1}}},
            r"gets random_state .*in each of its repetitions",
        ),
        (
            {"methods": {"m": {"type": "GORF", "kernel": "delta"}}},
            r"gets kernel from the study \(each of its kernels",
        ),
        (
            {"methods": {"m": {"type": "CRAFT", "base": {"type": "SRF", "kernel": "poly"}}}},
            r"method 'm': base: SRF gets kernel from",
        ),
        (
            {"learners": {"l": {"type": "KRR", "feature_map": "RFF"}}, "datasets": [{"name": "diabetes"}]},
            r"learner 'l': KRR gets feature_map from the study \(each of its methods\)",
        ),
        (
            {"learners": {"l": {"type": "LinearSVM", "signature": [1]}}},
            r"LinearSVM gets signature from the study",
        ),
        (
            {"learners": {"l": {"type": "DoublyStochasticClassifier", "random_state": 1}}},
            r"DoublyStochasticClassifier gets random_state from",
        ),
        (
            {"learners": {"l": {"type": "LinearSVM", "exact": {"type": "ExactKernelSVC", "kernel": "poly"}}}},
            r"learner 'l, exact': ExactKernelSVC gets kernel from",
        ),
    ],
)
def test_what_is_wrong_is_named_before_anything_runs(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plan(**changes)


def test_a_file_that_is_not_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("s: [1\n")
    with pytest.raises(ValueError, match=r"a.yaml is not valid YAML"):
        load_study(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "title: A\ntext: B\ntitle: C\n",
            "a.yaml is not valid YAML: line 3: the key 'title' was already used in line 1",
        ),
        ("methods: {A: {type: RFF}, A: {type: ORF}}\n", "the key 'A' was already used in line 1"),
    ],
)
def test_a_key_that_stands_twice(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(ValueError, match=words):
        load_study(tmp_path / "a.yaml")


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_studies_of_the_project_can_be_planned(path: Path) -> None:
    parts = [plan_study(path.stem, load_study(path), {"preset": preset}) for preset in ("paper", "full")]
    methods = {w.method for part in parts for w in part.wanted} - {EXACT}
    assert methods == set(methods_of(yaml.safe_load(path.read_text())))


def test_devices_and_streams_are_settings_of_jobs() -> None:
    learners = {"ridge": {"type": "KRRClassifier"}, "svm": {"type": "LinearSVM"}}
    plain = files(learners=learners)
    changed = jobs(learners=learners, device="cuda", stream_above=500)
    kinds = {(type(w.job).__name__, w.learner): w.job for w in changed.wanted}
    assert kinds["EvaluateJob", None].device == "cuda"
    ridge, svm = kinds["TrainJob", "ridge"], kinds["TrainJob", "svm"]
    assert (ridge.device, ridge.stream_above, svm.stream_above) == ("cuda", 500, None)
    assert ridge.path.endswith("-device=cuda-stream_above=500.parquet")
    assert type(ridge).of(json.loads(ridge.text)) == ridge
    assert plain.isdisjoint(w.job.path for w in changed.wanted)
    assert files(learners=learners, device="cpu") == plain


def test_the_code_of_automap_is_that_of_its_candidates_and_their_measures() -> None:
    """AutoMap finds the measures of its candidates by name, so that its own module does not import them."""

    def modules(**spec: Any) -> set[str]:
        return set(jobs(methods={"AutoMap": {"type": "AutoMap", **spec}}).wanted[0].job.modules)

    assert {"rflib.maps.mvorf", "rflib.maps.gorf"} <= modules()
    assert "rflib.measures.srf" not in modules()
    named = modules(candidates=["SRF", "Nystroem"])
    assert {"rflib.maps.srf", "rflib.measures.srf", "rflib.maps.nystroem"} <= named
    assert "rflib.maps.mvorf" not in named
