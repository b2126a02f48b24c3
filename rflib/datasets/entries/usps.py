"""Handwritten digits of the US Postal Service: in two halves, or all ten."""

from dataclasses import replace

import numpy as np

from rflib.datasets.entry import ELEMENTS, NOT_STATED, TRAIN_TEST, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.npz import read_splits
from rflib.datasets.formats.numbers import numbers


def _read(paths: Paths) -> Blocks:
    for part, path in zip(TRAIN_TEST, paths, strict=True):
        table = numbers(path, read_csv(path, separator=r"\s+").dropna(axis=1, how="all"))
        yield Block(part, table[:, 1:] + 1, table[:, 0].astype(np.int64))


def _read_halves(paths: Paths) -> Blocks:
    for part, X, y in _read(paths):
        yield Block(part, X, np.where(y >= 5, 1, -1))


_HALVES = Entry(
    rows=9298,
    columns=256,
    classes=2,
    split="given",
    train_rows=7291,
    read=_read_halves,
    files=(
        File(
            "zip.train.gz",
            (f"{ELEMENTS}/zip.train.gz",),
            sha256="66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
            size=1_829_071,
        ),
        File(
            "zip.test.gz",
            (f"{ELEMENTS}/zip.test.gz",),
            sha256="8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
            size=439_208,
        ),
    ),
    papers=("luo2021", "pennington2015"),
    scaling="The values are grey levels plus 1, in [0, 2], as in both papers, which then scale rows to unit norm.",
    citation="LeCun et al. 1990; Hastie, Tibshirani & Friedman, The Elements of Statistical Learning",
    licence=NOT_STATED,
    traps="The label +1 means the digits 5 to 9, and -1 means 0 to 4. The exports of the authors of both papers "
    "have the same rows, order and labels. The test digits are harder to classify than the training digits.",
)

ENTRIES = {
    "usps": _HALVES,
    "usps_digits": replace(
        _HALVES,
        classes=10,
        read=_read,
        scaling="The values are grey levels plus 1, in [0, 2].",
        traps="This is usps with the ten digits as classes.",
        papers=(),
    ),
    "usps_luo2021": replace(
        _HALVES,
        read=read_splits,
        files=(
            File(
                "gorf_splits/gorf_usps.npz",
                sha256="db022de680b4db73b02d214eee60b6fa20790fdc050801f6584e388af928150d",
                size=2_544_530,
            ),
        ),
        papers=("luo2021",),
        scaling="As for usps.",
        citation=f"{_HALVES.citation}; the authors' usps.mat",
        traps="The file is available from a mirror only. Its data equal those of usps.",
    ),
}
