"""Step train: a learner on the features of a block's cells, and its score on the test rows."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.load import Dataset
from rflib.experiment.cells import Source, maps_of
from rflib.experiment.files import write_rows
from rflib.experiment.names import Spec, build
from rflib.learners.signed import signed_columns
from rflib.metrics import accuracy, rmse


def run(
    source: Source, features: Path, kernel: Spec, method: Spec, learner: Spec, output: Path, **common: Any
) -> None:
    """Train and score the learner for every cell in the file of features."""
    found = []
    read_for = None
    for n, seed, feature_map, _ in maps_of(features, kernel, method):
        if seed != read_for:
            data = source.read(seed)
            read_for = seed
        start = perf_counter()
        Z_train, Z_test = feature_map.transform(data.X_train), feature_map.transform(data.X_test)
        predicted = _predict(learner, feature_map.signature_, Z_train, data.y_train, Z_test)
        seconds = perf_counter() - start
        found.append(
            {
                "n_components": n,
                "columns": feature_map.n_components_,
                "seed": seed,
                **score(data, predicted),
                "seconds": seconds,
            }
        )
    write_rows(output, found, signed=learner.get("signed", "associated"), **common)


def score(data: Dataset, predicted: NDArray) -> dict[str, Any]:
    """Return metric and value of predictions for the test rows: accuracy, or RMSE in the target's units."""
    if data.task == "classification":
        return {"metric": "accuracy", "value": accuracy(data.y_test, predicted)}
    return {"metric": "rmse", "value": rmse(data.y_test, predicted)}


def _predict(
    learner: Spec, signature: NDArray[np.float64], Z_train: NDArray, y_train: NDArray, Z_test: NDArray
) -> NDArray:
    """Fit and predict, with the columns of sign -1 treated as the learner's ``signed`` says."""
    spec = {key: value for key, value in learner.items() if key != "signed"}
    how = learner.get("signed", "associated")
    if how == "krein":
        estimator = build("learner", spec, signed="krein", signature=signature)
    else:
        estimator = build("learner", spec)
        Z_train, Z_test = (signed_columns(Z, signature, how) for Z in (Z_train, Z_test))
    return estimator.fit(Z_train, y_train).predict(Z_test)
