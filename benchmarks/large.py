"""Ridge regression where stored features would not fit: one run each, with its memory.

``python benchmarks/large.py`` writes docs/results/large.md: covtype's shape (290,506 x 54, D = 13,824, where
liu2020 stopped) and two million rows.
"""

from __future__ import annotations

import resource
import sys
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np
from timing import conditions

from rflib.kernels import Gaussian
from rflib.learners import KRR
from rflib.maps import RFF

OUT = Path("docs/results/large.md")
# rows, input columns, features
CASES = ((20_000, 16, 1024), (200_000, 16, 1024), (2_000_000, 16, 1024), (290_506, 54, 13_824))
HEAD = """\
# Ridge regression on many rows

Written by `make large`: `KRR(feature_map=RFF(...))` in float32, 5 folds, 4 ridges, all threads, each in a process
of its own. Stored features would take n D numbers; the Gram matrices of the folds take 7 D^2. Rows are generated.
"""


def main() -> None:
    """Run the cases in processes of their own and write the table."""
    lines = [
        HEAD,
        f"{datetime.now(UTC):%Y-%m-%d %H:%M UTC}; {conditions()}.\n",
        "| n | d | D | seconds | peak MB of the process | of it X | features if stored, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for n, d, D in CASES:
        with get_context("spawn").Pool(1) as pool:
            seconds, peak = pool.apply(fit, (n, d, D))
        lines.append(
            f"| {n:,} | {d} | {D:,} | {seconds:.0f} | {peak:.0f} | {n * d * 4e-6:.0f} | {n * D * 4e-6:,.0f} |"
        )
        print(lines[-1], flush=True)
        OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fit(n: int, d: int, D: int) -> tuple[float, float]:
    """Seconds of a fit, and the peak memory of this process in MB."""
    X = np.random.default_rng(1).standard_normal((n, d), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.sign(X[:, 0] * X[:, 1] + 0.01)
    start = perf_counter()
    KRR(feature_map=RFF(Gaussian(0.5), D, random_state=0), ridge="lambda").fit(X, y)
    kilobytes = 1024 if sys.platform == "darwin" else 1
    return perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / kilobytes / 1e3


if __name__ == "__main__":
    main()
