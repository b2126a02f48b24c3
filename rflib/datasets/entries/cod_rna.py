"""Non-coding RNA: with LIBSVM's validation rows for tests, or with liu2020's."""

from dataclasses import replace

from rflib.datasets.entry import LIBSVM, NOT_STATED, Entry, File
from rflib.datasets.formats.libsvm import libsvm_reader

_TRAIN = File(
    "cod-rna",
    (f"{LIBSVM}/binary/cod-rna",),
    sha256="65b7cc0689fc29bba5db8b50fab0b6446d985f4bf8f6f5dd474f7df8b2f1ab6c",
    size=4_667_176,
)

_COD_RNA = Entry(
    rows=331_152,
    columns=8,
    classes=2,
    split="given",
    train_rows=59_535,
    read=libsvm_reader(columns=8),
    files=(
        _TRAIN,
        File(
            "cod-rna.t",
            (f"{LIBSVM}/binary/cod-rna.t",),
            sha256="58cff16df896436b06343df78ccaef37a6979d819abbcadbec3cb16b93938df6",
            size=21_344_555,
        ),
    ),
    papers=("liu2020",),
    scaling="raw; the columns differ in scale by 5e3; liu2020 is minmax, to [0, 1]",
    citation="Uzilov, Keegan & Mathews 2006; Chang & Lin 2001, LIBSVM data",
    licence=NOT_STATED,
    traps="tests on the 271,617 rows of cod-rna.t, where liu2020 has the 157,413 of cod-rna.r "
    "(cod_rna_liu2020). 10,084 training rows are repeated, 15 of them with both labels; 4,700 test rows "
    "repeat a training row",
)

ENTRIES = {
    "cod_rna": _COD_RNA,
    "cod_rna_liu2020": replace(
        _COD_RNA,
        rows=216_948,
        files=(
            _TRAIN,
            File(
                "cod-rna.r",
                (f"{LIBSVM}/binary/cod-rna.r",),
                md5="65205a3cd47cfad08679aca12c209af7",
            ),
        ),
        scaling="as cod_rna",
        traps="liu2020's own test rows; of cod-rna.r only an md5 is known, from one public script",
    ),
}
