"""Generated rows of many columns, for measurements of time."""

import numpy as np

from rflib.datasets.entry import NOT_STATED, Block, Blocks, Entry, Paths, Reader


def _normal(columns: int) -> Reader:
    def read(paths: Paths) -> Blocks:
        X = np.random.default_rng(columns).standard_normal((1500, columns))
        yield Block("all", X, np.where(X[:, 0] > 0, 1, -1))

    return read


ENTRIES = {
    f"normal_{columns}": Entry(
        rows=1500,
        columns=columns,
        classes=2,
        split="2/3",
        read=_normal(columns),
        papers=("pennington2015",),
        scaling="The values are standard normal.",
        citation="generated from a fixed seed, for the times in figure 4 of pennington2015, which names no data",
        licence=NOT_STATED,
        traps="The label is the sign of the first column.",
    )
    for columns in (512, 1000, 1024, 2048, 4096)
}
