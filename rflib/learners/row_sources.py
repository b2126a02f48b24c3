"""Rows for ``fit_blocks``: arrays and iterables, in numbered blocks that a pass can resume from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy.sparse import issparse

from rflib.kernels.row_faults import is_frame
from rflib.learners.row_hashes import row_hashes
from rflib.learners.values import as_array
from rflib.maps.row_blocks import row_blocks
from rflib.validation import check_integer

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
