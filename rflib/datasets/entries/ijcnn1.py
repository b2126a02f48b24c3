"""The IJCNN 2001 challenge: a time series of an engine, unbalanced."""

from dataclasses import replace

from rflib.datasets.entry import LIBSVM, NOT_STATED, Entry, File
from rflib.datasets.formats.libsvm import libsvm_reader
from rflib.datasets.formats.npz import read_splits

_IJCNN1 = Entry(
    rows=141_691,
    columns=22,
    classes=2,
    split="given",
    train_rows=49_990,
    read=libsvm_reader(columns=22),
    files=(
        File(
            "ijcnn1.bz2",
            (f"{LIBSVM}/binary/ijcnn1.bz2",),
            sha256="450dee8470b168e47b9fae1fc160396b8a809c675737837fce3acd51dcdc0481",
            size=1_398_220,
        ),
        File(
            "ijcnn1.t.bz2",
            (f"{LIBSVM}/binary/ijcnn1.t.bz2",),
            sha256="acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
            size=2_597_597,
        ),
    ),
    papers=("luo2021",),
    scaling="The values are those of LIBSVM, with each column in about [-1, 1]. luo2021 then scales rows to unit "
    "norm.",
    citation="Prokhorov, IJCNN 2001 neural network competition; Chang & Lin 2001, LIBSVM data",
    licence=NOT_STATED,
    traps="Only 9.7 % of the rows are positive, so a constant prediction of -1 has an accuracy of 90.3 %. The "
    "rows are overlapping windows of a time series, and columns 1 to 10 are a one-hot clock, so rows are not "
    "independent. The export of the authors has the same rows in the same order. The copy on OpenML repeats the "
    "training rows.",
)

ENTRIES = {
    "ijcnn1": _IJCNN1,
    "ijcnn1_luo2021": replace(
        _IJCNN1,
        read=read_splits,
        files=(
            File(
                "gorf_splits/gorf_ijcnn.npz",
                sha256="5c806fb0ddd0facf79ed6c7bf20088ff934a42be1e7b24b255ed2784dd8b6db6",
                size=2_956_942,
            ),
        ),
        scaling="As for ijcnn1.",
        citation=f"{_IJCNN1.citation}; the authors' ijcnn.mat",
        traps="The file is available from a mirror only. Its data equal those of ijcnn1.",
    ),
}
