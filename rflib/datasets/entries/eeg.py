"""EEG eye state: one person's recording, 117 seconds."""

import numpy as np

from rflib.datasets.entry import CC_BY, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import numbers, read_csv

_OUTLIERS = (898, 10386, 11509, 13179)


def _read(paths: Paths) -> Blocks:
    rows = read_csv(paths[0], comment="@")  # without the header of ARFF
    table = np.delete(numbers(paths[0], rows), _OUTLIERS, axis=0)
    yield Block("all", table[:, :14], table[:, 14].astype(np.int64))


ENTRIES = {
    "eeg": Entry(
        rows=14_976,
        columns=14,
        classes=2,
        split="half",
        read=_read,
        files=(
            File(
                "EEG Eye State.arff",
                (f"{UCI}/00264/EEG%20Eye%20State.arff",),
                sha256="e6eccba033d8ce56d38d2f0cca2087356705425a5a2ddbb1012ef3b892bd5a4b",
                size=1_696_428,
            ),
        ),
        papers=("liu2020",),
        scaling="raw; liu2020 is minmax, to [0, 1]",
        citation="Roesler 2013, UCI",
        licence=CC_BY,
        traps="four outlier rows (898, 10386, 11509, 13179, from 0) are removed: with them min-max squeezes all "
        "others into a sliver, which the paper does not mention. Rows follow each other in time with 23 changes "
        "of label, so the paper's random halves leak neighbours; they are kept to reproduce it",
    ),
}
