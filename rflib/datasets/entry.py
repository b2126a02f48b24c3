"""What the registry says of a data set, and of one of its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
ELEMENTS = "https://hastie.su.domains/ElemStatLearn/datasets"

CC_BY = "CC BY 4.0"
NOT_STATED = "not stated"


@dataclass(frozen=True)
class File:
    """An official file.

    Attributes
    ----------
    name : str
        Name below the folder of raw files, and in mirrors (there also with ``.xz`` added).
    urls : tuple of str
        Addresses, the official one first; none if only a mirror can have it.
    sha256, md5 : str or None
        Checksum of the official file, at least one of them; sha256 is used where it is known.
    size : int or None
        Size in bytes, where it is known.
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: str | None = None
    md5: str | None = None
    size: int | None = None

    @property
    def checksum(self) -> tuple[str, str]:
        """The kind of checksum that the file is verified by, and its value."""
        if self.sha256 is not None:
            return "sha256", self.sha256
        if self.md5 is not None:
            return "md5", self.md5
        raise ValueError(f"{self.name} has no checksum.")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A data set, as `rflib.datasets.prepare` leaves it.

    Attributes
    ----------
    task : {"classification", "regression"}
        What the target is.
    rows, columns : int
        Number of rows, training and test rows together, and of input columns.
    classes : int or None
        Number of classes; None for regression.
    split : str
        "given" (the files hold training and test rows), or how each repetition draws its own: "half", "2/3",
        "train 405" (see `rflib.datasets.load`).
    train_rows : int or None
        Number of training rows of a given split.
    reader : str
        Name in `rflib.datasets.readers.READERS`.
    files : tuple of File
        Official files, in the order that the reader expects; empty for what scikit-learn ships.
    shipped : tuple of str
        Files beside the readers, in `rflib.datasets`, that the reader uses too.
    papers : tuple of str
        Papers that use it: keys of SPEC.md.
    scaling : str
        What values the inputs have, and what the papers do with them.
    citation, licence : str
        Whose it is, and on what terms.
    traps : str
        What to know before using it, and how it is handled here.
    """

    task: Literal["classification", "regression"]
    rows: int
    columns: int
    classes: int | None = None
    split: str
    train_rows: int | None = None
    reader: str
    files: tuple[File, ...] = ()
    shipped: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    scaling: str
    citation: str
    licence: str
    traps: str = ""
