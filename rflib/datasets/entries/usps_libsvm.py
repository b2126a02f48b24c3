"""Handwritten digits of the US Postal Service in LIBSVM's version, where every image is smoothed."""

from rflib.datasets.entry import LIBSVM, NOT_STATED, Entry, File
from rflib.datasets.formats.libsvm import libsvm_reader

ENTRIES = {
    "usps_libsvm": Entry(
        rows=9298,
        columns=256,
        classes=10,
        split="given",
        train_rows=7291,
        read=libsvm_reader(columns=256, first_label=1),
        files=(
            File(
                "usps.bz2",
                (f"{LIBSVM}/multiclass/usps.bz2",),
                sha256="3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f",
                size=6_579_383,
            ),
            File(
                "usps.t.bz2",
                (f"{LIBSVM}/multiclass/usps.t.bz2",),
                sha256="a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e",
                size=1_831_726,
            ),
        ),
        scaling="The values are grey levels in [-1, 1].",
        citation="Hull 1994; Chang & Lin 2001, LIBSVM data",
        licence=NOT_STATED,
        traps="This is not the same as usps: every image is smoothed by a 7 x 7 Gaussian with sigma 0.75 and the "
        "value -1 outside, so results on the two versions are not comparable. LIBSVM's labels 1 to 10 are the "
        "digits 0 to 9 here.",
    ),
}
