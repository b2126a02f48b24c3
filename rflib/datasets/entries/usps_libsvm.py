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
        scaling="grey values in [-1, 1]",
        citation="Hull 1994; Chang & Lin 2001, LIBSVM data",
        licence=NOT_STATED,
        traps="not usps: every image is smoothed by a 7 x 7 Gaussian of sigma 0.75, with -1 outside; numbers from "
        "the two versions do not compare. LIBSVM's labels 1..10 are here the digits 0..9",
    ),
}
