"""Step train: train a learner on the features of each cell of a block, and score it on the test rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from rflib.datasets.load import Dataset
from rflib.datasets.preprocess import row_norms
from rflib.experiment.cells import as_taken, features, maps_of, on_device, read_rows, wake
from rflib.experiment.specs import (
    LEARNER_TREATMENTS,
    Spec,
    build,
    build_kernel,
    build_map,
    is_streaming,
    streams_features,
)
from rflib.experiment.warned import noted
from rflib.files import write_rows
from rflib.learners.ridge_system import ridge_sizes
from rflib.metrics import accuracy, rmse

if TYPE_CHECKING:
    from rflib.experiment.data import Data
    from rflib.experiment.jobs import TrainJob


def run(job: TrainJob, results: Path, output: Path, **common: Any) -> None:
    """Train and score the learner for every cell in the file of features."""
    unit, learner = job.sample.unit, job.learner
    found: list[dict[str, Any]] = []
    read_for = None
    wake(job.device)
    for n, seed, feature_map, _ in noted(maps_of(results, job.sample), found):
        if seed != read_for:
            data = read_rows(results, unit.data, seed)
            norms = _row_norms(results, unit.data, seed) if learner.get("row_norms") else (1.0, 1.0)
            read_for = seed
        cell = {"n_components": n, "columns": feature_map.n_components_, "seed": seed}
        start = perf_counter()
        if is_streaming(learner):
            block = build_map(unit.method, build_kernel(unit.kernel), n_components=n)
            estimator = build("learner", learner, feature_map=block, random_state=seed)
            train, test = as_taken(estimator, data.X_train, data.X_test)
            estimator.fit(train, data.y_train)
            for examples, predicted in _doubling(estimator.staged_predict(test)):
                found.append({**cell, "at": float(examples), **score(data, predicted)})
        elif _in_blocks(job, len(data.y_train)):
            estimator = build("learner", learner, feature_map=FrozenEstimator(feature_map))
            if job.device != "cpu":
                estimator.set_params(device=job.device)
            with on_device() if job.device != "cpu" else nullcontext():
                train, test = as_taken(estimator, data.X_train, data.X_test)
                predicted = estimator.fit(train, data.y_train).predict(test)
        else:
            Z_train = features(feature_map, data.X_train, job.device) * norms[0]
            Z_test = features(feature_map, data.X_test, job.device) * norms[1]
            if "path" in learner:
                for alpha, ridge in _effective_ridges(learner, Z_train):
                    fixed = {**learner, "alphas": [alpha]}
                    predicted = _predict(fixed, feature_map.signature_, Z_train, data.y_train, Z_test)
                    found.append({**cell, "at": ridge, **score(data, predicted)})
            predicted = _predict(learner, feature_map.signature_, Z_train, data.y_train, Z_test)
        found.append({**cell, **score(data, predicted), "seconds": perf_counter() - start})
    write_rows(output, found, signed=learner.get("signed", "associated"), **common)


def _in_blocks(job: TrainJob, n_rows: int) -> bool:
    """Whether the learner makes its features in blocks."""
    is_large = job.stream_above is not None and n_rows > job.stream_above
    return streams_features(job.learner) and (is_large or job.device != "cpu")


def _doubling(stages: Iterator[tuple[int, NDArray]]) -> Iterator[tuple[int, NDArray]]:
    """Yield the first stage, those at two, four, ... times its number of rows, and the last."""
    wanted, stage = 0, None
    for stage in stages:
        if stage[0] >= wanted:
            yield stage
            wanted, stage = 2 * stage[0], None
    if stage is not None:
        yield stage


def _effective_ridges(learner: Spec, Z: NDArray) -> list[tuple[float, float]]:
    """Return the alphas of the learner's path, each with its ridge divided by the mean diagonal of K_hat."""
    alphas = np.array(learner["path"], dtype=np.float64)
    sizes = ridge_sizes(alphas, learner.get("ridge", "n_lambda"), len(Z))
    return list(zip(alphas.tolist(), (sizes / np.einsum("ij,ij->i", Z, Z).mean()).tolist(), strict=True))


def _row_norms(results: Path, data: Data, seed: int) -> tuple[NDArray, NDArray]:
    """Return the norms of the training and test rows before the step unit_norm, as columns."""
    before, last = data.preprocess.rpartition("+")[::2]
    if last != "unit_norm":
        raise ValueError(
            f"row_norms needs unit_norm as the last step of preprocessing, got {data.preprocess!r}."
        )
    rows = read_rows(results, replace(data, preprocess=before or "raw"), seed)
    return row_norms(rows.X_train), row_norms(rows.X_test)


def score(data: Dataset, predicted: NDArray) -> dict[str, Any]:
    """Return the metric and value for predictions on the test rows: accuracy, or RMSE in units of the target."""
    if data.task == "classification":
        return {"metric": "accuracy", "value": accuracy(data.y_test, predicted)}
    return {"metric": "rmse", "value": rmse(data.y_test, predicted)}


def _predict(
    learner: Spec, signature: NDArray[np.float64], Z_train: NDArray, y_train: NDArray, Z_test: NDArray
) -> NDArray:
    """Fit and predict. A learner with the parameter ``signed`` gets the signs of the features."""
    spec = {key: value for key, value in learner.items() if key not in LEARNER_TREATMENTS}
    signs = {"signature": signature} if "signed" in spec else {}
    estimator = build("learner", spec, **signs)
    return estimator.fit(Z_train, y_train).predict(Z_test)
