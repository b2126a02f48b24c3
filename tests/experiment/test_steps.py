"""The steps by themselves: what they write is what the library computes, whatever the block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib.cli import main
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.experiment.cells import seed_of
from rflib.files import read_arrays, read_table
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.learners.krr import KRRClassifier
from rflib.learners.svm import LinearSVM
from rflib.maps.gorf import GORF
from rflib.metrics import accuracy, degrees_of_freedom, log_eigenvalue_ratio, relative_frobenius_error

KERNEL = '{"type":"DeltaGaussian"}'
METHOD = '{"type":"GORF"}'


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "digits"
    prepare("digits", folder.parent, folder)
    return folder


def step(name: str, data: Path, *arguments: object) -> None:
    source = ("--data", data, "--preprocess", "unit_norm", "--max-train", 60, "--max-test", 40)
    main([name, *map(str, source), "--kernel", KERNEL, *map(str, arguments)])


def sample(data: Path, output: Path, columns: tuple[int, ...] = (16, 8), seeds: str = "0:2") -> Path:
    more = ("--identity", "digits/DeltaGaussian/GORF", "--n-components", *columns, "--seeds", seeds)
    step("sample", data, "--method", METHOD, *more, "--output", output)
    return output


def by_hand(data: Path, n: int, seed: int) -> tuple[Any, GORF]:
    rows = load(data, preprocess="unit_norm", repetition=seed, max_train=60, max_test=40)
    state = seed_of("digits/DeltaGaussian/GORF", n, seed)
    return rows, GORF(DeltaGaussian(), n, random_state=state).fit(rows.X_train)


def test_features_are_those_of_the_library_in_every_block(data: Path, tmp_path: Path) -> None:
    together = read_arrays(sample(data, tmp_path / "together.npz"))
    alone = read_arrays(sample(data, tmp_path / "alone.npz", (8,), "1:2"))
    _, expected = by_hand(data, 8, 1)
    for arrays in (together, alone):
        np.testing.assert_array_equal(arrays["8/1/frequencies_"], expected.frequencies_)


def test_errors_are_those_of_the_library(data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz")
    common = ("--method", METHOD, "--features", features, "--fingerprint", "abc", "--rows", 60)
    step("evaluate", data, *common, "--output", tmp_path / "e.parquet")
    table = read_table(tmp_path / "e.parquet")
    rows, feature_map = by_hand(data, 16, 1)
    expected = relative_frobenius_error(
        DeltaGaussian()(rows.X_train), feature_map.kernel_matrix(rows.X_train)
    )
    cell = table[(table["n_components"] == 16) & (table["seed"] == 1)].set_index("metric")["value"]
    assert cell["relative_frobenius_error"] == pytest.approx(expected, rel=1e-9)
    assert set(table["fingerprint"]) == {"abc"}
    step("evaluate", data, *common, "--unit-diagonal", "--output", tmp_path / "d.parquet")
    errors = [
        t[t["metric"] == "relative_frobenius_error"]["value"]
        for t in (table, read_table(tmp_path / "d.parquet"))
    ]
    assert (errors[0] != errors[1]).all()


@pytest.mark.parametrize("how", ["associated", "positive"])
def test_scores_are_those_of_the_library(how: str, data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz")
    learner = json.dumps({"type": "LinearSVM", "signed": how})
    common = ("--method", METHOD, "--features", features, "--learner", learner)
    step("train", data, *common, "--output", tmp_path / "s.parquet")
    table = read_table(tmp_path / "s.parquet")
    rows, feature_map = by_hand(data, 16, 0)
    keep = feature_map.signature_ > 0 if how == "positive" else slice(None)
    Z, Z_test = (feature_map.transform(X)[:, keep] for X in (rows.X_train, rows.X_test))
    expected = accuracy(rows.y_test, LinearSVM().fit(Z, rows.y_train).predict(Z_test))
    cell = table[(table["n_components"] == 16) & (table["seed"] == 0)]
    assert cell["value"].item() == pytest.approx(expected)
    assert set(table["signed"]) == {how}


def test_eigenvalues_are_compared_at_their_ranks(data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz", (16,), "0:1")
    more = ("--method", METHOD, "--features", features, "--rows", 60, "--eigenvalues")
    step("evaluate", data, *more, "--output", tmp_path / "e.parquet")
    table = read_table(tmp_path / "e.parquet")
    curve = table[table["metric"] == "log_eigenvalue_ratio"].set_index("at")["value"]
    rows, feature_map = by_hand(data, 16, 0)
    order = np.sort(np.random.default_rng(seed_of("rows", 0)).permutation(60)[:60])
    X = rows.X_train[order]
    expected = log_eigenvalue_ratio(DeltaGaussian()(X), feature_map.kernel_matrix(X))
    assert list(curve.index) == list(range(1, 61))
    np.testing.assert_allclose(curve, expected, rtol=1e-6)
    assert table.loc[table["metric"] == "relative_frobenius_error", "at"].isna().all()


def test_features_get_back_the_norms_of_the_rows(data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz", (16,), "0:1")
    learner = json.dumps({"type": "LinearSVM", "row_norms": True})
    common = ("--method", METHOD, "--features", features, "--learner", learner)
    step("train", data, *common, "--output", tmp_path / "s.parquet")
    rows, feature_map = by_hand(data, 16, 0)
    raw = load(data, repetition=0, max_train=60, max_test=40)
    Z, Z_test = (
        feature_map.transform(unit) * np.linalg.norm(X, axis=1)[:, None]
        for unit, X in ((rows.X_train, raw.X_train), (rows.X_test, raw.X_test))
    )
    expected = accuracy(rows.y_test, LinearSVM().fit(Z, rows.y_train).predict(Z_test))
    assert read_table(tmp_path / "s.parquet")["value"].item() == pytest.approx(expected)


def test_a_path_of_ridges_is_scored_by_effective_ridge(data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz", (16,), "0:1")
    spec = {"type": "KRRClassifier", "ridge": "lambda", "alphas": [0.1]}
    common = ("--method", METHOD, "--features", features)
    step(
        "train",
        data,
        *common,
        "--learner",
        json.dumps({**spec, "path": [0.1, 10]}),
        "--output",
        tmp_path / "s",
    )
    table = read_table(tmp_path / "s")
    rows, feature_map = by_hand(data, 16, 0)
    Z = feature_map.transform(rows.X_train)
    np.testing.assert_allclose(table["at"].dropna(), np.array([0.1, 10]) / (Z**2).sum(axis=1).mean())
    strong = KRRClassifier(ridge="lambda", alphas=[10.0]).fit(Z, rows.y_train)
    expected = accuracy(rows.y_test, strong.predict(feature_map.transform(rows.X_test)))
    assert table["value"][1] == pytest.approx(expected)
    assert table["value"][0] == table.loc[table["at"].isna(), "value"].item()


def test_degrees_of_freedom_are_those_of_the_kernel(data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz", (16, 8), "0:1")
    more = ("--method", METHOD, "--features", features, "--rows", 60, "--degrees")
    step("evaluate", data, *more, "--output", tmp_path / "e.parquet")
    table = read_table(tmp_path / "e.parquet")
    rows, _ = by_hand(data, 16, 0)
    for metric, expected in zip(
        ("effective_degrees", "surrogate_degrees"),
        degrees_of_freedom(DeltaGaussian()(rows.X_train), rows.y_train),
        strict=True,
    ):
        np.testing.assert_allclose(table[table["metric"] == metric]["value"], expected, rtol=1e-9)


def test_a_streaming_learner_tells_its_curve(data: Path, tmp_path: Path) -> None:
    features = sample(data, tmp_path / "f.npz", (16,), "0:1")
    learner = json.dumps({"type": "DoublyStochasticClassifier", "n_blocks": 6, "batch_size": 10})
    common = ("--method", METHOD, "--features", features, "--learner", learner)
    step("train", data, *common, "--output", tmp_path / "s.parquet")
    table = read_table(tmp_path / "s.parquet")
    assert list(table["at"].dropna()) == [10, 20, 40, 60]
    assert table.loc[table["at"].isna(), "value"].item() == table.loc[table["at"] == 60, "value"].item()


def test_the_exact_learner_is_scored(data: Path, tmp_path: Path) -> None:
    learner = '{"type":"ExactKernelSVC","C":10}'
    step("exact", data, "--learner", learner, "--seeds", "0:2", "--output", tmp_path / "x.parquet")
    assert list(read_table(tmp_path / "x.parquet")["seed"]) == [0, 1]


def test_a_spectrum_is_stored_and_used(data: Path, tmp_path: Path) -> None:
    measure = '{"type":"minimum_variance"}'
    step("spectra", data, "--measure", measure, "--output", tmp_path / "m.npz")
    more = ("--identity", "i", "--n-components", 16, "--seeds", "0:1", "--output", tmp_path / "f.npz")
    step("sample", data, "--method", '{"type":"MVORF"}', "--spectrum", tmp_path / "m.npz", *more)
    assert "16/0/weights_" in read_arrays(tmp_path / "f.npz")


def test_wrong_input_ends_with_one_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.npz").write_bytes(b"not an npz")
    with pytest.raises(SystemExit, match=r"error: .*f\.npz is damaged.*delete it and run again"):
        step(
            "evaluate", data, "--method", METHOD, "--features", tmp_path / "f.npz", "--output", tmp_path / "e"
        )
    assert capsys.readouterr().err.startswith("rflib evaluate --data ")


def test_seeds_come_from_identity_alone() -> None:
    assert seed_of("a", 1).entropy == seed_of("a", "1").entropy
    assert seed_of("a", 1).entropy != seed_of("a1").entropy
    assert seed_of("a", 1).generate_state(1)[0] == 1348368279
