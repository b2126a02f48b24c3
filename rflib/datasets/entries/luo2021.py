"""The splits of luo2021 in its authors' own files, to compare with what the official files give."""

import numpy as np

from rflib.datasets.entry import CC_BY, NOT_STATED, TRAIN_TEST, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.npz import read_npz


def _read(paths: Paths) -> Blocks:
    for part in TRAIN_TEST:
        X, y = read_npz(paths[0], f"X_{part}", f"Y_{part}")
        yield Block(part, X.astype(np.float64), y.ravel().astype(np.int64))


def _read_table(paths: Paths) -> Blocks:
    (table,) = read_npz(paths[0], "housing")
    yield Block("all", table[:, :13], table[:, 13])


ENTRIES = {
    "letter_luo2021": Entry(
        rows=18_000,
        columns=16,
        classes=2,
        split="given",
        train_rows=12_000,
        read=_read,
        files=(
            File(
                "gorf_splits/gorf_letter.npz",
                sha256="0bb67efa2a307e0e97b530d7f295bc3d68995f307acbbec2f56a8eeae3559a1f",
                size=256_853,
            ),
        ),
        papers=("luo2021",),
        scaling="as letter, rounded to six digits",
        citation="Frey & Slate 1991, UCI; the authors' letter.mat",
        licence=CC_BY,
        traps="from a mirror only; equals letter to 4e-6, the rounding",
    ),
    "ijcnn1_luo2021": Entry(
        rows=141_691,
        columns=22,
        classes=2,
        split="given",
        train_rows=49_990,
        read=_read,
        files=(
            File(
                "gorf_splits/gorf_ijcnn.npz",
                sha256="5c806fb0ddd0facf79ed6c7bf20088ff934a42be1e7b24b255ed2784dd8b6db6",
                size=2_956_942,
            ),
        ),
        papers=("luo2021",),
        scaling="as ijcnn1",
        citation="Prokhorov, IJCNN 2001 neural network competition; Chang & Lin 2001, LIBSVM data; "
        "the authors' ijcnn.mat",
        licence=NOT_STATED,
        traps="from a mirror only; equals ijcnn1",
    ),
    "usps_luo2021": Entry(
        rows=9298,
        columns=256,
        classes=2,
        split="given",
        train_rows=7291,
        read=_read,
        files=(
            File(
                "gorf_splits/gorf_usps.npz",
                sha256="db022de680b4db73b02d214eee60b6fa20790fdc050801f6584e388af928150d",
                size=2_544_530,
            ),
        ),
        papers=("luo2021",),
        scaling="as usps",
        citation="LeCun et al. 1990; Hastie, Tibshirani & Friedman, The Elements of Statistical Learning; "
        "the authors' usps.mat",
        licence=NOT_STATED,
        traps="from a mirror only; equals usps",
    ),
    "housing_luo2021": Entry(
        rows=506,
        columns=13,
        split="train 405",
        read=_read_table,
        files=(
            File(
                "gorf_splits/gorf_housing.npz",
                sha256="0208e5371dbeac8564008258c2b986157db187f90eecf8d004da55e2bb91aa71",
                size=17_196,
            ),
        ),
        papers=("luo2021",),
        scaling="as housing",
        citation="Harrison & Rubinfeld 1978, UCI; the authors' housing.mat",
        licence=NOT_STATED,
        traps="from a mirror only; equals housing",
    ),
}
