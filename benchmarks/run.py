"""Time the feature maps beside scikit-learn's and the matrix product alone, alternately in one run.

``python benchmarks/run.py [--rows N] [--out FOLDER]`` prints a table and writes it as JSON and Markdown. Each
time is the median of several runs of ``transform``, taken in turn with the others' of the same group; the ratio
is to the group's first entry, the physical limit where there is one. Compare ratios: times are of one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from threadpoolctl import threadpool_limits

from rflib.frequencies.directions import frame
from rflib.kernels import Gaussian, SphericalPolynomial
from rflib.maps import MVORF, ORF, RFF, RandomMaclaurin, TensorSketch

RUNS = 5
COLUMNS = 4096
DIMENSION = 256
DEGREE = 3

Group = dict[str, Callable[[], Any]]


def main() -> None:
    """Run all groups with one and two threads, in single and double precision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    options = parser.parse_args()
    records = []
    for threads in (1, 2):
        for dtype in ("float32", "float64"):
            X = sphere(options.rows, DIMENSION).astype(dtype)
            with threadpool_limits(threads):
                for title, group in {"Fourier": fourier(X), "polynomial": polynomial(X)}.items():
                    records += timed(group, group_name=title, threads=threads, dtype=dtype, rows=options.rows)
    records += timed(frames(), group_name="frame directions", threads=os.cpu_count(), dtype="float64", rows=0)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "bench.json").write_text(json.dumps(records, indent=2), encoding="utf-8")
    text = markdown(records)
    (options.out / "bench.md").write_text(text, encoding="utf-8")
    print(text)


def fourier(X: np.ndarray) -> Group:
    """The matrix product alone, ours, and RBFSampler, all with the same number of columns."""
    W = np.random.default_rng(0).standard_normal((DIMENSION, COLUMNS)).astype(X.dtype)
    sampler = RBFSampler(gamma=0.5, n_components=COLUMNS, random_state=0).fit(X)
    ours = {
        "rflib RFF": RFF(Gaussian(), COLUMNS, random_state=0),
        "rflib RFF, phases": RFF(Gaussian(), COLUMNS, layout="phase", random_state=0),
        "rflib ORF": ORF(Gaussian(), COLUMNS, random_state=0),
        "rflib MVORF": MVORF(SphericalPolynomial(4, 10), COLUMNS, random_state=0),
    }
    group: Group = {"matrix product": lambda: X @ W, "product, then np.cos": lambda: np.cos(X @ W)}
    group |= {name: bound(m.fit(X[:1000]).transform, X) for name, m in ours.items()}
    return group | {"scikit-learn RBFSampler": bound(sampler.transform, X)}


def polynomial(X: np.ndarray) -> Group:
    """Sketches of a polynomial kernel on a tenth of the rows."""
    X = X[: len(X) // 10]
    kernel = SphericalPolynomial(4, DEGREE)
    theirs = PolynomialCountSketch(degree=DEGREE, coef0=7, n_components=COLUMNS, random_state=0).fit(X)
    return {
        "rflib TensorSketch": bound(TensorSketch(kernel, COLUMNS, random_state=0).fit(X).transform, X),
        "rflib RandomMaclaurin": bound(RandomMaclaurin(kernel, COLUMNS, random_state=0).fit(X).transform, X),
        "scikit-learn PolynomialCountSketch": bound(theirs.transform, X),
    }


def frames() -> Group:
    """Frame directions at s = 2d: the thin factor, and the full 2m x 2m matrix of the paper."""
    s, d = 2 * DIMENSION, DIMENSION
    rng = np.random.default_rng(0)
    return {
        "rflib frame": lambda: frame(2 * s, d, rng),
        "QR of the 2m x 2m matrix": lambda: np.linalg.qr(rng.standard_normal((2 * s, 2 * s)))[0][:d],
    }


def timed(group: Group, **common: Any) -> list[dict[str, Any]]:
    """Median seconds of each entry, run in turn, after one run that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in group}
    for counted in range(-1, RUNS):
        for name, run in group.items():
            start = perf_counter()
            run()
            if counted >= 0:
                seconds[name].append(perf_counter() - start)
    first = median(next(iter(seconds.values())))
    group_name = common.pop("group_name")
    return [
        {"group": group_name, **common, "what": name, "seconds": median(s), "ratio": median(s) / first}
        for name, s in seconds.items()
    ]


def markdown(records: list[dict[str, Any]]) -> str:
    """The records as a table, with the conditions."""
    head = (
        f"# Benchmarks\n\nMade by `make bench`: medians of {RUNS} runs in turn; d = {DIMENSION}, D = {COLUMNS}; "
        f"polynomial kernel of degree {DEGREE}, on a tenth of the rows. Ratios are to the first entry of a group. "
        f"Machine: {platform.machine()}, {os.cpu_count()} cores; numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}.\n\n"
        "| group | threads | precision | rows | what | seconds | ratio |\n|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(
        f"| {r['group']} | {r['threads']} | {r['dtype']} | {r['rows']} | {r['what']} | {r['seconds']:.3g} "
        f"| {r['ratio']:.2f} |\n"
        for r in records
    )


def sphere(n: int, d: int) -> np.ndarray:
    """Random rows of unit norm."""
    X = np.random.default_rng(1).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def bound(function: Callable[[np.ndarray], Any], X: np.ndarray) -> Callable[[], Any]:
    """The function at X, to be run later."""
    return lambda: function(X)


if __name__ == "__main__":
    main()
