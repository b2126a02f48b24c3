"""Where stored features would not fit: ridge regression and doubly stochastic gradients, with time and memory.

``python benchmarks/large.py`` writes docs/results/large.md: two million rows, and covtype's shape (290,506 x 54;
ridge with D = 13,824, where liu2020 stopped).
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from timing import conditions

from rflib.kernels import Gaussian
from rflib.learners import DoublyStochasticClassifier, KRRClassifier
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


def main() -> None:
    """Run the cases in processes of their own and write the table."""
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
        OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


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
    seconds = perf_counter() - start
    peak = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1) / 1e3
    )
    return seconds, model.score(*generated(TEST, waves, rng)), peak


def generated(n: int, waves: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit norm, and the sign of the sum of the waves, which is +1 for about half of them."""
    X = rng.standard_normal((n, len(waves)), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    total = np.zeros(n, dtype=np.float32)
    for wave in waves.T:
        total += np.sin(X @ wave)
    return X, np.where(total > 0, 1, -1)


if __name__ == "__main__":
    main()
