"""Letter recognition: luo2021's two halves of the alphabet."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from rflib.datasets.checksum import mismatch
from rflib.datasets.entry import CC_BY, TRAIN_TEST, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.npz import read_splits
from rflib.datasets.formats.numbers import numbers

_TRAIN_ROWS = 12_000
_ROWS = Path(__file__).with_name("letter_luo2021_rows.npy")
_ROWS_FILE = File(_ROWS.name, sha256="19319a08737423461e00e18c3470a4c0e92127bafe6ef93c4bbf7ca7271e646d")


def _read(paths: Paths) -> Blocks:
    """Read luo2021's rows, whose numbers come with rflib.

    Their checksum stands here, and so is in the fingerprint of this module.
    """
    if wrong := mismatch(_ROWS, _ROWS_FILE):
        raise ValueError(f"{_ROWS} is not the file that comes with rflib: {wrong}. Install rflib again.")
    table = read_csv(paths[0])
    X = numbers(paths[0], table.iloc[:, 1:])
    y = np.where(table[0].to_numpy() <= "M", 1, -1)
    rows = np.load(_ROWS, allow_pickle=False)
    train, test = rows[:_TRAIN_ROWS], rows[_TRAIN_ROWS:]
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    for part, chosen in zip(TRAIN_TEST, (train, test), strict=True):
        yield Block(part, 2 * (X[chosen] - low) / (high - low) - 1, y[chosen])


_LETTER = Entry(
    rows=18_000,
    columns=16,
    classes=2,
    split="given",
    train_rows=_TRAIN_ROWS,
    read=_read,
    files=(
        File(
            "letter-recognition.data",
            (f"{UCI}/letter-recognition/letter-recognition.data",),
            sha256="2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
            size=712_565,
        ),
    ),
    papers=("luo2021",),
    scaling="Each column is scaled to [-1, 1] by its range in the training rows, as in luo2021. The paper then "
    "scales rows to unit norm.",
    citation="Frey & Slate 1991, UCI",
    licence=CC_BY,
    traps="The label +1 means A to M, and -1 means N to Z. luo2021 uses 18,000 of the 20,000 rows, chosen at "
    "random. The choice cannot be derived from the official file, so rflib ships the row numbers, which were "
    "found by matching the export of the authors and give exactly their split. There are 517 test rows that "
    "repeat a training row.",
)

ENTRIES = {
    "letter": _LETTER,
    "letter_luo2021": replace(
        _LETTER,
        read=read_splits,
        files=(
            File(
                "gorf_splits/gorf_letter.npz",
                sha256="0bb67efa2a307e0e97b530d7f295bc3d68995f307acbbec2f56a8eeae3559a1f",
                size=256_853,
            ),
        ),
        scaling="As for letter, but rounded to six digits.",
        citation=f"{_LETTER.citation}; the authors' letter.mat",
        traps="The file is available from a mirror only. Its data equal those of letter up to rounding (4e-6).",
    ),
}
