"""The splits of luo2021 in its authors' own files, to compare with what the official files give."""

from dataclasses import replace
from typing import Any

import numpy as np

from rflib.datasets.entries import housing, ijcnn1, letter, usps
from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Entry, File, Paths, Reader
from rflib.datasets.formats.npz import read_npz


def _read(paths: Paths) -> Blocks:
    for part in TRAIN_TEST:
        X, y = read_npz(paths[0], f"X_{part}", f"Y_{part}")
        yield Block(part, X.astype(np.float64), y.ravel().astype(np.int64))


def _read_table(paths: Paths) -> Blocks:
    (table,) = read_npz(paths[0], "housing")
    yield Block("all", table[:, :13], table[:, 13])


def _export(official: Entry, name: str, read: Reader, scaling: str, equals: str, **file: Any) -> Entry:
    """Return the entry of the authors' export of a data set, which has the official rows."""
    return replace(
        official,
        read=read,
        files=(File(f"gorf_splits/gorf_{name}.npz", **file),),
        papers=("luo2021",),
        scaling=scaling,
        citation=f"{official.citation}; the authors' {name}.mat",
        traps=f"from a mirror only; equals {equals}",
    )


ENTRIES = {
    "letter_luo2021": _export(
        letter.ENTRIES["letter"],
        "letter",
        _read,
        "as letter, rounded to six digits",
        "letter to 4e-6, the rounding",
        sha256="0bb67efa2a307e0e97b530d7f295bc3d68995f307acbbec2f56a8eeae3559a1f",
        size=256_853,
    ),
    "ijcnn1_luo2021": _export(
        ijcnn1.ENTRIES["ijcnn1"],
        "ijcnn",
        _read,
        "as ijcnn1",
        "ijcnn1",
        sha256="5c806fb0ddd0facf79ed6c7bf20088ff934a42be1e7b24b255ed2784dd8b6db6",
        size=2_956_942,
    ),
    "usps_luo2021": _export(
        usps.ENTRIES["usps"],
        "usps",
        _read,
        "as usps",
        "usps",
        sha256="db022de680b4db73b02d214eee60b6fa20790fdc050801f6584e388af928150d",
        size=2_544_530,
    ),
    "housing_luo2021": _export(
        housing.ENTRIES["housing"],
        "housing",
        _read_table,
        "as housing",
        "housing",
        sha256="0208e5371dbeac8564008258c2b986157db187f90eecf8d004da55e2bb91aa71",
        size=17_196,
    ),
}
