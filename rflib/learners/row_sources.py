"""Rows for ``fit_blocks``: Parquet files, arrays and iterables, in numbered blocks that a pass can resume from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import issparse

from rflib.extras import need
from rflib.learners.checked_rows import is_frame
from rflib.learners.row_hashes import row_hashes
from rflib.learners.values import as_array
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_integer

if TYPE_CHECKING:
    import pyarrow

BLOCK_SIZE = 16_384
# rows whose numbers tell one array from another
_PROBED_ROWS = 1000


class Block(NamedTuple):
    """Consecutive rows X (n, n_features), targets y (n,) or (n, n_targets), and weights (n,) if there are any."""

    X: Any
    y: Any
    weight: Any = None


class RowSource(ABC):
    """Rows in blocks, the same ones in every pass."""

    n_rows: int | None = None
    # Whether `blocks` can be called more than once.
    begins_anew = True

    def __iter__(self) -> Iterator[Block]:
        return self.blocks()

    @abstractmethod
    def blocks(self, start: int = 0, *, features: bool = True) -> Iterator[Block]:
        """Yield the blocks from number ``start`` on, none of them empty; X may be None without ``features``."""

    @abstractmethod
    def identity(self, n_rows: int) -> str:
        """Return a digest that tells the first rows from those of another source."""

    def first(self) -> Block | None:
        """Return block 0, which `blocks` yields all the same; None if there is none."""
        return next(self.blocks(), None)

    def where(self, number: int, start: int, rows: range) -> str:
        """Say where some rows of block ``number`` are, whose first row is row ``start`` of the source."""
        first, last = start + rows[0], start + rows[-1]
        span = f"row {first:,}" if first == last else f"rows {first:,} to {last:,}"
        return f"{span} of the {type(self).__name__}"


class ArrayRows(RowSource):
    """Rows of arrays that need not fit into memory, such as memory-mapped ``.npy`` files; blocks are read in turn.

    Parameters
    ----------
    X : array, CSR matrix or DataFrame of shape (n_samples, n_features)
        Anything with a shape whose slices of rows are arrays: an ndarray, a ``numpy.memmap`` as
        ``numpy.load("X.npy", mmap_mode="r")`` returns it, or a data set of h5py or zarr. The columns of a
        DataFrame of pandas keep their names. Its index, and that of y and weight, do not matter.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Targets or labels.
    weight : array of shape (n_samples,), optional
        Weights of the rows.
    block_size : int, default=16384
        Rows in a block.

    Raises
    ------
    ValueError
        If the arrays have different numbers of rows, or block_size is not a positive integer.

    See Also
    --------
    ParquetRows : Rows of Parquet files.
    KRR : A learner whose `fit_blocks` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.kernels import Gaussian
    >>> from rflib.learners import KRR, ArrayRows
    >>> from rflib.maps import ORF
    >>> X = np.random.default_rng(0).standard_normal((5000, 1))
    >>> rows = ArrayRows(X, np.sin(3 * X[:, 0]), block_size=1000)
    >>> model = KRR(feature_map=ORF(Gaussian(sigma=1.0), 64, random_state=0)).fit_blocks(rows)
    >>> print(f"{model.score(X, np.sin(3 * X[:, 0])):.2f}")
    1.00
    """

    def __init__(self, X: Any, y: Any, weight: Any = None, *, block_size: int = BLOCK_SIZE):
        self.X = X if is_frame(X) else _sliceable(X)
        self.y, self.weight = _sliceable(y), _sliceable(weight)
        self.block_size = block_size
        check_integer(self, "block_size", at_least=1)
        lengths = {array.shape[0] for array in (self.X, self.y, self.weight) if array is not None}
        if len(lengths) > 1:
            raise ValueError(f"ArrayRows: the arrays must have as many rows, got {sorted(lengths)}.")
        self.n_rows = lengths.pop()

    def blocks(self, start: int = 0, *, features: bool = True) -> Iterator[Block]:
        """Yield the blocks from number ``start`` on."""
        for rows in row_blocks(int(self.n_rows or 0), self.block_size)[start:]:
            yield self._rows(rows, features)

    def identity(self, n_rows: int) -> str:
        """Return a digest of up to 1,000 of the rows, evenly spaced."""
        probed = np.unique(np.linspace(0, max(n_rows - 1, 0), _PROBED_ROWS).astype(int))
        X, y, weight = self._rows(probed, features=True)
        kind = str(getattr(X, "dtype", "DataFrame"))
        return str(joblib.hash((self.block_size, X.shape[1:], kind, row_hashes(X, 0), y, weight)))

    def _rows(self, rows: Any, features: bool) -> Block:
        weight = None if self.weight is None else self.weight[rows]
        by_place = self.X.iloc if is_frame(self.X) else self.X
        return Block(by_place[rows] if features else None, self.y[rows], weight)


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


class IterableRows(RowSource):
    """Blocks of anything that can be iterated; an iterator, such as a generator, once only."""

    def __init__(self, blocks: Iterable[Any]):
        self._blocks = blocks
        self.begins_anew = iter(blocks) is not blocks
        self._head: list[Block] = []
        self._is_used = False
        # of the blocks with rows, the numbers among all
        self._numbers: list[int] = []

    def blocks(self, start: int = 0, *, features: bool = True) -> Iterator[Block]:
        """Yield the blocks from number ``start`` on; ValueError if they are an iterator's and gone."""
        if self._is_used and not self.begins_anew:
            raise ValueError("The blocks can be iterated once only.")
        self._is_used = True
        yield from islice(chain(self._head, self._checked()), start, None)

    def identity(self, n_rows: int) -> str:
        """Return a digest of the first block, which is what is known of blocks that are yet to come."""
        block = self.first()
        return "" if block is None else str(joblib.hash((row_hashes(block.X, 0), block.y)))

    def first(self) -> Block | None:
        """Return block 0."""
        if self.begins_anew:
            return next(self._checked(), None)
        if not self._is_used and not self._head:
            self._head = list(islice(self._checked(), 1))
        return self._head[0] if self._head else None

    def where(self, number: int, start: int, rows: range) -> str:
        """Name the block and, if it is one, the row in it."""
        row = f", row {rows[0]}" if len(rows) == 1 else ""
        return f"block {self._numbers[number]}{row}"

    def _checked(self) -> Iterator[Block]:
        found = len(self._head)
        for number, block in enumerate(self._blocks, start=self._numbers[-1] + 1 if found else 0):
            if not isinstance(block, tuple) or len(block) not in (2, 3):
                raise ValueError(
                    f"Block {number} must be a tuple (X, y) or (X, y, weight), got {type(block).__name__}."
                )
            if block[0] is None or block[1] is None:
                raise ValueError(f"Block {number} must have rows X and targets y, but one of them is None.")
            X, *rest = (
                item if item is None or issparse(item) or is_frame(item) else as_array(item) for item in block
            )
            if X.shape[0]:
                self._numbers[found:] = [number]
                found += 1
                yield Block(X, *(part if part is None else as_array(part) for part in rest))


def as_row_source(owner: object, rows: Any) -> RowSource:
    """Return the rows as a source; TypeError, in the name of the owner, if they cannot be iterated."""
    if isinstance(rows, RowSource):
        return rows
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes | np.ndarray):
        raise TypeError(
            f"{type(owner).__name__}: rows must be ParquetRows, ArrayRows or an iterable of blocks (X, y) or "
            f"(X, y, weight), got {type(rows).__name__}."
        )
    return IterableRows(rows)


def _sliceable(array: Any) -> Any:
    """Return an array as it is, what has rows by names (a Series) or none as one, and a sparse matrix as CSR."""
    if issparse(array):
        return array.tocsr()
    is_array = hasattr(array, "dtype") and not hasattr(array, "iloc")
    return array if array is None or is_array else as_array(array)


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
