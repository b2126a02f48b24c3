"""Timing in turn: every entry of a group once, then all again, so that a machine's moods fall on all alike."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable
from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

# What is timed, by name; the first is the group's limit, to which ratios are taken.
Group = dict[str, Callable[[], Any]]

RUNS = 5
DTYPES = ("float32", "float64")
THREADS = (1, 2)


def timed(
    title: str, group: Group, *, threads: int, dtype: str, rows: int, runs: int = RUNS, warm: bool = True
) -> list[dict[str, Any]]:
    """Return a record for each entry: the median of its seconds and the ratio to the first entry's.

    What an entry returns, if it is a number, is kept as ``objective``. With ``warm`` a first run is not counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in group}
    objectives: dict[str, float] = {}
    with threadpool_limits(threads):
        for counted in range(-1 if warm else 0, runs):
            for name, run in group.items():
                touch_memory()
                start = perf_counter()
                result = run()
                if counted >= 0:
                    seconds[name].append(perf_counter() - start)
                if isinstance(result, float):
                    objectives[name] = result
                # Outputs of hundreds of MB that stay would make the next ones wait for new memory.
                del result
    first = median(next(iter(seconds.values())))
    common = {"group": title, "threads": threads, "dtype": dtype, "rows": rows, "runs": runs}
    return [
        {
            **common,
            "what": name,
            "seconds": median(times),
            "least": min(times),
            "ratio": median(times) / first,
            "objective": objectives.get(name),
            "load": os.getloadavg()[0],
        }
        for name, times in seconds.items()
    ]


def touch_memory() -> None:
    """Use and free a gigabyte, so that every entry finds memory at hand.

    A virtual machine's host takes free memory back after seconds, and asking for it again costs more than a
    cosine: who came after an entry that needs little memory would pay for it.
    """
    np.empty(2**30, dtype=np.uint8)[::4096] = 1


def settings() -> Iterable[tuple[int, str]]:
    """All numbers of threads with all precisions."""
    return ((threads, dtype) for threads in THREADS for dtype in DTYPES)


def conditions() -> str:
    """The machine and the versions, in one line."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "liblinear-official")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def sphere(n: int, d: int, dtype: str = "float64", seed: int = 1) -> np.ndarray:
    """Random rows of unit norm."""
    X = np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)
    return X / np.linalg.norm(X, axis=1, keepdims=True)
