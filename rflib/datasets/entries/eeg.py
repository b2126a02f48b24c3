"""EEG eye state: one person's recording, 117 seconds."""

from dataclasses import replace

import numpy as np

from rflib.datasets.entry import CC_BY, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.numbers import numbers

_OUTLIERS = (898, 10386, 11509, 13179)


def _read(paths: Paths) -> Blocks:
    for part, X, y in _read_all(paths):
        yield Block(part, np.delete(X, _OUTLIERS, axis=0), np.delete(y, _OUTLIERS))


def _read_all(paths: Paths) -> Blocks:
    table = numbers(paths[0], read_csv(paths[0], comment="@"))  # without the header of ARFF
    yield Block("all", table[:, :14], table[:, 14].astype(np.int64))


_EEG = Entry(
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
    scaling="The values are raw. liu2020 uses minmax.",
    citation="Roesler 2013, UCI",
    licence=CC_BY,
    traps="Four outlying rows are removed (898, 10386, 11509 and 13179, counted from 0). With them, minmax "
    "would squeeze all other rows into a tiny range; the paper does not mention them. Rows follow each other "
    "in time, and the label changes only 23 times, so random halves leak neighbouring rows into the test "
    "part. The paper uses such halves, so they are kept to reproduce it.",
)

ENTRIES = {
    "eeg": _EEG,
    "eeg_raw": replace(
        _EEG,
        rows=14_980,
        read=_read_all,
        papers=("wacker2022",),
        scaling="The values are raw. wacker2022 standardises them.",
        traps="These are all rows of the file, with the four outlying ones that eeg leaves out. Standardised "
        "columns therefore have nearly all their rows in a tiny range.",
    ),
}
