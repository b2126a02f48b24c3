"""Handwritten digits of the US Postal Service: two halves or ten digits, and LIBSVM's smoothed version."""

from rflib.datasets.entry import ELEMENTS, LIBSVM, NOT_STATED, Entry, File

_CITATION = "LeCun et al. 1990; Hastie, Tibshirani & Friedman, The Elements of Statistical Learning"

_ZIP = (
    File(
        "zip.train.gz",
        (f"{ELEMENTS}/zip.train.gz",),
        sha256="66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
        md5="206835541ea704bcfb4b6eea872678bf",
        size=1_829_071,
    ),
    File(
        "zip.test.gz",
        (f"{ELEMENTS}/zip.test.gz",),
        sha256="8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
        md5="f9350e940232b89f1dc8f8eacac88625",
        size=439_208,
    ),
)

USPS = {
    "usps": Entry(
        task="classification",
        rows=9298,
        columns=256,
        classes=2,
        split="given",
        train_rows=7291,
        reader="usps_halves",
        files=_ZIP,
        papers=("luo2021", "pennington2015"),
        scaling="grey values + 1, in [0, 2], as both papers; they then scale rows to unit norm",
        citation=_CITATION,
        licence=NOT_STATED,
        traps="+1 is 5..9, -1 is 0..4. The authors' exports of either paper have the same rows, order and labels. "
        "The test digits are harder than the training digits",
    ),
    "usps_digits": Entry(
        task="classification",
        rows=9298,
        columns=256,
        classes=10,
        split="given",
        train_rows=7291,
        reader="usps_digits",
        files=_ZIP,
        scaling="grey values + 1, in [0, 2]",
        citation=_CITATION,
        licence=NOT_STATED,
        traps="usps with its ten digits as classes",
    ),
    "usps_luo2021": Entry(
        task="classification",
        rows=9298,
        columns=256,
        classes=2,
        split="given",
        train_rows=7291,
        reader="luo2021_export",
        files=(
            File(
                "gorf_splits/gorf_usps.npz",
                sha256="db022de680b4db73b02d214eee60b6fa20790fdc050801f6584e388af928150d",
                size=2_544_530,
            ),
        ),
        papers=("luo2021",),
        scaling="as usps",
        citation=f"{_CITATION}; the authors' usps.mat",
        licence=NOT_STATED,
        traps="from a mirror only; equals usps",
    ),
    "usps_libsvm": Entry(
        task="classification",
        rows=9298,
        columns=256,
        classes=10,
        split="given",
        train_rows=7291,
        reader="usps_libsvm",
        files=(
            File(
                "usps.bz2",
                (f"{LIBSVM}/multiclass/usps.bz2",),
                sha256="3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f",
                md5="ec16c51db3855ca6c91edd34d0e9b197",
                size=6_579_383,
            ),
            File(
                "usps.t.bz2",
                (f"{LIBSVM}/multiclass/usps.t.bz2",),
                sha256="a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e",
                md5="8ea070ee2aca1ac39742fdd1ef5ed118",
                size=1_831_726,
            ),
        ),
        scaling="grey values in [-1, 1]",
        citation="Hull 1994; Chang & Lin 2001, LIBSVM data",
        licence=NOT_STATED,
        traps="not usps: every image is smoothed by a 7 x 7 Gaussian of sigma 0.75, with -1 outside; numbers from "
        "the two versions do not compare. LIBSVM's labels 1..10 are here the digits 0..9",
    ),
}
