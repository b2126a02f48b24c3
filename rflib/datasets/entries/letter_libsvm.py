"""Letter recognition: all 26 letters, as LIBSVM has them."""

from rflib.datasets.entry import CC_BY, LIBSVM, Entry, File
from rflib.datasets.formats.libsvm import libsvm_reader

ENTRIES = {
    "letter_libsvm": Entry(
        rows=20_000,
        columns=16,
        classes=26,
        split="given",
        train_rows=15_000,
        read=libsvm_reader(columns=16),
        files=(
            File(
                "letter.scale",
                (f"{LIBSVM}/multiclass/letter.scale",),
                sha256="ce2c7df15cc5742dc4382d59079181c97c21e0beaa0af53c84cc5745c69f1020",
                size=2_630_396,
            ),
            File(
                "letter.scale.t",
                (f"{LIBSVM}/multiclass/letter.scale.t",),
                sha256="07522ccbf54187fae6d560d1712b88c41ea1f7e8d19491c5adcc22ee37a075da",
                size=877_223,
            ),
        ),
        scaling="The values are x / 7.5 - 1, which lies in [-1, 1], to six digits.",
        citation="Frey & Slate 1991, UCI; Hsu & Lin 2002, LIBSVM data",
        licence=CC_BY,
        traps="The labels 1 to 26 mean A to Z. The rows are those of UCI in another order. There are 458 test "
        "rows that repeat a training row.",
    ),
}
