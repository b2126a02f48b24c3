"""Archives of numpy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Paths
from rflib.datasets.formats.checked import reading

if TYPE_CHECKING:
    import pyarrow as pa


def read_npz(path: Path, *names: str) -> list[NDArray]:
    """Return the arrays of these names of an .npz file, which may hold no pickled objects."""
    with reading(path, "npz without pickled objects"), path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is not an archive of arrays")
        with archive:
            if missing := [name for name in names if name not in archive]:
                raise ValueError(f"it has no array {missing[0]}")
            return [archive[name] for name in names]


def npz_table(path: Path, name: str, array: NDArray) -> pa.Table:
    """Return an array (rows, columns) of a file as a table with the columns "0", "1" and so on.

    Raises ValueError, which names the file, for complex numbers and for what is neither numbers nor text.
    """
    import pyarrow as pa

    if array.dtype.kind == "c":
        row, column = np.argwhere(array.imag != 0)[0] if array.imag.any() else (0, 0)
        raise ValueError(
            f"{path}: row {row} (from 0), column {column} of {name} is {array[row, column]}, a complex number. "
            "Store real numbers, such as the real and the imaginary parts as two columns."
        )
    try:
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        if array.dtype.kind == "f" and array.itemsize > np.dtype(np.float64).itemsize:
            array = array.astype(np.float64)
        return pa.table({str(number): pa.array(column) for number, column in enumerate(array.T)})
    except (ValueError, TypeError, NotImplementedError) as error:
        raise ValueError(f"{path}: {name} must hold numbers or text, not {array.dtype} ({error}).") from error


def read_splits(paths: Paths) -> Blocks:
    """Read an archive of luo2021's authors, with X_train, Y_train, X_test and Y_test."""
    for part in TRAIN_TEST:
        X, y = read_npz(paths[0], f"X_{part}", f"Y_{part}")
        yield Block(part, X.astype(np.float64), y.ravel().astype(np.int64))
