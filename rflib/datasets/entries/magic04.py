"""MAGIC gamma telescope: simulated showers, gamma or hadron."""

import numpy as np

from rflib.datasets.entry import CC_BY, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.numbers import numbers


def _read(paths: Paths) -> Blocks:
    table = read_csv(paths[0])
    yield Block("all", numbers(paths[0], table.iloc[:, :10]), np.where(table[10] == "g", 1, -1))


ENTRIES = {
    "magic04": Entry(
        rows=19_020,
        columns=10,
        classes=2,
        split="half",
        read=_read,
        files=(
            File(
                "magic04.data",
                (f"{UCI}/magic/magic04.data",),
                sha256="e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
                size=1_477_391,
            ),
        ),
        papers=("liu2020",),
        scaling="The values are raw. liu2020 uses minmax.",
        citation="Bock et al. 2004, UCI",
        licence=CC_BY,
        traps="The label +1 means gamma. The file is sorted by class, so a split must shuffle the rows, as every "
        "split of rflib does. There are 115 repeated rows.",
    ),
}
