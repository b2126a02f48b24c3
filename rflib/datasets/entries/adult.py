"""Census income: LIBSVM's binary columns, and UCI's table."""

from rflib.datasets.entry import CC_BY, LIBSVM, UCI, Entry, File

ADULT = {
    "adult": Entry(
        task="classification",
        rows=48_842,
        columns=123,
        classes=2,
        split="given",
        train_rows=32_561,
        reader="adult",
        files=(
            File(
                "a9a",
                (f"{LIBSVM}/binary/a9a",),
                sha256="f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
                md5="fb3596510d780aaf76a06dc721d49662",
                size=2_329_875,
            ),
            File(
                "a9a.t",
                (f"{LIBSVM}/binary/a9a.t",),
                sha256="1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
                md5="f0bb16cf1ee3e80ff560e9d132ee647e",
                size=1_164_628,
            ),
        ),
        papers=("pennington2015",),
        scaling="0 or 1, sparse; pennington2015 then scales rows to unit norm",
        citation="Kohavi 1996, UCI; Platt 1998, LIBSVM's a9a",
        licence=CC_BY,
        traps="the largest index of the test file is 122, so the number of columns is set to 123. 5,528 test rows "
        "repeat a training row, and 1,061 groups of equal rows have both labels",
    ),
    "adult_uci": Entry(
        task="classification",
        rows=48_842,
        columns=108,
        classes=2,
        split="given",
        train_rows=32_561,
        reader="adult_uci",
        files=(
            File(
                "adult.data",
                (f"{UCI}/adult/adult.data",),
                sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                md5="5d7c39d7b8804f071cdd1f2a7c460872",
                size=3_974_305,
            ),
            File(
                "adult.test",
                (f"{UCI}/adult/adult.test",),
                sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                md5="35238206dfdf7f1fe215bbb874adecdc",
                size=2_003_153,
            ),
        ),
        scaling="six raw numbers, then 0 or 1 for each value of the eight others: standardize or minmax",
        citation="Kohavi 1996, UCI",
        licence=CC_BY,
        traps="+1 is over 50K. 3,620 rows have unknown values (?), which are a value of their own. In the test "
        "file labels end with a dot and the first line is a comment",
    ),
}
