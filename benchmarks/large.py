"""Where stored features would not fit: ridge regression and doubly stochastic gradients, with time and memory.

``python benchmarks/large.py`` writes docs/results/large.md: two million rows, and covtype's shape (290,506 x 54;
ridge with D = 13,824, where liu2020 stopped), and ten million rows of Parquet files. ``large.py memory`` or
``large.py parquet`` writes one of these parts and leaves the other as it is; ``--rows`` and ``--out`` are for a
trial.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from timing import conditions

from rflib.kernels import Gaussian
from rflib.learners import KRR, DoublyStochasticClassifier, KRRClassifier, ParquetRows
from rflib.maps import RFF

OUT = Path("docs/results/large.md")
TEST = 20_000
# learner, rows, input columns, features
CASES = (
    ("KRR", 20_000, 16, 1024),
    ("KRR", 200_000, 16, 1024),
    ("KRR", 2_000_000, 16, 1024),
    ("doubly stochastic", 290_506, 54, 32 * 512),
    ("KRR", 290_506, 54, 1024),
    ("KRR", 290_506, 54, 13_824),
)
HEAD = f"""\
# Many rows

Written by `make large`: classifiers with `RFF(Gaussian(0.5))` inside, in float32 on all threads, each in a process
of its own. Stored features would take n D numbers. KRR: 5 folds, 4 ridges; its Gram matrices take 7 D^2. Doubly
stochastic gradients: 32 blocks of 512 features, batches of 4,096 rows. Rows are generated, of unit norm, with the
sign of a sum of random waves as label; accuracy is that on {TEST:,} more rows.
"""


PARQUET_HEADING = "## Rows from Parquet files"
PARQUET_HEAD = """\
Written by `large.py parquet`: `KRR.fit_blocks(ParquetRows(folder))` with `RFF(Gaussian(0.5))`, in float32 on
all threads, each fit in a process of its own. The files have {d} feature columns and a target in float32,
{file_rows:,} rows each, and checksums of their pages: {size:,.0f} MB in all. The target is a sum of random waves
with noise of variance {noise:g}; R² is that on {test:,} more rows, whose largest value is {best:.3f}. Reading is
timed alone, after the fit, by a pass over the blocks that does nothing with them.
"""
FILE_ROWS = 1_000_000
WRITE_ROWS = 100_000
NOISE = 0.25
PARQUET_D, PARQUET_COLUMNS = 1024, 16
# what is fitted: a name and parameters
PARQUET_CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("1 ridge", {"alphas": 0.1}),
    ("4 ridges, 5 folds", {"alphas": (0.05, 0.1, 0.5, 1.0)}),
)


def main() -> None:
    """Write the parts that are asked for, and keep the other one of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=["memory", "parquet"], default=["memory", "parquet"])
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the Parquet files")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    known = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
    memory, _, parquet = known.partition(f"\n{PARQUET_HEADING}\n")
    for part in given.parts:
        if part == "memory":
            memory = memory_part()
        else:
            parquet = "\n" + parquet_part(given.rows)
        page = memory + (f"\n{PARQUET_HEADING}\n{parquet}" if parquet else "")
        given.out.write_text(page, encoding="utf-8")


def memory_part() -> str:
    """Run the cases in memory in processes of their own and return the table."""
    lines = [
        HEAD,
        f"{datetime.now(UTC):%Y-%m-%d %H:%M UTC}; {conditions()}.\n",
        "| learner | n | d | D | seconds | accuracy | peak MB of the process | of it X | features if stored, MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, n, d, D in CASES:
        with get_context("spawn").Pool(1) as pool:
            seconds, accuracy, peak = pool.apply(fit, (name, n, d, D))
        sizes = f"{peak:,.0f} | {n * d * 4e-6:.0f} | {n * D * 4e-6:,.0f}"
        lines.append(f"| {name} | {n:,} | {d} | {D:,} | {seconds:.0f} | {accuracy:.3f} | {sizes} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def parquet_part(n: int) -> str:
    """Write n rows as Parquet files, fit them in processes of their own, and return the table."""
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
            f"{datetime.now(UTC):%Y-%m-%d %H:%M UTC}; {conditions()}.\n",
            "| fit | n | d | D | seconds | rows a second | reading alone, seconds | R² | "
            "peak MB of the process | features if stored, MB |",
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
    model = KRR(feature_map=RFF(Gaussian(0.5), PARQUET_D, random_state=0), ridge="lambda", **parameters)
    start = perf_counter()
    model.fit_blocks(rows, verbose=True)
    seconds, peak = perf_counter() - start, peak_memory()
    start = perf_counter()
    for _ in rows:
        pass
    reading = perf_counter() - start
    return seconds, reading, model.score(*regression(TEST, 0)), peak


def regression(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit norm from a seed, and a sum of waves with noise."""
    waves = 2 * np.random.default_rng(1).standard_normal((PARQUET_COLUMNS, 3), dtype=np.float32)
    rng = np.random.default_rng((2, seed))
    X, total = wavy(n, waves, rng)
    return X, total + np.float32(NOISE**0.5) * rng.standard_normal(n, dtype=np.float32)


LEARNERS: dict[str, Callable[[int], Any]] = {
    "KRR": lambda D: KRRClassifier(feature_map=RFF(Gaussian(0.5), D, random_state=0), ridge="lambda"),
    "doubly stochastic": lambda D: DoublyStochasticClassifier(
        RFF(Gaussian(0.5), D // 32), n_blocks=32, batch_size=4096, step_size=4, alpha=1e-6, random_state=0
    ),
}


def fit(name: str, n: int, d: int, D: int) -> tuple[float, float, float]:
    """Seconds of a fit, accuracy, and the peak memory of this process in MB when the fit ended."""
    rng = np.random.default_rng(1)
    waves = 2 * rng.standard_normal((d, 3), dtype=np.float32)
    X, y = generated(n, waves, rng)
    start = perf_counter()
    model = LEARNERS[name](D).fit(X, y)
    seconds, peak = perf_counter() - start, peak_memory()
    return seconds, model.score(*generated(TEST, waves, rng)), peak


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
