"""Handwritten digits of the US Postal Service: in two halves, or all ten."""

from dataclasses import replace

import numpy as np

from rflib.datasets.entry import ELEMENTS, NOT_STATED, TRAIN_TEST, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import numbers, read_csv
from rflib.datasets.formats.npz import read_splits


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
    scaling="grey values + 1, in [0, 2], as both papers; they then scale rows to unit norm",
    citation="LeCun et al. 1990; Hastie, Tibshirani & Friedman, The Elements of Statistical Learning",
    licence=NOT_STATED,
    traps="+1 is 5..9, -1 is 0..4. The authors' exports of either paper have the same rows, order and labels. "
    "The test digits are harder than the training digits",
)

ENTRIES = {
    "usps": _HALVES,
    "usps_digits": replace(
        _HALVES,
        classes=10,
        read=_read,
        scaling="grey values + 1, in [0, 2]",
        traps="usps with its ten digits as classes",
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
        scaling="as usps",
        citation=f"{_HALVES.citation}; the authors' usps.mat",
        traps="from a mirror only; equals usps",
    ),
}
