"""Where stored features would not fit: ridge regression and doubly stochastic gradients, with time and memory.

``python benchmarks/large.py`` writes docs/results/large.md: real tables (flights, mnist, covtype_sample), two
million random rows, and ridge with D = 13,824 on random rows of the shape of covtype, where liu2020 stopped; ten
million rows of Parquet files; and rows on one and on two workers of Dask. ``large.py memory``, ``parquet`` or
``dask`` writes one of these parts and leaves the others; ``--rows`` and ``--out`` are for a trial. The official
files of the tables are taken from ``data`` or from the mirrors in ``RFLIB_MIRRORS``, as in the pipeline.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits
from timing import conditions

from rflib.datasets.fetch import fetch
from rflib.datasets.load import Dataset, load
from rflib.datasets.prepare import prepare
from rflib.kernels import Gaussian
from rflib.learners import (
    KRR,
    ArrayRows,
    DoublyStochasticClassifier,
    ExactKRR,
    ExactKRRClassifier,
    KRRClassifier,
    ParquetRows,
)
from rflib.maps import RFF, MercerFeatures

RIDGES: dict[str, Any] = {"alphas": (0.01, 0.1, 1.0, 10.0), "ridge": "lambda", "cv": 5}

OUT = Path("docs/results/large.md")
TEST = 20_000
# learner, table or None for random rows, rows or None for all, input columns of random rows, features
CASES: tuple[tuple[str, str | None, int | None, int, int], ...] = (
    ("KRR", "flights", None, 0, 1024),
    ("KRR, MercerFeatures", "flights", None, 0, 1024),
    ("KRR", "mnist", None, 0, 4096),
    ("doubly stochastic", "mnist", None, 0, 32 * 512),
    ("KRR", "covtype_sample", None, 0, 4096),
    ("doubly stochastic", "covtype_sample", None, 0, 32 * 512),
    ("KRR", None, 2_000_000, 16, 1024),
    ("KRR", None, 290_506, 54, 13_824),
)
# The width of the Gaussian, and the training rows of the exact kernel.
WIDTHS = {"flights": 16.0, "mnist": 5.0, "covtype_sample": 0.5, None: 0.5}
PREPROCESS = {"flights": "standardize", "mnist": "minmax_all", "covtype_sample": "standardize+unit_norm"}
EXACT_ROWS = 10_000
HEAD = f"""\
# Many rows

`make large` made this page. It has fits of learners to so many rows that their features, n D numbers, would
take up to tens of gigabytes. They have the features of `RFF` for a Gaussian, or those of `MercerFeatures`, in
float32 and on all threads, each in a process of its own. Ridge regression (KRR) compares 4 ridges by 5 folds,
and its Gram matrices take 7 D^2 numbers. Doubly stochastic gradients have 32 blocks of 512 features and batches
of 4,096 rows.

The tables are those of [Data sets](../data.md) in full, with their own test rows or a random split: flights
(delays in minutes: the score is R²), mnist (ten digits) and covtype_sample (seven kinds of forest), whose
scores are accuracies. Beside each stand two scores on the same test rows: that of ridge regression with the
exact kernel of the same width on {EXACT_ROWS:,} of the training rows, which is as many as its matrix allows
here, and that of gradient boosting (scikit-learn's, with its defaults) on all rows, the best that we know
without tuning.

The Gaussian for flights is wide, because some columns have values up to 100 standard deviations from their
means. There a narrow Gaussian fades to zero, and so does a map that represents it well.

Random rows have unit norm, and their label is the sign of a sum of random waves, so that their scores say
little but that the fit ran; they are accuracies on {TEST:,} more rows.
"""


PARQUET_HEADING = "## Rows from Parquet files"
PARQUET_HEAD = """\
`KRR.fit_blocks(ParquetRows(folder))` fits ridge regression with the features of `RFF(Gaussian(0.5))`, in
float32 and on all threads, each fit in a process of its own. The files take {size:,.0f} MB in all. Each has
{file_rows:,} rows with {d} input columns and a target in float32, and checksums of its pages. The target is a
sum of random waves with noise of variance {noise:g}. R² is that on {test:,} more rows, where at most {best:.3f}
can be reached. The time of reading is that of a pass over the blocks, after the fit, that does nothing with
them.
"""
FILE_ROWS = 1_000_000
WRITE_ROWS = 100_000
NOISE = 0.25
PARQUET_D, PARQUET_COLUMNS = 1024, 16
# what is fitted: a name and parameters
PARQUET_CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("1 ridge", {"alphas": 0.1}),
    ("4 ridges, 5 folds", {"alphas": (0.01, 0.1, 1.0, 10.0)}),
)

DASK_HEADING = "## Rows on several workers of Dask"
DASK_HEAD = """\
`KRR.fit` takes Dask arrays, here in float32 with the features of `RFF(Gaussian(0.5))`, on worker processes of
this machine with one thread each. The rows have {d} columns and are in the workers' memory before, in blocks of
{height:,}. The first line of a fit is `fit_blocks` of the same rows in one process with one thread. The
speed-up is relative to one worker. The peak of memory is that of the worker with the largest one, and includes
its rows.
"""
DASK_ROWS_A_BLOCK = 25_000


def main() -> None:
    """Write the parts that are asked for, and keep the others of the page."""
    writers = {"memory": memory_part, "parquet": parquet_part, "dask": dask_part}
    headings = {"parquet": PARQUET_HEADING, "dask": DASK_HEADING}
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(writers))
    parser.add_argument("--rows", type=int, help="rows of each part, for a trial")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    if unknown := set(given.parts) - set(writers):
        parser.error(f"no part is called {', '.join(sorted(unknown))}; the parts are {', '.join(writers)}")
    known = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
    first, *others = known.split("\n## ")
    texts = {"memory": first} | {
        part: f"\n## {text}"
        for part, heading in headings.items()
        for text in others
        if heading == f"## {text.splitlines()[0]}"
    }
    for part in given.parts or writers:
        text = writers[part](given.rows)
        texts[part] = f"\n{headings[part]}\n\n{text}" if part in headings else text
        page = "\n".join(texts[name].rstrip("\n") + "\n" for name in writers if texts.get(name))
        given.out.write_text(page.replace("\n\n\n", "\n\n"), encoding="utf-8")


def memory_part(rows: int | None) -> str:
    """Run the cases in memory in processes of their own and return the table."""
    lines = [
        HEAD,
        f"Measured on {datetime.now(UTC):%Y-%m-%d %H:%M UTC}; {conditions()}.\n",
        "| learner | rows | n | d | D | seconds | score | exact kernel | gradient boosting "
        "| peak MB of the process | MB of the rows in it | MB of the features, if stored |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        rivals = {table: alone(rival_scores, folder, table, rows) for table in PREPROCESS}
        for name, table, asked, columns, D in CASES:
            n, d, seconds, score, peak = alone(fit, folder, name, table, rows or asked, columns, D)
            beside = " | ".join(f"{value:.3f}" for value in rivals[table]) if table else " | "
            sizes = f"{peak:,.0f} | {n * d * 4e-6:.0f} | {n * D * 4e-6:,.0f}"
            about = f"{name} | {table or 'random'} | {n:,} | {d} | {D:,} | {seconds:.0f} | {score:.3f}"
            lines.append(f"| {about} | {beside} | {sizes} |")
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def rows_of(folder: str, table: str, n: int | None) -> Dataset:
    """Return a table in single precision, or n of its rows, prepared in a folder if it is not yet there."""
    prepared = Path(folder, table)
    if not prepared.exists():
        fetch(table, "data", [m for m in os.environ.get("RFLIB_MIRRORS", "").split(":") if m])
        prepare(table, "data", prepared)
    return load(prepared, preprocess=PREPROCESS[table], dtype="float32", max_train=n, max_test=n)


def rival_scores(folder: str, table: str, n: int | None) -> tuple[float, float]:
    """Return the scores of the exact kernel on some training rows, and of gradient boosting on all."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    data, some = rows_of(folder, table, n), slice(EXACT_ROWS)
    classifies = data.task == "classification"
    exact = (ExactKRRClassifier if classifies else ExactKRR)(Gaussian(WIDTHS[table]))
    order = np.random.default_rng(0).permutation(len(data.y_train))[some]
    exact.fit(data.X_train[order], data.y_train[order])
    boosted = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    trees = boosted(random_state=0).fit(data.X_train, data.y_train)
    return exact.score(data.X_test, data.y_test), trees.score(data.X_test, data.y_test)


def parquet_part(n: int | None) -> str:
    """Write n rows as Parquet files, fit them in processes of their own, and return the table."""
    n = n or 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder), n)
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        _, values = regression(TEST, 0)
        head = PARQUET_HEAD.format(
            d=PARQUET_COLUMNS,
            file_rows=min(n, FILE_ROWS),
            size=size,
            noise=NOISE,
            test=TEST,
            best=1 - NOISE / values.var(),
        )
        lines = [
            head,
            f"Measured on {datetime.now(UTC):%Y-%m-%d %H:%M UTC}; {conditions()}.\n",
            "| fit | n | d | D | seconds | rows a second | seconds of reading alone | R² | "
            "peak MB of the process | MB of the features, if stored |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for name, parameters in PARQUET_CASES:
            with get_context("spawn").Pool(1) as pool:
                seconds, reading, score, peak = pool.apply(fit_parquet, (folder, parameters))
            sizes = f"{peak:,.0f} | {n * PARQUET_D * 4e-6:,.0f}"
            times = f"{seconds:.0f} | {n / seconds:,.0f} | {reading:.1f}"
            lines.append(
                f"| {name} | {n:,} | {PARQUET_COLUMNS} | {PARQUET_D:,} | {times} | {score:.3f} | {sizes} |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def dask_part(n: int | None) -> str:
    """Fit n rows on one and on two workers, and return the table."""
    n = n or 1_000_000
    lines = [
        DASK_HEAD.format(d=PARQUET_COLUMNS, height=DASK_ROWS_A_BLOCK),
        f"Measured on {datetime.now(UTC):%Y-%m-%d %H:%M UTC}; {conditions()}, dask {version('dask')}.\n",
        "| fit | n | D | workers | seconds | rows a second | speed-up | peak MB of a worker |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, parameters in PARQUET_CASES:
        alone = 0.0
        for workers in (0, 1, 2):
            if workers:
                seconds, peak = fit_on_workers(n, workers, parameters)
            else:
                with get_context("spawn").Pool(1) as pool:
                    seconds, peak = pool.apply(fit_in_one_process, (n, parameters))
            alone = seconds if workers < 2 else alone
            times = f"{seconds:.1f} | {n / seconds:,.0f} | {alone / seconds:.2f}"
            lines.append(
                f"| {name} | {n:,} | {PARQUET_D:,} | {workers or 'no Dask'} | {times} | {peak:,.0f} |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def fit_in_one_process(n: int, parameters: dict[str, Any]) -> tuple[float, float]:
    """Seconds of a fit of n rows on one thread of this process, and its peak memory in MB."""
    model = KRR(feature_map=RFF(Gaussian(0.5), PARQUET_D, random_state=0), **RIDGES | parameters)
    X, y = (np.concatenate(parts) for parts in zip(*map(regression, block_heights(n), count(1)), strict=True))
    with threadpool_limits(1):
        start = perf_counter()
        model.fit_blocks(ArrayRows(X, y, block_size=DASK_ROWS_A_BLOCK))
        return perf_counter() - start, peak_memory()


def block_heights(n: int) -> list[int]:
    """Numbers of rows of the blocks of n rows."""
    return [min(DASK_ROWS_A_BLOCK, n - start) for start in range(0, n, DASK_ROWS_A_BLOCK)]


def fit_on_workers(n: int, workers: int, parameters: dict[str, Any]) -> tuple[float, float]:
    """Seconds of a fit of n rows, and the largest peak memory of a worker in MB."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    model = KRR(feature_map=RFF(Gaussian(0.5), PARQUET_D, random_state=0), **RIDGES | parameters)
    heights = block_heights(n)
    parts = [dask.delayed(regression)(height, seed) for seed, height in enumerate(heights, 1)]
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        made = [
            da.concatenate(
                [
                    da.from_delayed(part[i], (height, *shape), np.float32)
                    for part, height in zip(parts, heights, strict=True)
                ]
            )
            for i, shape in ((0, (PARQUET_COLUMNS,)), (1, ()))
        ]
        X, y = client.persist(made)
        wait([X, y])
        start = perf_counter()
        model.fit(X, y)
        return perf_counter() - start, max(client.run(peak_memory).values())


def write_parquet(folder: Path, n: int) -> None:
    """Write the rows as files, from blocks whose numbers seed them."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(PARQUET_COLUMNS)]
    schema = pa.schema([(name, pa.float32()) for name in (*names, "y")])
    for file, first in enumerate(range(0, n, FILE_ROWS)):
        path = folder / f"part-{file:03}.parquet"
        with parquet.ParquetWriter(path, schema, use_dictionary=False, write_page_checksum=True) as writer:
            for start in range(first, min(first + FILE_ROWS, n), WRITE_ROWS):
                X, y = regression(min(WRITE_ROWS, n - start), 1 + start)
                writer.write_table(pa.table([*X.T.copy(), y], schema=schema))


def fit_parquet(folder: str, parameters: dict[str, Any]) -> tuple[float, float, float, float]:
    """Seconds of a fit and of reading alone, R², and the peak memory of this process in MB when the fit ended."""
    rows = ParquetRows(folder, [f"x{j}" for j in range(PARQUET_COLUMNS)], target="y")
    model = KRR(feature_map=RFF(Gaussian(0.5), PARQUET_D, random_state=0), **RIDGES | parameters)
    start = perf_counter()
    model.fit_blocks(rows, verbose=True)
    seconds, peak = perf_counter() - start, peak_memory()
    start = perf_counter()
    for _ in rows:
        pass
    reading = perf_counter() - start
    X, y = regression(TEST, 0)
    return seconds, reading, model.score(pd.DataFrame(X, columns=rows.columns), y), peak


def regression(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit norm from a seed, and a sum of waves with noise."""
    waves = 2 * np.random.default_rng(1).standard_normal((PARQUET_COLUMNS, 3), dtype=np.float32)
    rng = np.random.default_rng((2, seed))
    X, total = wavy(n, waves, rng)
    return X, total + np.float32(NOISE**0.5) * rng.standard_normal(n, dtype=np.float32)


def learner(name: str, D: int, width: float, classifies: bool) -> Any:
    """Return a learner of the table."""
    if name == "doubly stochastic":
        return DoublyStochasticClassifier(
            RFF(Gaussian(width), D // 32),
            n_blocks=32,
            batch_size=4096,
            step_size=4,
            alpha=1e-6,
            random_state=0,
        )
    map_ = MercerFeatures if name == "KRR, MercerFeatures" else RFF
    ridge = KRRClassifier if classifies else KRR
    return ridge(feature_map=map_(Gaussian(width), D, random_state=0), **RIDGES)


def fit(
    folder: str, name: str, table: str | None, n: int | None, d: int, D: int
) -> tuple[int, int, float, float, float]:
    """Rows, input columns, seconds of a fit, score, and the peak memory in MB when the fit ended."""
    if table is None:
        rng = np.random.default_rng(1)
        waves = 2 * rng.standard_normal((d, 3), dtype=np.float32)
        X, y = generated(n or TEST, waves, rng)
        test = generated(TEST, waves, rng)
        task = "classification"
    else:
        data = rows_of(folder, table, n)
        X, y, test, task = data.X_train, data.y_train, (data.X_test, data.y_test), data.task
    start = perf_counter()
    model = learner(name, D, WIDTHS[table], task == "classification").fit(X, y)
    seconds, peak = perf_counter() - start, peak_memory()
    return *X.shape, seconds, model.score(*test), peak


def peak_memory() -> float:
    """Largest memory of this process so far, in MB."""
    return (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1) / 1e3
    )


def generated(n: int, waves: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit norm, and the sign of the sum of the waves, which is +1 for about half of them."""
    X, total = wavy(n, waves, rng)
    return X, np.where(total > 0, 1, -1)


def wavy(n: int, waves: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit norm, and a sum of sines of them."""
    X = rng.standard_normal((n, len(waves)), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    total = np.zeros(n, dtype=np.float32)
    for wave in waves.T:
        total += np.sin(X @ wave)
    return X, total


if __name__ == "__main__":
    main()
