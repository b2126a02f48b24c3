"""The steps by themselves: what they write is what the library computes, whatever the block."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib.cli import main
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.experiment.cells import seed_of
from rflib.experiment.cost_job import CostJob
from rflib.experiment.data import Data
from rflib.experiment.job_rules import JOBS
from rflib.experiment.jobs import EvaluateJob, Job, SampleJob, TrainJob, Unit
from rflib.experiment.jobs_on_rows import ExactJob
from rflib.files import read_arrays, read_table
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.learners import KRRClassifier
from rflib.learners.svm import LinearSVM
from rflib.maps.gorf import GORF
from rflib.maps.optimized_maclaurin import OptimizedMaclaurin
from rflib.metrics import (
    accuracy,
    degrees_of_freedom,
    error_at,
    log_eigenvalue_ratio,
    nearest_pairs,
    regularised_spectral_error,
    relative_frobenius_error,
)

KERNEL, METHOD = {"type": "DeltaGaussian"}, {"type": "GORF"}
ROWS = Data("digits", "unit_norm", max_train=60, max_test=40)
UNIT = Unit(ROWS, KERNEL, METHOD)
BLOCK = SampleJob(UNIT, (16, 8), (0, 2))
ONE = SampleJob(UNIT, (16,), (0, 1))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with prepared data, and the features of two blocks."""
    folder = tmp_path_factory.mktemp("results")
    prepare("digits", folder, folder / "data/digits")
    for block in (BLOCK, ONE):
        step(block, folder)
    return folder


def step(job: Job, results: Path, *options: str) -> Path:
    main([job.step, "--job", job.text, "--results", str(results), *options])
    return results / job.path


def by_hand(results: Path, n: int, seed: int) -> tuple[Any, GORF]:
    rows = load(results / "data/digits", preprocess="unit_norm", repetition=seed, max_train=60, max_test=40)
    state = seed_of(UNIT.stream, n, seed)
    return rows, GORF(DeltaGaussian(), n, random_state=state).fit(rows.X_train)


def test_features_are_those_of_the_library_in_every_block(results: Path) -> None:
    together = read_arrays(results / BLOCK.path)
    alone = read_arrays(step(SampleJob(UNIT, (8,), (1, 2)), results))
    _, expected = by_hand(results, 8, 1)
    for arrays in (together, alone):
        np.testing.assert_array_equal(arrays["8/1/waves_.frequencies"], expected.frequencies_)


def test_errors_are_those_of_the_library(results: Path) -> None:
    table = read_table(step(EvaluateJob(BLOCK, rows=60), results, "--code", "abc"))
    rows, feature_map = by_hand(results, 16, 1)
    expected = relative_frobenius_error(
        DeltaGaussian()(rows.X_train), feature_map.kernel_matrix(rows.X_train)
    )
    cell = table[(table["n_components"] == 16) & (table["seed"] == 1)].set_index("metric")["value"]
    assert cell["relative_frobenius_error"] == pytest.approx(expected, rel=1e-9)
    assert set(table["fingerprint"]) == {"abc"}
    overwritten = read_table(step(EvaluateJob(BLOCK, rows=60, unit_diagonal=True), results))
    errors = [t[t["metric"] == "relative_frobenius_error"]["value"] for t in (table, overwritten)]
    assert (errors[0] != errors[1]).all()


def test_errors_on_rows_that_are_preprocessed_in_another_way_than_those_of_the_fit(results: Path) -> None:
    """The degrees of an OptimizedMaclaurin map depend on the rows of the fit; the errors are those of others."""
    apart = replace(ROWS, fit_preprocess="standardize+unit_norm")
    unit = Unit(apart, {"type": "SphericalPolynomial", "a": 2, "p": 5}, {"type": "OptimizedMaclaurin"})
    block = SampleJob(unit, (32,), (0, 1))
    step(block, results)
    table = read_table(step(EvaluateJob(block, rows=60), results)).set_index("metric")["value"]
    fit, measured = (
        load(results / "data/digits", preprocess=name, max_train=60, max_test=40).X_train
        for name in ("standardize+unit_norm", "unit_norm")
    )
    kernel = SphericalPolynomial(2, 5)
    feature_map = OptimizedMaclaurin(kernel, 32, random_state=seed_of(unit.stream, 32, 0)).fit(fit)
    expected = relative_frobenius_error(kernel(measured), feature_map.kernel_matrix(measured))
    assert table["relative_frobenius_error"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("how", ["associated", "positive"])
def test_scores_are_those_of_the_library(how: str, results: Path) -> None:
    table = read_table(step(TrainJob(BLOCK, {"type": "LinearSVM", "signed": how}), results))
    rows, feature_map = by_hand(results, 16, 0)
    keep = feature_map.signature_ > 0 if how == "positive" else slice(None)
    Z, Z_test = (feature_map.transform(X)[:, keep] for X in (rows.X_train, rows.X_test))
    expected = accuracy(rows.y_test, LinearSVM().fit(Z, rows.y_train).predict(Z_test))
    cell = table[(table["n_components"] == 16) & (table["seed"] == 0)]
    assert cell["value"].item() == pytest.approx(expected)
    assert set(table["signed"]) == {how}


def test_eigenvalues_are_compared_at_their_ranks(results: Path) -> None:
    table = read_table(step(EvaluateJob(ONE, rows=60, eigenvalues=True), results))
    curve = table[table["metric"] == "log_eigenvalue_ratio"].set_index("at")["value"]
    rows, feature_map = by_hand(results, 16, 0)
    order = np.sort(np.random.default_rng(seed_of("rows", 0)).permutation(60)[:60])
    X = rows.X_train[order]
    expected = log_eigenvalue_ratio(DeltaGaussian()(X), feature_map.kernel_matrix(X))
    assert list(curve.index) == list(range(1, 61))
    np.testing.assert_allclose(curve, expected, rtol=1e-6)
    assert table.loc[table["metric"] == "relative_frobenius_error", "at"].isna().all()


def test_parts_and_regularised_errors_are_those_of_the_library(results: Path) -> None:
    job = EvaluateJob(ONE, rows=60, parts=True, ridges=(0.01, 0.001))
    assert job.path.endswith("/rows=60-parts-ridges=0.01_0.001.parquet")
    table = read_table(step(job, results)).set_index("metric")["value"]
    rows, feature_map = by_hand(results, 16, 0)
    X = rows.X_train[np.sort(np.random.default_rng(seed_of("rows", 0)).permutation(60))]
    exact, estimate = DeltaGaussian()(X), feature_map.kernel_matrix(X)
    expected = [regularised_spectral_error(exact, estimate, ridge) for ridge in (0.01, 0.001)]
    np.testing.assert_allclose(table["regularised_spectral_error"], expected, rtol=1e-7)
    parts = {"diagonal_error": (np.arange(60), np.arange(60)), "near_pairs_error": nearest_pairs(X)}
    for name, entries in parts.items():
        assert table[name] == pytest.approx(error_at(exact, estimate, entries), rel=1e-9, abs=1e-12)


def test_errors_of_rows_that_the_map_has_not_seen(results: Path) -> None:
    table = read_table(step(EvaluateJob(ONE, 30, held_out=True), results))
    rows, fitted = by_hand(results, 16, 0)
    chosen = np.sort(np.random.default_rng(seed_of("rows", 0)).permutation(40)[:30])
    X = rows.X_test[chosen]
    error = table.loc[table["metric"] == "relative_frobenius_error", "value"].item()
    assert error == relative_frobenius_error(DeltaGaussian()(X), fitted.kernel_matrix(X))


def test_what_a_map_of_maps_took_is_noted(results: Path) -> None:
    unit = Unit(ROWS, {"type": "Gaussian", "sigma": 0.5}, {"type": "AutoMap", "candidates": ["RFF"]})
    sample = SampleJob(unit, (8,), (0, 1))
    step(sample, results)
    assert set(read_table(step(EvaluateJob(sample, rows=60), results))["took"]) == {"RFF"}
    assert "took" not in read_table(step(EvaluateJob(ONE, rows=50), results))


def test_features_get_back_the_norms_of_the_rows(results: Path) -> None:
    table = read_table(step(TrainJob(ONE, {"type": "LinearSVM", "row_norms": True}), results))
    rows, feature_map = by_hand(results, 16, 0)
    raw = load(results / "data/digits", repetition=0, max_train=60, max_test=40)
    Z, Z_test = (
        feature_map.transform(unit) * np.linalg.norm(X, axis=1)[:, None]
        for unit, X in ((rows.X_train, raw.X_train), (rows.X_test, raw.X_test))
    )
    expected = accuracy(rows.y_test, LinearSVM().fit(Z, rows.y_train).predict(Z_test))
    assert table["value"].item() == pytest.approx(expected)


def test_a_path_of_ridges_is_scored_by_effective_ridge(results: Path) -> None:
    learner = {"type": "KRRClassifier", "ridge": "lambda", "alphas": [0.1], "path": [0.1, 10]}
    table = read_table(step(TrainJob(ONE, learner), results))
    rows, feature_map = by_hand(results, 16, 0)
    Z = feature_map.transform(rows.X_train)
    np.testing.assert_allclose(table["at"].dropna(), np.array([0.1, 10]) / (Z**2).sum(axis=1).mean())
    strong = KRRClassifier(ridge="lambda", alphas=[10.0]).fit(Z, rows.y_train)
    expected = accuracy(rows.y_test, strong.predict(feature_map.transform(rows.X_test)))
    assert table["value"][1] == pytest.approx(expected)
    assert table["value"][0] == table.loc[table["at"].isna(), "value"].item()


def test_degrees_of_freedom_are_those_of_the_kernel(results: Path) -> None:
    table = read_table(step(EvaluateJob(ONE, rows=60, degrees=True), results))
    rows, _ = by_hand(results, 16, 0)
    for metric, expected in zip(
        ("effective_degrees", "surrogate_degrees"),
        degrees_of_freedom(DeltaGaussian()(rows.X_train), rows.y_train),
        strict=True,
    ):
        np.testing.assert_allclose(table[table["metric"] == metric]["value"], expected, rtol=1e-9)


def test_a_streaming_learner_tells_its_curve(results: Path) -> None:
    learner = {"type": "DoublyStochasticClassifier", "n_blocks": 6, "batch_size": 10}
    table = read_table(step(TrainJob(ONE, learner), results))
    assert list(table["at"].dropna()) == [10, 20, 40, 60]
    assert table.loc[table["at"].isna(), "value"].item() == table.loc[table["at"] == 60, "value"].item()


def test_the_exact_learner_is_scored(results: Path) -> None:
    job = ExactJob(ROWS, KERNEL, {"type": "ExactKernelSVC", "C": 10}, (0, 2))
    assert list(read_table(step(job, results))["seed"]) == [0, 1]


COSTS = CostJob(ROWS, KERNEL, (METHOD, {"type": "MVORF"}, {"type": "Nystroem"}), (8, 64), (0, 3))


def test_every_map_has_its_cost_for_each_number_of_columns_and_seed(results: Path) -> None:
    table = read_table(step(COSTS, results))
    metrics = ("fit_seconds", "row_microseconds", "map_seconds", "map_megabytes")
    wanted = {
        (method, n, seed, metric)
        for method in ("GORF", "MVORF", "Nystroem")
        for n in (8, 64)
        for seed in range(3)
        for metric in metrics
    }
    found = table.set_index(["method_id", "n_components", "seed", "metric"])["value"]
    assert set(found.index) == wanted
    assert len(found) == len(wanted)
    assert (found >= 0).all()
    seconds = {metric: found.xs(metric, level="metric") for metric in metrics}
    rows = seconds["fit_seconds"] + 60 * seconds["row_microseconds"] / 1e6
    assert np.allclose(rows, seconds["map_seconds"], rtol=1e-12)
    spent = table.set_index(["method_id", "n_components", "seed"])["seconds"]
    assert set(spent.items()) == set(seconds["map_seconds"].items())


def test_memory_is_that_of_the_map(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    """A map that fills 80 MB while it transforms is measured as such, whatever maps before it took."""
    transform = GORF.transform

    def greedy(self: GORF, X: Any) -> Any:
        return transform(self, X) + 0 * np.ones(10**7)[0]

    monkeypatch.setattr(GORF, "transform", greedy)
    job = CostJob(ROWS, KERNEL, (METHOD, {"type": "Nystroem"}), (8,), (0, 2))
    table = read_table(step(job, results))
    megabytes = table[table["metric"] == "map_megabytes"].groupby("method_id")["value"].median()
    assert 70 < megabytes["GORF"] < 110
    assert megabytes["Nystroem"] < 40


def test_maps_are_measured_without_what_earlier_fits_left(
    monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    fits: list[int] = []
    fit = GORF.fit

    def counted(self: GORF, X: Any, y: Any = None) -> GORF:
        fits.append(1)
        assert len(fits) == 1
        return fit(self, X, y)

    monkeypatch.setattr(GORF, "fit", counted)
    step(CostJob(ROWS, KERNEL, (METHOD,), (8, 16), (0, 2)), results)
    assert not fits


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        (lambda *_: np.array([1.0]) @ np.ones((2, 2)), "matmul: "),
        (lambda *_: os._exit(9), r"A measurement ended without a result \(exit status 9\)"),
    ],
)
def test_a_map_that_fails_ends_the_measurement(
    fails: Any, words: str, monkeypatch: pytest.MonkeyPatch, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(GORF, "transform", fails)
    with pytest.raises(SystemExit, match=r"^1$"):
        step(CostJob(ROWS, KERNEL, (METHOD,), (4,), (0, 1)), results)
    assert re.search(f"error: {words}", capsys.readouterr().err)


def test_a_spectrum_is_stored_and_used(results: Path) -> None:
    unit = Unit(ROWS, KERNEL, {"type": "SRF", "measure": "minimum_variance"})
    assert unit.spectra is not None
    step(unit.spectra, results)
    assert "16/0/waves_.weights" in read_arrays(step(SampleJob(unit, (16,), (0, 1)), results))


def test_wrong_input_ends_with_one_line(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = SampleJob(UNIT, (4,), (0, 1))
    (results / damaged.path).write_bytes(b"not an npz")
    with pytest.raises(SystemExit, match=r"^1$"):
        step(EvaluateJob(damaged), results)
    command, error, _ = capsys.readouterr().err.split("\n")
    assert command.startswith("rflib evaluate --job ")
    assert re.fullmatch(r"error: .*4-r0_1\.npz is damaged.*delete it and run again.*", error)


def test_a_job_is_read_as_it_is_written() -> None:
    spectra = Unit(ROWS, KERNEL, {"type": "SRF"}).spectra
    exact = ExactJob(ROWS, KERNEL, {"type": "ExactKernelSVC"}, (0, 2))
    for job in (
        BLOCK,
        EvaluateJob(BLOCK, 60, degrees=True),
        TrainJob(BLOCK, {"type": "KRR"}),
        exact,
        spectra,
        COSTS,
    ):
        assert job is not None
        again = JOBS[job.step].of(json.loads(job.text))
        assert again == job
        assert again.path == job.path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"unit": UNIT.content, "seeds": [0, 1]}, "SampleJob: the key 'n_components' is missing"),
        ({"unit": UNIT.content, "seed": [0, 1]}, "SampleJob has no key 'seed'. Did you mean 'seeds'"),
        (
            {**BLOCK.content, "unit": {**UNIT.content, "kernal": {}}},
            "Unit has no key 'kernal'. Did you mean 'kernel'",
        ),
        ([], "SampleJob must be an object with the keys unit, n_components, seeds"),
    ],
)
def test_a_job_that_is_written_wrong(content: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SampleJob.of(content)


def test_seeds_come_from_identity_alone() -> None:
    assert seed_of("a", 1).entropy == seed_of("a", "1").entropy
    assert seed_of("a", 1).entropy != seed_of("a1").entropy
    assert seed_of("a", 1).generate_state(1)[0] == 1348368279


def test_features_in_blocks_give_the_scores_of_stored_ones(results: Path) -> None:
    learner = {"type": "KRRClassifier", "alphas": [0.01]}
    stored, streamed, few = (
        read_table(step(TrainJob(ONE, learner, stream_above=rows), results))["value"]
        for rows in (None, 59, 60)
    )
    assert stored.tolist() == streamed.tolist() == few.tolist()
