"""LIBSVM's format: a line is a label, which is a text here, and the columns that are not zero."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Part, Paths, Reader
from rflib.datasets.formats.checked import NO_UTF8, open_text, reading

_BLOCK_BYTES = 1 << 24
# The first word of each line that is neither blank nor a comment.
_LABEL = re.compile(rb"^[^\S\n]*([^\s#]\S*)", re.MULTILINE)


def libsvm_reader(columns: int, first_label: int = 0, sparse: bool = False) -> Reader:
    """Return a reader of one file, or of a training and a test file; labels are counted from ``first_label``."""

    def read(paths: Paths) -> Blocks:
        parts: Sequence[Part] = TRAIN_TEST if len(paths) == 2 else ("all",)
        for part, path in zip(parts, paths, strict=True):
            for X, y in libsvm_blocks(path, columns):
                labels = y.astype(np.float64).astype(np.int64) - first_label
                yield Block(part, X if sparse else X.toarray(), labels)

    return read


def libsvm_blocks(
    path: Path, columns: int | None = None, zero_based: bool = False
) -> Iterator[tuple[csr_matrix, NDArray[np.str_]]]:
    """Yield a LIBSVM file as sparse inputs (n, columns) and the texts of labels (n,) of some rows.

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
    with reading(path, "LIBSVM data"), open_text(path) as file:
        while lines := file.readlines(_BLOCK_BYTES):
            yield _libsvm_rows(lines, start, columns, zero_based)
            start += len(lines)


def read_libsvm(
    path: Path, columns: int | None = None, zero_based: bool = False
) -> tuple[csr_matrix, NDArray[np.str_]]:
    """Return a LIBSVM file whole: sparse inputs and the texts of labels."""
    blocks = list(libsvm_blocks(path, columns, zero_based))
    if not blocks:
        raise ValueError(f"{path} cannot be read as LIBSVM data: it is empty")
    width = max(X.shape[1] for X, _ in blocks)
    for X, _ in blocks:
        X.resize(X.shape[0], width)
    return vstack([X for X, _ in blocks], format="csr"), np.concatenate([y for _, y in blocks])


def _libsvm_rows(
    lines: Sequence[bytes], start: int, columns: int | None, zero_based: bool
) -> tuple[csr_matrix, NDArray[np.str_]]:
    from sklearn.datasets import load_svmlight_file

    text = b"".join(lines)
    try:
        words = _LABEL.findall(text)
        labels = {word: _label(word) for word in set(words)}
        text = _LABEL.sub(b"0", text)
        if b"_" in text and re.search(rb"^[^#\n]*_", text, re.MULTILINE):
            raise ValueError("a number has no '_'")
        X, _ = load_svmlight_file(BytesIO(text), zero_based=zero_based)
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
            strange = _no_column(text)
            if strange:
                raise ValueError(
                    f"line {start}: {strange!r} is not a column and its value, such as 7:0.5"
                ) from error
            what = str(error).rstrip(".")
            if "Invalid index 0 " in what:
                what += ". If the file counts columns from 0, set zero_based: true"
            if isinstance(error, OverflowError):
                what = f"an index is larger than {np.iinfo(np.int32).max - 1}, the largest that can be read"
            raise ValueError(f"line {start}: {what}") from error
        middle = len(lines) // 2
        _libsvm_rows(lines[:middle], start, columns, zero_based)
        _libsvm_rows(lines[middle:], start + middle, columns, zero_based)
        raise
    X.resize(X.shape[0], width if columns is None else columns)
    return csr_matrix(X), np.array([labels[word] for word in words], dtype=np.str_)


def _no_column(line: bytes) -> str:
    """Return the first word behind the label of a line that is no column:value, or nothing."""
    for word in line.split(b"#")[0].split()[1:]:
        column, colon, _ = word.partition(b":")
        if not colon or not (column == b"qid" or re.fullmatch(rb"-?[0-9]+", column)):
            return word.decode(errors="replace")
    return ""


def _label(word: bytes) -> str:
    if b":" in word:
        raise ValueError(f"it begins with {word.decode(errors='replace')!r} and not with a label")
    if b"#" in word:
        raise ValueError(
            f"the label {word.decode(errors='replace')!r} holds '#', which begins a comment. Write another label, "
            "or a blank before the comment"
        )
    if b"," in word:
        raise ValueError(f"{word.decode(errors='replace')!r} are several labels")
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        raise ValueError(NO_UTF8) from error
