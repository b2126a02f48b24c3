"""Step fit: fit an estimator to the raw columns of a data set, and measure its scores, seconds and memory."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import TYPE_CHECKING, Any

from rflib.datasets.raw_columns import as_table
from rflib.datasets.registry import RAW_COLUMNS
from rflib.experiment.cells import read_rows
from rflib.experiment.copies import import_what_is_imported, in_a_copy
from rflib.experiment.estimators import build_estimator, libraries
from rflib.experiment.scores import scores_of
from rflib.experiment.warned import FitWarning, noted
from rflib.files import write_rows

if TYPE_CHECKING:
    import pandas as pd

    from rflib.datasets.load import Dataset
    from rflib.experiment.jobs_on_rows import FitJob

_ROWS_OF_TRIAL = 300


def run(job: FitJob, results: Path, output: Path, **common: Any) -> None:
    """Fit and score the estimator for each seed, in a copy of this process that has fitted nothing before.

    The copy has what a fit imports, because a fit on a few rows in another copy has told what that is. Seconds are
    CPU time, which on one thread is the time that passes unless the machine does something else. The memory is the
    peak of the copy beyond what it began with, in megabytes of 10^6 bytes.
    """
    found: list[dict[str, Any]] = []
    trial = partial(_trial, job, _tables(results, job, job.seeds[0]))
    with suppress(Exception):  # an error of the fit itself is raised below
        import_what_is_imported(trial)
    for seed in noted(range(*job.seeds), found):
        tables = _tables(results, job, seed)
        values, texts = in_a_copy(partial(_measured, job, seed, *tables))
        for text in texts:
            warnings.warn(FitWarning(text), stacklevel=1)
        cell = {"n_components": 0, "seed": seed, "seconds": values["learning_seconds"]}
        found += [{**cell, "metric": m, "value": v} for m, v in values.items()]
    write_rows(output, found, libraries=libraries(job.estimator), **common)


Tables = tuple["Dataset", "pd.DataFrame", "pd.DataFrame"]


def _tables(results: Path, job: FitJob, seed: int) -> Tables:
    """Return the rows of a repetition, and the training and test rows as DataFrames of the raw columns."""
    data = read_rows(results, job.data, seed)
    columns = RAW_COLUMNS.get(job.data.folder, ())
    return data, as_table(data.X_train, columns), as_table(data.X_test, columns)


def _trial(job: FitJob, tables: Tables) -> None:
    data, train, test = tables
    estimator = build_estimator(job.estimator, job.seeds[0])
    estimator.fit(train[:_ROWS_OF_TRIAL], data.y_train[:_ROWS_OF_TRIAL]).predict(test[:_ROWS_OF_TRIAL])


def _measured(
    job: FitJob, seed: int, data: Dataset, train: pd.DataFrame, test: pd.DataFrame
) -> tuple[dict[str, float], list[str]]:
    """Return the metrics of a fit and the texts of its warnings."""
    estimator = build_estimator(job.estimator, seed)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        before = getrusage(RUSAGE_SELF).ru_maxrss
        start = process_time()
        estimator.fit(train, data.y_train)
        fitted = process_time()
        predicted = estimator.predict(test)
        end = process_time()
        peak = getrusage(RUSAGE_SELF).ru_maxrss
        scores = scores_of(estimator, test, data.y_test, predicted, data.classes)
    costs = {
        "learning_seconds": fitted - start,
        "prediction_seconds": end - fitted,
        "learning_megabytes": (peak - before) * 1024 / 1e6,
    }
    return scores | costs, list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in raised))
