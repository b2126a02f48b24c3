"""Step evaluate: the errors of the approximate kernel matrices of a block, on rows drawn at random."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from rflib.datasets.dense_rows import made_dense
from rflib.experiment.cells import exact_matrix, features, maps_of, read_rows, seed_of, wake
from rflib.experiment.specs import build_kernel
from rflib.experiment.warned import noted
from rflib.files import write_rows
from rflib.metrics import (
    degrees_of_freedom,
    error_at,
    log_eigenvalue_ratio,
    mean_squared_error,
    nearest_pairs,
    regularised_spectral_error,
    regularised_spectral_errors,
    relative_frobenius_error,
    relative_spectral_error,
    spectral_norm,
)

if TYPE_CHECKING:
    from rflib.experiment.jobs import EvaluateJob

RANKS = 101
DEGREES = ("effective_degrees", "surrogate_degrees")


def run(job: EvaluateJob, results: Path, output: Path, **common: Any) -> None:
    """Compare K_hat with K on ``job.rows`` training or test rows, which differ from seed to seed.

    ``at`` is the rank i, from 1 to ``job.rows``, of a ratio of eigenvalues, and the ridge lambda of a regularised
    error. ``took`` is the type of the map that AutoMap has chosen.
    """
    unit = job.sample.unit
    found: list[dict[str, Any]] = []
    cell: dict[str, Any]
    read_for = None
    wake(job.device)
    for n, seed, feature_map, fit_seconds in noted(maps_of(results, job.sample), found):
        if seed != read_for:
            data = read_rows(results, unit.data, seed)
            X, y = (data.X_test, data.y_test) if job.held_out else (data.X_train, data.y_train)
            chosen = np.sort(np.random.default_rng(seed_of("rows", seed)).permutation(len(y))[: job.rows])
            X, y = X[chosen], y[chosen]
            exact = exact_matrix(build_kernel(unit.kernel), X)
            norms = {
                relative_frobenius_error: float(np.linalg.norm(exact)),
                relative_spectral_error: spectral_norm(exact),
            }
            if job.parts:
                diagonal = np.arange(len(y))
                [rows] = made_dense("the error of near pairs", X)
                parts = {"diagonal_error": (diagonal, diagonal), "near_pairs_error": nearest_pairs(rows)}
            if job.ridges:
                decomposition = eigh(exact)
            read_for = seed
        start = perf_counter()
        Z = features(feature_map, X, job.device).astype(np.float64)
        seconds = perf_counter() - start
        estimate = (Z * feature_map.signature_) @ Z.T
        if job.unit_diagonal:
            np.fill_diagonal(estimate, 1.0)
        cell = {"n_components": n, "columns": feature_map.n_components_, "seed": seed}
        if hasattr(feature_map, "best_"):
            cell["took"] = type(feature_map.best_).__name__
        errors = {error.__name__: error(exact, estimate, norm) for error, norm in norms.items()}
        errors[mean_squared_error.__name__] = mean_squared_error(exact, estimate)
        if job.parts:
            errors |= {name: error_at(exact, estimate, entries) for name, entries in parts.items()}
        found += [{**cell, "metric": m, "value": v, "seconds": seconds} for m, v in errors.items()]
        if job.ridges:
            values = regularised_spectral_errors(exact, estimate, job.ridges, decomposition)
            at_ridges = {**cell, "metric": regularised_spectral_error.__name__, "seconds": seconds}
            pairs = zip(job.ridges, values, strict=True)
            found += [{**at_ridges, "at": float(ridge), "value": value} for ridge, value in pairs]
        if job.eigenvalues:
            ratios = log_eigenvalue_ratio(exact, estimate)
            ranks = np.unique(np.linspace(1, len(ratios), RANKS).round().astype(int))
            cell_at = {**cell, "metric": log_eigenvalue_ratio.__name__, "seconds": seconds}
            found += [{**cell_at, "at": float(rank), "value": ratios[rank - 1]} for rank in ranks]
        if job.degrees:
            numbers = dict(zip(DEGREES, degrees_of_freedom(exact, y), strict=True))
            found += [{**cell, "metric": m, "value": v, "seconds": 0.0} for m, v in numbers.items()]
        found += [{**cell, "metric": "sample_seconds", "value": fit_seconds, "seconds": fit_seconds}]
        found += [{**cell, "metric": "transform_seconds", "value": seconds, "seconds": seconds}]
    write_rows(output, found, **common)
