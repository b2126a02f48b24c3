"""Gisette: the digits 4 and 9, with columns made to mislead."""

from rflib.datasets.entry import CC_BY, LIBSVM, Entry, File
from rflib.datasets.formats.libsvm import libsvm_reader

ENTRIES = {
    "gisette": Entry(
        rows=6000,
        columns=5000,
        classes=2,
        split="2/3",
        read=libsvm_reader(columns=5000),
        files=(
            File(
                "gisette_scale.bz2",
                (f"{LIBSVM}/binary/gisette_scale.bz2",),
                md5="8a8caa1628c98dafec8d5d7bfa67c20b",
            ),
        ),
        papers=("pennington2015",),
        scaling="Each column is scaled to [-1, 1]. pennington2015 then scales rows to unit norm.",
        citation="Guyon, Gunn, Ben-Hur & Dror 2004, UCI; Chang & Lin 2001, LIBSVM data",
        licence=CC_BY,
        traps="Half of the columns are noise by design. The only known checksum is an md5 from a public script. "
        "The paper does not state its split. The official 1,000 test rows are in another file, whose checksum is "
        "not known, so the split is drawn from the 6,000 training rows.",
    ),
}
