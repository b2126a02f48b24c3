"""Letter recognition: luo2021's two halves of the alphabet, and all 26 letters."""

from rflib.datasets.entry import CC_BY, LIBSVM, UCI, Entry, File

_CITATION = "Frey & Slate 1991, UCI"

LETTER = {
    "letter": Entry(
        task="classification",
        rows=18_000,
        columns=16,
        classes=2,
        split="given",
        train_rows=12_000,
        reader="letter",
        shipped=("letter_luo2021_rows.npy",),
        files=(
            File(
                "letter-recognition.data",
                (f"{UCI}/letter-recognition/letter-recognition.data",),
                sha256="2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
                md5="6a2d740def5d13ea6096272546f6d41e",
                size=712_565,
            ),
        ),
        papers=("luo2021",),
        scaling="each column to [-1, 1] by the training rows, as luo2021; the paper then scales rows to unit norm",
        citation=_CITATION,
        licence=CC_BY,
        traps="+1 is A..M, -1 is N..Z. luo2021 takes 18,000 of the 20,000 rows at random; which ones cannot be "
        "derived from the official file, so their row numbers, found by matching the authors' export, come with "
        "rflib and give its split row by row. 517 test rows repeat a training row",
    ),
    "letter_luo2021": Entry(
        task="classification",
        rows=18_000,
        columns=16,
        classes=2,
        split="given",
        train_rows=12_000,
        reader="luo2021_export",
        files=(
            File(
                "gorf_splits/gorf_letter.npz",
                sha256="0bb67efa2a307e0e97b530d7f295bc3d68995f307acbbec2f56a8eeae3559a1f",
                size=256_853,
            ),
        ),
        papers=("luo2021",),
        scaling="as letter, rounded to six digits",
        citation=f"{_CITATION}; the authors' letter.mat",
        licence=CC_BY,
        traps="from a mirror only; equals letter to 4e-6, the rounding",
    ),
    "letter_libsvm": Entry(
        task="classification",
        rows=20_000,
        columns=16,
        classes=26,
        split="given",
        train_rows=15_000,
        reader="letter_libsvm",
        files=(
            File(
                "letter.scale",
                (f"{LIBSVM}/multiclass/letter.scale",),
                sha256="ce2c7df15cc5742dc4382d59079181c97c21e0beaa0af53c84cc5745c69f1020",
                md5="8594cf7100aa2639da62b27e11443ceb",
                size=2_630_396,
            ),
            File(
                "letter.scale.t",
                (f"{LIBSVM}/multiclass/letter.scale.t",),
                sha256="07522ccbf54187fae6d560d1712b88c41ea1f7e8d19491c5adcc22ee37a075da",
                md5="f1dac07223d44b69f3d27b03e3e7b907",
                size=877_223,
            ),
        ),
        scaling="x / 7.5 - 1, in [-1, 1], to six digits",
        citation=f"{_CITATION}; Hsu & Lin 2002, LIBSVM data",
        licence=CC_BY,
        traps="labels 1..26 are A..Z; the rows are UCI's in another order; 458 test rows repeat a training row",
    ),
}
