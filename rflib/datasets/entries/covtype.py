"""Forest cover type: 581,012 rows, and two samples of them that fit everywhere."""

from dataclasses import replace

import numpy as np

from rflib.datasets.entry import CC_BY, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.checked import finite
from rflib.datasets.formats.delimited import csv_blocks
from rflib.datasets.formats.numbers import numbers

_CITATION = "Blackard & Dean 1999, UCI"
_LABELS = (
    "The label +1 means cover type 2 (48.8 %) and -1 the six other types, as in LIBSVM's covtype.binary."
)


def _read(paths: Paths) -> Blocks:
    """Read in single precision, which holds the integers exactly."""
    for table in csv_blocks(paths[0], dtype=np.float32):
        values = table.to_numpy()
        X = finite(paths[0], values[:, :54], first_row=table.index[0])
        yield Block("all", X, np.where(values[:, 54] == 2, 1, -1))


def _read_sample(paths: Paths) -> Blocks:
    for table in csv_blocks(paths[0], header=True):
        y = np.where(table.pop("Cover_Type") == 2, 1, -1)
        yield Block("all", numbers(paths[0], table, table.index[0]), y)


_COVTYPE = Entry(
    rows=581_012,
    columns=54,
    classes=2,
    split="half",
    read=_read,
    files=(
        File(
            "covtype.data.gz",
            (f"{UCI}/covtype/covtype.data.gz", "https://ndownloader.figshare.com/files/5976039"),
            sha256="614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
        ),
    ),
    papers=("liu2020",),
    scaling="The values are raw integers, stored in single precision, which is exact for them. liu2020 uses "
    "minmax.",
    citation=_CITATION,
    licence=CC_BY,
    traps=f"{_LABELS} Of the 54 columns, 44 are 0 or 1.",
)

ENTRIES = {
    "covtype": _COVTYPE,
    "covtype_sample": replace(
        _COVTYPE,
        rows=92_962,
        read=_read_sample,
        files=(
            File(
                "covtype_ramp_test_92962.csv.gz",
                sha256="d1683af154f7279cfb7221e813d44d904346d4965779c56bfbe7c5c74cebf8fd",
                size=2_874_111,
            ),
        ),
        scaling="The first ten columns are scaled to [0, 1] by their ranges in the full data set.",
        citation=f"{_CITATION}; RAMP's covertype kit",
        traps="The file is available from a mirror only. It is a stratified sample of 16 % of the rows. One "
        f"column is constant. {_LABELS}",
        papers=(),
    ),
    "covtype_20k": replace(
        _COVTYPE,
        rows=20_000,
        files=(
            File(
                "covtype-min.data",
                sha256="80558f267915e67c46115a120c6e4c3a002846c307aa21bc9a574bac8d8d65cf",
                size=2_587_897,
            ),
        ),
        scaling="The values are raw integers, as in covtype.",
        citation=f"{_CITATION}; a public sample",
        traps="The file is available from a mirror only. It has 20,000 random rows of covtype, of which 3,176 "
        f"are also in covtype_sample, so never train on one and test on the other. {_LABELS}",
        papers=(),
    ),
}
