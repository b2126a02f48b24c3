"""The description of a data set and its files, and the blocks of rows that its reader yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
ELEMENTS = "https://hastie.su.domains/ElemStatLearn/datasets"

CC_BY = "CC BY 4.0"
NOT_STATED = "not stated"

Part = Literal["all", "train", "test"]
TRAIN_TEST: tuple[Part, Part] = ("train", "test")


class Block(NamedTuple):
    """Rows of a data set: the part they belong to, inputs (n, d), dense or sparse, and targets (n,)."""

    part: Part
    X: NDArray | csr_matrix
    y: NDArray


Paths = Sequence[Path]
Blocks = Iterator[Block]
Reader = Callable[[Paths], Blocks]


@dataclass(frozen=True)
class File:
    """An official file.

    Attributes
    ----------
    name : str
        Name in the folder of raw files and in mirrors, where ``.xz`` or ``.gz`` may be added.
    urls : tuple of str
        Addresses, the official one first; none if the file is available from a mirror only.
    sha256, md5 : str or None
        Checksum of the official file: sha256, or md5 if no other is known.
    size : int or None
        Size in bytes, if known.
    plain : File or None
        The same content unpacked or written anew, which mirrors may hold in place of the official file.
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: str | None = None
    md5: str | None = None
    size: int | None = None
    plain: File | None = None

    @property
    def forms(self) -> tuple[File, ...]:
        """The official file, and its plain form if there is one. Any of them will do."""
        return (self,) if self.plain is None else (self, self.plain)

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
    rows, columns : int
        Number of rows (training and test rows together) and of input columns.
    classes : int or None
        Number of classes; None for regression.
    split : str
        "given" (the files hold training and test rows), or how each repetition draws its own: "half", "2/3",
        "train 405" (see `rflib.datasets.load`).
    train_rows : int or None
        Number of training rows of a given split.
    read : callable
        Takes the paths of the official files, or of their plain forms, and yields blocks of rows with the
        labels of the papers as it parses, so that a large data set is never in memory as a whole.
    files : tuple of File
        Official files in the order that ``read`` expects; empty for data that scikit-learn ships.
    papers : tuple of str
        Papers that use it, by their names in the studies.
    scaling : str
        The values of the inputs and how the papers scale them, in sentences.
    citation, licence : str
        Source and licence.
    traps : str
        Notes: what to know before using the data set, in sentences.
    """

    rows: int
    columns: int
    classes: int | None = None
    split: str
    train_rows: int | None = None
    read: Reader
    files: tuple[File, ...] = ()
    papers: tuple[str, ...] = ()
    scaling: str
    citation: str
    licence: str
    traps: str = ""

    @property
    def task(self) -> str:
        """The task: "classification" or "regression"."""
        return "classification" if self.classes else "regression"

    def meta(self, name: str) -> dict[str, Any]:
        """Return the description that is stored with the prepared arrays of the data set."""
        keys = ("task", "split", "scaling", "rows", "columns", "classes", "citation", "licence")
        files = [
            {
                "name": file.name,
                "url": file.urls[0] if file.urls else None,
                "checksum": " ".join(file.checksum),
            }
            for file in self.files
        ]
        return {"name": name, **{key: getattr(self, key) for key in keys}, "files": files}
