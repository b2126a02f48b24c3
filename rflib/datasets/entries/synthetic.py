"""Generated tables with one property each that real tables have, on which no map of rflib was developed."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.datasets.entry import NOT_STATED, Block, Blocks, Entry, Paths, Reader

_ROWS = 8000


def _heavy_tails(rng: Generator) -> NDArray[np.float64]:
    return rng.standard_t(2.5, size=(_ROWS, 20)) @ rng.standard_normal((20, 20))


def _clusters(rng: Generator) -> NDArray[np.float64]:
    centres = 3 * rng.standard_normal((40, 30))
    widths = rng.uniform(0.2, 1.0, 40)
    cluster = rng.integers(0, 40, _ROWS)
    return centres[cluster] + widths[cluster, None] * rng.standard_normal((_ROWS, 30))


def _manifold(rng: Generator) -> NDArray[np.float64]:
    waves = np.sin(rng.standard_normal((_ROWS, 3)) @ rng.standard_normal((3, 50)) + rng.uniform(0, 6, 50))
    return waves + 0.01 * rng.standard_normal((_ROWS, 50))


def _one_hot(rng: Generator) -> NDArray[np.float64]:
    shares = 1 / np.arange(1, 11)
    levels = rng.choice(10, size=(_ROWS, 12), p=shares / shares.sum())
    return np.eye(10)[levels].reshape(_ROWS, 120)


def _reader(seed: int, make: Callable[[Generator], NDArray[np.float64]]) -> Reader:
    def read(paths: Paths) -> Blocks:
        rng = np.random.default_rng(seed)
        X = make(rng)
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        score = np.tanh(scaled @ rng.standard_normal((X.shape[1], 8))) @ rng.standard_normal(8)
        noisy = score + 0.3 * score.std() * rng.standard_normal(_ROWS)
        yield Block("all", X, np.where(noisy > np.median(noisy), 1, -1))

    return read


_TABLES: dict[str, tuple[int, Callable[[Generator], NDArray[np.float64]], str]] = {
    "heavy_tails": (
        20,
        _heavy_tails,
        "The values are sums of variables with Student's t distribution with 2.5 degrees of freedom, "
        "so that a few rows are far from all others.",
    ),
    "clusters": (30, _clusters, "The rows lie around 40 centres, with widths that differ by a factor of 5."),
    "manifold": (
        50,
        _manifold,
        "The rows lie near a curved surface of three dimensions: sines of three normal variables.",
    ),
    "one_hot": (
        120,
        _one_hot,
        "12 categories of 10 levels each, some of them rare, each as 10 columns of zeros and ones.",
    ),
}

ENTRIES = {
    name: Entry(
        rows=_ROWS,
        columns=columns,
        classes=2,
        split="half",
        read=_reader(seed, make),
        scaling=values,
        citation="generated from a fixed seed",
        licence=NOT_STATED,
        traps="The label is the sign of a smooth function of the columns and noise.",
    )
    for seed, (name, (columns, make, values)) in enumerate(_TABLES.items())
}
