"""House prices: Boston, kept only to reproduce luo2021, and California, which stands beside it."""

from rflib.datasets.entry import NOT_STATED, UCI, Entry, File

_CITATION = "Harrison & Rubinfeld 1978, UCI"

HOUSING = {
    "housing": Entry(
        task="regression",
        rows=506,
        columns=13,
        split="train 405",
        reader="housing",
        files=(
            File(
                "housing.data",
                (f"{UCI}/housing/housing.data",),
                sha256="baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
                md5="d4accdce7a25600298819f8e28e8d593",
                size=49_082,
            ),
        ),
        papers=("luo2021",),
        scaling="raw; luo2021 is minmax_all+unit_norm: each column to [0, 1] by ALL rows, then rows to unit norm",
        citation=_CITATION,
        licence=NOT_STATED,
        traps="one column is a racial proxy and 16 targets are capped at 50, which is why libraries dropped it: "
        "here only to reproduce luo2021. The authors drew 405 / 101 rows at random and stored no split, so theirs "
        "cannot be rebuilt: every repetition draws its own",
    ),
    "housing_luo2021": Entry(
        task="regression",
        rows=506,
        columns=13,
        split="train 405",
        reader="housing_export",
        files=(
            File(
                "gorf_splits/gorf_housing.npz",
                sha256="0208e5371dbeac8564008258c2b986157db187f90eecf8d004da55e2bb91aa71",
                size=17_196,
            ),
        ),
        papers=("luo2021",),
        scaling="as housing",
        citation=f"{_CITATION}; the authors' housing.mat",
        licence=NOT_STATED,
        traps="from a mirror only; equals housing",
    ),
    "california_housing": Entry(
        task="regression",
        rows=20_640,
        columns=8,
        split="2/3",
        reader="california_housing",
        files=(
            File(
                "cal_housing.tgz",
                ("https://ndownloader.figshare.com/files/5976036",),
                sha256="aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
            ),
        ),
        scaling="raw, the columns of scikit-learn's fetch_california_housing; they differ in scale: standardize",
        citation="Pace & Barry 1997, StatLib; the file and checksum of scikit-learn",
        licence=NOT_STATED,
        traps="the living regression set beside Boston housing: forty times as many rows, none of its faults, and "
        "what scikit-learn names in its place. Targets are capped at 5; rows are places, so neighbours are alike",
    ),
}
