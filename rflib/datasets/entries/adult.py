"""Census income, as LIBSVM's binary columns."""

from rflib.datasets.entry import CC_BY, LIBSVM, Entry, File
from rflib.datasets.formats.libsvm import libsvm_reader

ENTRIES = {
    "adult": Entry(
        rows=48_842,
        columns=123,
        classes=2,
        split="given",
        train_rows=32_561,
        read=libsvm_reader(columns=123, sparse=True),
        files=(
            File(
                "a9a",
                (f"{LIBSVM}/binary/a9a",),
                sha256="f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
                size=2_329_875,
            ),
            File(
                "a9a.t",
                (f"{LIBSVM}/binary/a9a.t",),
                sha256="1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
                size=1_164_628,
            ),
        ),
        papers=("pennington2015",),
        scaling="The values are 0 or 1 and sparse. pennington2015 then scales rows to unit norm.",
        citation="Kohavi 1996, UCI; Platt 1998, LIBSVM's a9a",
        licence=CC_BY,
        traps="The largest index in the test file is 122, so the number of columns is fixed at 123. There are "
        "5,528 test rows that repeat a training row, and 1,061 groups of equal rows with both labels.",
    ),
}
