"""LIBSVM's format: a line is a label and the columns that are not zero."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Part, Paths, Reader
from rflib.datasets.formats.checked import open_bytes, reading

_BLOCK_BYTES = 1 << 24


def libsvm_reader(columns: int, first_label: int = 0, sparse: bool = False) -> Reader:
    """Return a reader of one file, or of a training and a test file; labels are counted from ``first_label``."""

    def read(paths: Paths) -> Blocks:
        parts: Sequence[Part] = TRAIN_TEST if len(paths) == 2 else ("all",)
        for part, path in zip(parts, paths, strict=True):
            for X, y in libsvm_blocks(path, columns):
                yield Block(part, X if sparse else X.toarray(), y.astype(np.int64) - first_label)

    return read


def libsvm_blocks(
    path: Path, columns: int | None = None, zero_based: bool = False
) -> Iterator[tuple[csr_matrix, NDArray[np.float64]]]:
    """Yield a LIBSVM file as sparse inputs (n, columns) and labels (n,) of some rows.

    Parameters
    ----------
    columns : int or None
        Number of columns; None for as many as the values of each block need.
    zero_based : bool
        Whether the file counts columns from 0; by LIBSVM's rule it counts from 1.

    Raises
    ------
    ValueError
        If the file is malformed, a value is missing or not finite, or an index is beyond ``columns``. The message
        names the first bad line, counted from 1, and the index as the file counts.
    """
    start = 1
    with reading(path, "LIBSVM data"), open_bytes(path) as file:
        while lines := file.readlines(_BLOCK_BYTES):
            yield _libsvm_rows(lines, start, columns, zero_based)
            start += len(lines)


def read_libsvm(
    path: Path, columns: int | None = None, zero_based: bool = False
) -> tuple[csr_matrix, NDArray[np.float64]]:
    """Return a LIBSVM file whole: sparse inputs and labels."""
    blocks = list(libsvm_blocks(path, columns, zero_based))
    if not blocks:
        raise ValueError(f"{path} cannot be read as LIBSVM data: it is empty")
    width = max(X.shape[1] for X, _ in blocks)
    for X, _ in blocks:
        X.resize(X.shape[0], width)
    return vstack([X for X, _ in blocks], format="csr"), np.concatenate([y for _, y in blocks])


def _libsvm_rows(
    lines: Sequence[bytes], start: int, columns: int | None, zero_based: bool
) -> tuple[csr_matrix, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(BytesIO(b"".join(lines)), zero_based=zero_based)
        width = int(X.indices.max(initial=-1)) + 1
        wrong = ~np.isfinite(X.data)
        if wrong.any():
            index = X.indices[wrong][0] + (not zero_based)
            raise ValueError(
                f"the value of index {index} is missing or not finite. Impute it, or remove the row"
            )
        if columns is not None and width > columns:
            index = X.indices[X.indices >= columns][0] + (not zero_based)
            raise ValueError(f"the index {index} is beyond the {columns} columns that are said to be there")
    except (ValueError, OverflowError) as error:
        if len(lines) == 1:
            remedy = (
                ". If the file counts columns from 0, set zero_based: true"
                if "Invalid index 0 " in str(error)
                else ""
            )
            raise ValueError(f"line {start}: {error}{remedy}") from error
        middle = len(lines) // 2
        _libsvm_rows(lines[:middle], start, columns, zero_based)
        _libsvm_rows(lines[middle:], start + middle, columns, zero_based)
        raise
    X.resize(X.shape[0], width if columns is None else columns)
    return csr_matrix(X), y
