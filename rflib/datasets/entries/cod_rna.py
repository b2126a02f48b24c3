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
    scaling="The values are raw. The scales of the columns differ by a factor of up to 5e3. liu2020 uses minmax.",
    citation="Uzilov, Keegan & Mathews 2006; Chang & Lin 2001, LIBSVM data",
    licence=NOT_STATED,
    traps="The test rows are the 271,617 rows of cod-rna.t, while liu2020 uses the 157,413 rows of cod-rna.r "
    "(cod_rna_liu2020). There are 10,084 repeated training rows, 15 of them with both labels, and 4,700 test "
    "rows that repeat a training row.",
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
        scaling="As for cod_rna.",
        traps="The test rows are those of liu2020. The only known checksum of cod-rna.r is an md5 from a public "
        "script.",
    ),
}
