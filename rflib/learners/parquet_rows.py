"""Rows of Parquet files, in numbered blocks that go on from file to file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import DTypeLike, NDArray

from rflib.extras import need
from rflib.learners.row_sources import BLOCK_SIZE, Block, RowSource
from rflib.validation import check_integer

if TYPE_CHECKING:
    import pyarrow


class ParquetRows(RowSource):
    """Rows of a Parquet data set: one file, or all files of a folder, in the order of their names.

    Blocks have their rows as a DataFrame, whose names of columns a learner keeps and compares as with any other.

    Files are read a block at a time, whatever the size of their row groups. Damage shows where a file cannot be
    decoded; bits that flip unseen are found only in files written with checksums
    (``pyarrow.parquet.write_table(..., write_page_checksum=True)``), which are compared. Needs pyarrow and
    pandas, of the extra ``data``.

    Parameters
    ----------
    path : str or path
        The file or folder.
    columns : sequence of str, optional
        Names of the feature columns, in this order: numbers or booleans, without missing values. They become
        float32 if all of them are (or float16), in all files, else float64. None: all columns but the target, the
        weight, and an index that pandas wrote.
    target : str or sequence of str
        Name of the column of targets or labels; several names make y two-dimensional.
    weight : str, optional
        Name of the column of weights.
    block_size : int, default=16384
        Rows in a block; a block goes on into the next file.

    Attributes
    ----------
    n_rows : int
        Number of rows of all files.
    columns : list of str
        Names of the feature columns.

    Raises
    ------
    ImportError
        If pyarrow or pandas is not installed.
    FileNotFoundError
        If there is no such path.
    ValueError
        If there is no such column or it does not hold numbers, and, here or when rows are read, if a file is
        damaged or a value is missing; the message names the file, and the row in it.

    See Also
    --------
    ArrayRows : Rows of arrays, also memory-mapped ones.
    KRR : A learner whose `fit_blocks` takes them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.learners import KRR, ParquetRows
    >>> table = load_diabetes(as_frame=True).frame
    >>> with TemporaryDirectory() as folder:
    ...     table.to_parquet(Path(folder, "rows.parquet"))
    ...     rows = ParquetRows(Path(folder, "rows.parquet"), target="target")
    ...     model = KRR().fit_blocks(rows)
    >>> rows.n_rows
    442
    """

    def __init__(
        self,
        path: str | PathLike[str],
        columns: Sequence[str] | None = None,
        *,
        target: str | Sequence[str],
        weight: str | None = None,
        block_size: int = BLOCK_SIZE,
    ):
        need("data", "ParquetRows", "pyarrow", "pandas")
        from pyarrow import dataset, schema

        self.path, self.target, self.weight, self.block_size = fspath(path), target, weight, block_size
        check_integer(self, "block_size", at_least=1)
        with _named(self.path):
            found = dataset.dataset(self.path, schema([]), format="parquet")
        if not found.files:
            raise ValueError(f"ParquetRows: {self.path} holds no Parquet files.")
        self.files = sorted(found.files)
        self._filesystem = found.filesystem
        targets = [target] if isinstance(target, str) else list(target)
        others = [*targets, *([] if weight is None else [weight])]
        opened = [self._open(file) for file in self.files]
        self._sizes = [int(file.metadata.num_rows) for file in opened]
        self.n_rows = sum(self._sizes)
        schemas = {file: parquet.schema_arrow for file, parquet in zip(self.files, opened, strict=True)}
        names = schemas[self.files[0]].names
        left_out = {*others, *_index(schemas[self.files[0]])}
        self.columns = [n for n in names if n not in left_out] if columns is None else list(columns)
        for name in [*self.columns, *others]:
            if name not in names:
                raise ValueError(
                    f"ParquetRows: {self.path} has no column {name!r}; it has {', '.join(names)}."
                )
        self._targets = targets
        _check_names(schemas, [*self.columns, *others])
        _check_targets(schemas, targets)
        self._dtype = _float_type(schemas, self.columns)

    def blocks(self, start: int = 0, *, features: bool = True) -> Iterator[Block]:
        """Yield the blocks from number ``start`` on, for which files and row groups before it are not read."""
        waiting: list[Block] = []
        for part in self._parts(start * self.block_size, features):
            waiting.append(part)
            if sum(len(block.y) for block in waiting) >= self.block_size:
                whole = _joined(waiting)
                yield self._named(_cut(whole, slice(self.block_size)))
                waiting = [_cut(whole, slice(self.block_size, None))]
        if sum(len(block.y) for block in waiting):
            yield self._named(_joined(waiting))

    def _named(self, block: Block) -> Block:
        import pandas as pd

        named = None if block.X is None else pd.DataFrame(block.X, columns=self.columns, copy=False)
        return block._replace(X=named)

    def identity(self, n_rows: int) -> str:
        """Return a digest of the columns and of the files' names, sizes and times of change."""
        ends = np.cumsum(self._sizes)
        count = 1 + int(np.searchsorted(ends, n_rows))
        infos = self._filesystem.get_file_info(self.files[:count])
        files = [(info.path, info.size, info.mtime_ns) for info in infos]
        return str(joblib.hash((self.block_size, self.columns, self._targets, self.weight, files)))

    def where(self, number: int, start: int, rows: range) -> str:
        """Name the files and the rows in them."""
        ends, places = np.cumsum(self._sizes), [start + rows[0], start + rows[-1]]
        names = []
        for file, place in zip(np.searchsorted(ends, places, side="right"), places, strict=True):
            names.append(f"{self.files[file]}, row {place - (ends[file] - self._sizes[file]):,}")
        return " to ".join(dict.fromkeys(names))

    def _open(self, file: str) -> Any:
        from pyarrow.parquet import ParquetFile

        with _named(file):
            opened = self._filesystem.open_input_file(file)
            return ParquetFile(opened, pre_buffer=False, buffer_size=1 << 16, page_checksum_verification=True)

    def _parts(self, skip: int, features: bool) -> Iterator[Block]:
        """Yield what is decoded at a time, without the first ``skip`` rows."""
        names = [*(self.columns if features else []), *self._targets]
        names += [] if self.weight is None else [self.weight]
        for file, size in zip(self.files, self._sizes, strict=True):
            if skip >= size:
                skip -= size
                continue
            opened = self._open(file)
            groups = list(range(opened.metadata.num_row_groups))
            start = 0  # of the rows of the file that are yet to come
            while skip >= (rows := opened.metadata.row_group(groups[0]).num_rows):
                skip -= rows
                start += rows
                groups.pop(0)
            batches = opened.iter_batches(self.block_size, groups, list(dict.fromkeys(names)))
            while True:
                with _named(file):
                    batch = next(batches, None)
                if batch is None:
                    break
                if batch.num_rows > skip:
                    yield self._decoded(batch.slice(skip), file, start + skip, features)
                skip = max(0, skip - batch.num_rows)
                start += batch.num_rows

    def _decoded(self, batch: pyarrow.RecordBatch, file: str, start: int, features: bool) -> Block:
        """Return the columns of rows of a file, from row ``start`` of it on."""

        def column(name: str) -> NDArray:
            at = batch.schema.get_field_index(name)
            if at < 0:
                raise ValueError(
                    f"ParquetRows: the column {name!r} is missing in {file}: complete or drop it."
                )
            if batch.column(at).null_count:
                row = start + int(np.argmax(batch.column(at).is_null().to_numpy(zero_copy_only=False)))
                raise ValueError(
                    f"ParquetRows: a value of the column {name!r} is missing in {file}, row {row:,}: complete it "
                    "or leave the row out."
                )
            return _numpy(batch.column(at))

        X = None
        if features:
            X = np.empty((batch.num_rows, len(self.columns)), dtype=self._dtype)
            for j, name in enumerate(self.columns):
                X[:, j] = column(name)
        several = not isinstance(self.target, str)
        y = np.column_stack([*map(column, self._targets)]) if several else column(self._targets[0])
        return Block(X, y, None if self.weight is None else column(self.weight))


def _joined(blocks: Sequence[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    return Block(
        *(None if parts[0] is None else np.concatenate(parts) for parts in zip(*blocks, strict=True))
    )


def _cut(block: Block, rows: slice) -> Block:
    return Block(*(None if part is None else part[rows] for part in block))


def _index(schema: pyarrow.Schema) -> list[str]:
    """Return the columns that hold the index of a DataFrame of pandas, which it writes beside its own."""
    columns = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in columns if isinstance(name, str)]


def _check_names(schemas: Mapping[str, pyarrow.Schema], names: Sequence[str]) -> None:
    for file, schema in schemas.items():
        counts = Counter(schema.names)
        for name in names:
            if counts[name] > 1:
                raise ValueError(
                    f"ParquetRows: {file} has {counts[name]} columns with the name {name!r}: give each column a "
                    "name of its own, or leave them out of columns."
                )


def _check_targets(schemas: Mapping[str, pyarrow.Schema], names: Sequence[str]) -> None:
    """Raise ValueError if a column holds texts in one file and others in another, which would become texts."""
    from pyarrow import types

    for name in names:
        files: dict[bool, str] = {}
        for file, field in _fields(schemas, name):
            kind = field.type.value_type if types.is_dictionary(field.type) else field.type
            if not types.is_null(kind):
                files.setdefault(_is_text(kind), file)
        if len(files) > 1:
            raise ValueError(
                f"ParquetRows: the column {name!r} holds texts in {files[True]} and not in {files[False]}: write "
                "it with one type in all files."
            )


def _float_type(schemas: Mapping[str, pyarrow.Schema], names: Sequence[str]) -> DTypeLike:
    """Return the type of floats that holds the columns of all files."""
    from pyarrow import types

    single = True
    for name in names:
        for file, field in _fields(schemas, name):
            numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
            if not any(is_number(field.type) for is_number in numbers):
                raise ValueError(
                    f"ParquetRows: features must be numbers, but the column {name!r} of {file} is of type "
                    f"{field.type}: leave it out of columns, or encode it."
                )
            single &= types.is_float32(field.type) or types.is_float16(field.type)
    return np.float32 if single else np.float64


def _fields(schemas: Mapping[str, pyarrow.Schema], name: str) -> Iterator[tuple[str, pyarrow.Field]]:
    return ((file, schema.field(name)) for file, schema in schemas.items() if name in schema.names)


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _numpy(column: pyarrow.Array) -> NDArray:
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values: NDArray = column.to_numpy(zero_copy_only=False)
    return values.astype(str) if _is_text(column.type) else values


@contextmanager
def _named(file: str) -> Iterator[None]:
    """Name the file where what is read in the block cannot be decoded."""
    import pyarrow

    try:
        yield
    except FileNotFoundError:
        raise
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(
            f"ParquetRows: {file} is damaged or not a Parquet file ({error}): write it again or take it out of "
            "the folder, then repeat the call."
        ) from error
