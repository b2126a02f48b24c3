"""How time and memory grow with rows n, input columns d and features D: curves, and exponents beside the theory.

``python benchmarks/scaling.py`` writes docs/results/scaling.md, .svg and .json. Seconds are medians; memory is the
peak of numpy's allocations during one more run, the inputs not counted.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits
from timing import conditions, sphere, touch_memory

from rflib.frequencies.directions import frame
from rflib.kernels import Gaussian, SphericalPolynomial
from rflib.learners import KRR, DoublyStochasticRegressor, LinearSVM
from rflib.maps import MVORF, RFF, RandomMaclaurin, TensorSketch
from rflib.report.style import COLOURS, MARKERS, RC

ALPHAS = (0.05, 0.1, 0.5, 1.0)

OUT = Path("docs/results")
RUNS = 3
LONG = 5  # seconds: such a task is run once
FITTED = 3
SIZE = {"n": 8000, "d": 64, "D": 2048}
AXES = {"n": "rows n", "d": "input columns d", "D": "features D"}


@dataclass(frozen=True)
class Curve:
    """A task along one size, the others as in SIZE unless it says otherwise, and the exponents expected."""

    task: str
    along: str
    values: tuple[int, ...]
    time: str
    memory: str
    fixed: tuple[tuple[str, int], ...] = ()


def powers(first: int, last: int) -> tuple[int, ...]:
    """Powers of two from first to last."""
    return tuple(2**k for k in range(first.bit_length() - 1, last.bit_length()))


CURVES = (
    Curve("RFF transform", "n", powers(2048, 32768), "1", "1"),
    Curve("RFF transform", "d", powers(16, 1024), "0 to 1", "0"),
    Curve("RFF transform", "D", powers(512, 8192), "1", "1"),
    Curve("TensorSketch transform, p = 3", "n", powers(2048, 32768), "1", "1"),
    Curve("TensorSketch transform, p = 3", "d", powers(16, 1024), "0 to 1", "0"),
    Curve("TensorSketch transform, p = 3", "D", powers(512, 8192), "1", "1"),
    Curve("RandomMaclaurin transform, p = 3", "n", powers(2048, 32768), "1", "1"),
    Curve("RandomMaclaurin transform, p = 3", "D", powers(512, 8192), "1", "1"),
    Curve("frame directions", "d", powers(32, 512), "1 to 2", "1"),
    Curve("frame directions", "D", powers(1024, 16384), "1", "1"),
    Curve("MVORF fit, new rows", "D", powers(512, 8192), "1 to 2", "1"),
    Curve(
        "KRR, map inside, 5 folds, 4 ridges",
        "n",
        (20_000, 63_000, 200_000, 630_000, 2_000_000),
        "1",
        "0",
        (("D", 512),),
    ),
    Curve("KRR, map inside, 5 folds, 4 ridges", "D", powers(256, 4096), "2 to 3", "2"),
    Curve("linear SVM, newton", "n", powers(2048, 32768), "1", "0 to 1", (("D", 512),)),
    Curve("linear SVM, newton", "D", powers(256, 4096), "1 to 2", "1 to 2"),
    Curve("doubly stochastic, 8 blocks", "n", powers(4096, 65536), "0", "0", (("D", 512),)),
    Curve("doubly stochastic, 8 blocks", "D", powers(256, 4096), "1", "1"),
)


def task(name: str, n: int, d: int, D: int) -> Callable[[], Any]:
    """The task at a size, its inputs made."""
    rng = np.random.default_rng(0)
    if name == "frame directions":
        return lambda: frame(D, d, rng)
    X = sphere(n, 16 if name.startswith("KRR") else d, "float32")
    y = np.sign(X[:, 0] * X[:, 1] + 0.01)
    maps = {
        "RFF": lambda: RFF(Gaussian(0.5), D, random_state=0),
        "TensorSketch": lambda: TensorSketch(SphericalPolynomial(4, 3), D, random_state=0),
        "RandomMaclaurin": lambda: RandomMaclaurin(SphericalPolynomial(4, 3), D, random_state=0),
    }
    if name.endswith(("transform", "p = 3")):
        return bound(maps[name.split()[0]]().fit(X[:100]).transform, X)
    if name.startswith("MVORF"):
        seeds = count()
        return lambda: MVORF(Gaussian(0.5), D, random_state=0).fit(sphere(1000, d, seed=next(seeds)))
    if name.startswith("KRR"):
        return lambda: KRR(feature_map=maps["RFF"](), alphas=ALPHAS, ridge="lambda", cv=5).fit(X, y)
    if name.startswith("linear SVM"):
        Z = maps["RFF"]().fit(X).transform(X)
        return lambda: LinearSVM(solver="newton").fit(Z, y)
    return lambda: DoublyStochasticRegressor(maps["RFF"](), n_blocks=8, batch_size=1024).fit(X, y)


def bound(function: Callable[[np.ndarray], Any], X: np.ndarray) -> Callable[[], Any]:
    """The function at X, to be run later."""
    return lambda: function(X)


def measure(curve: Curve) -> list[dict[str, float]]:
    """Seconds and bytes at each value."""
    found = []
    for value in curve.values:
        run = task(curve.task, **(SIZE | dict(curve.fixed) | {curve.along: value}))
        seconds = []
        for _ in range(RUNS):
            touch_memory()
            start = perf_counter()
            run()
            seconds.append(perf_counter() - start)
            if seconds[0] > LONG:
                break
        tracemalloc.start()
        run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found.append({"value": value, "seconds": median(seconds), "bytes": peak})
        print(
            f"{curve.task}, {curve.along} = {value}: {found[-1]['seconds']:.3g} s, {peak / 1e6:.0f} MB",
            flush=True,
        )
    return found


def exponent(points: list[dict[str, float]], what: str) -> float:
    """Slope of the logarithm over the largest values."""
    last = points[-FITTED:]
    x, y = (np.log([point[key] for point in last]) for key in ("value", what))
    return float(np.polyfit(x, y, 1)[0])


def draw(found: list[list[dict[str, float]]]) -> Figure:
    """Time above, memory below, a panel for each size."""
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    panels = figure.subplots(2, len(AXES), sharey="row")
    tasks = list(dict.fromkeys(curve.task for curve in CURVES))
    handles = {}
    for row, (what, label, unit) in enumerate((("seconds", "seconds", 1.0), ("bytes", "peak MB", 1e-6))):
        for column, (along, name) in enumerate(AXES.items()):
            axes = panels[row, column]
            for curve, points in zip(CURVES, found, strict=True):
                if curve.along == along:
                    i = tasks.index(curve.task)
                    (handles[curve.task],) = axes.plot(
                        [point["value"] for point in points],
                        [point[what] * unit for point in points],
                        color=COLOURS[i % len(COLOURS)],
                        marker=MARKERS[i],
                    )
            axes.set(xscale="log", yscale="log", xlabel=name)
        panels[row, 0].set_ylabel(label)
    figure.legend([handles[t] for t in tasks], tasks, loc="outside lower center", ncols=3, frameon=False)
    return figure


def markdown(found: list[list[dict[str, float]]]) -> str:
    """The exponents as a table, with the conditions."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    size = ", ".join(f"{name} = {value:,}" for name, value in SIZE.items())
    lines = [
        "# How time and memory grow\n",
        "`make scaling` made this page, with one thread and float32 numbers.\n",
        "![Time and memory against n, d and D](scaling.svg)\n",
        "In each line of the table, one size grows: the number of rows n, of input columns d, or of features D. "
        f"The other sizes are {size}, but ridge regression (KRR) has d = 16, and learners have D = 512 where n "
        f"grows. An exponent is the slope of the logarithm of the seconds or of the memory over the {FITTED} "
        f"largest sizes, and stands beside the exponent that theory gives. Seconds are the median of {RUNS} runs, "
        f"or those of one run where it takes more than {LONG} s; before each, a gigabyte of memory is used and "
        "freed, so that no run waits for the host to give it memory. Memory is the peak of what numpy allocates, "
        "without the inputs.\n",
        f"Measured on {when}; {conditions()}.\n",
        "| task | size that grows | from | to | seconds | exponent of time | in theory | peak MB "
        "| exponent of memory | in theory |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for curve, points in zip(CURVES, found, strict=True):
        ends = points[0], points[-1]
        seconds = " to ".join(f"{point['seconds']:.2g}" for point in ends)
        megabytes = " to ".join(f"{point['bytes'] / 1e6:.3g}" for point in ends)
        lines.append(
            f"| {curve.task} | {curve.along} | {curve.values[0]:,} | {curve.values[-1]:,} | {seconds} "
            f"| {exponent(points, 'seconds'):.2f} | {curve.time} | {megabytes} "
            f"| {exponent(points, 'bytes'):.2f} | {curve.memory} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all curves and write table, figure and numbers."""
    with threadpool_limits(1):
        found = [measure(curve) for curve in CURVES]
    records = [
        {"task": curve.task, "along": curve.along, "points": points}
        for curve, points in zip(CURVES, found, strict=True)
    ]
    (OUT / "scaling.json").write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    (OUT / "scaling.md").write_text(markdown(found), encoding="utf-8")
    with matplotlib.rc_context(rc=RC):
        draw(found).savefig(OUT / "scaling.svg", metadata={"Date": None, "Creator": "rflib"})


if __name__ == "__main__":
    main()
