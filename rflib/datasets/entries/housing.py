"""House prices of Boston, kept only to reproduce luo2021."""

from dataclasses import replace

from rflib.datasets.entry import NOT_STATED, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.npz import read_npz
from rflib.datasets.formats.numbers import numbers


def _read(paths: Paths) -> Blocks:
    table = numbers(paths[0], read_csv(paths[0], separator=r"\s+"))
    yield Block("all", table[:, :13], table[:, 13])


def _read_export(paths: Paths) -> Blocks:
    (table,) = read_npz(paths[0], "housing")
    yield Block("all", table[:, :13], table[:, 13])


_HOUSING = Entry(
    rows=506,
    columns=13,
    split="train 405",
    read=_read,
    files=(
        File(
            "housing.data",
            (f"{UCI}/housing/housing.data",),
            sha256="baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
            size=49_082,
        ),
    ),
    papers=("luo2021",),
    scaling="The values are raw. luo2021 uses minmax_all+unit_norm: it scales each column to [0, 1] by its range "
    "in all rows, and then rows to unit norm.",
    citation="Harrison & Rubinfeld 1978, UCI",
    licence=NOT_STATED,
    traps="Use it only to reproduce luo2021. One column is a racial proxy and 16 targets are capped at 50, which "
    "is why libraries have dropped the data set. The authors drew 405 and 101 rows at random and did not store "
    "their split, so it cannot be rebuilt, and each repetition draws its own.",
)

ENTRIES = {
    "housing": _HOUSING,
    "housing_luo2021": replace(
        _HOUSING,
        read=_read_export,
        files=(
            File(
                "gorf_splits/gorf_housing.npz",
                sha256="0208e5371dbeac8564008258c2b986157db187f90eecf8d004da55e2bb91aa71",
                size=17_196,
            ),
        ),
        scaling="As for housing.",
        citation=f"{_HOUSING.citation}; the authors' housing.mat",
        traps="The file is available from a mirror only. Its data equal those of housing.",
    ),
}
