"""What scikit-learn ships: small, and there without any download."""

from rflib.datasets.entry import CC_BY, NOT_STATED, Block, Blocks, Entry, Paths, Reader


def _bundled(name: str) -> Reader:
    def read(paths: Paths) -> Blocks:
        from sklearn import datasets

        yield Block("all", *getattr(datasets, f"load_{name}")(return_X_y=True))

    return read


ENTRIES = {
    "digits": Entry(
        rows=1797,
        columns=64,
        classes=10,
        split="2/3",
        read=_bundled("digits"),
        scaling="The values are grey levels from 0 to 16.",
        citation="Alpaydin & Kaynak 1998, UCI (its test part), as shipped with scikit-learn",
        licence=CC_BY,
        traps="Three columns are constant.",
    ),
    "breast_cancer": Entry(
        rows=569,
        columns=30,
        classes=2,
        split="2/3",
        read=_bundled("breast_cancer"),
        scaling="The values are raw. The scales of the columns differ by a factor of up to 1e5, so use "
        "standardize.",
        citation="Wolberg, Mangasarian, Street & Street 1993, UCI, as shipped with scikit-learn",
        licence=CC_BY,
    ),
    "wine": Entry(
        rows=178,
        columns=13,
        classes=3,
        split="2/3",
        read=_bundled("wine"),
        scaling="The values are raw. The scales of the columns differ by a factor of up to 1e3, so use "
        "standardize.",
        citation="Aeberhard & Forina 1992, UCI, as shipped with scikit-learn",
        licence=CC_BY,
    ),
    "diabetes": Entry(
        rows=442,
        columns=10,
        split="2/3",
        read=_bundled("diabetes"),
        scaling="Each column has mean 0 and norm 1 over all rows.",
        citation="Efron, Hastie, Johnstone & Tibshirani 2004, as shipped with scikit-learn",
        licence=NOT_STATED,
    ),
}
