"""Archives of numpy arrays."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Paths
from rflib.datasets.formats.checked import reading


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


def read_splits(paths: Paths) -> Blocks:
    """Read an archive of luo2021's authors, with X_train, Y_train, X_test and Y_test."""
    for part in TRAIN_TEST:
        X, y = read_npz(paths[0], f"X_{part}", f"Y_{part}")
        yield Block(part, X.astype(np.float64), y.ravel().astype(np.int64))
