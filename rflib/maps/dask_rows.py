"""Dask rows: arrays and dataframes whose blocks are on several machines, or are yet to be computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from math import isnan
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rflib.maps.row_sample import RowSample

Method = TypeVar("Method", bound=Callable[..., Any])

# Rows of the first block: enough to try a map on, and to centre targets about.
_HEAD = 1000
# What is summed may be large: in a tree of pairs few sums meet, and each step of the longest path sends one.
_FAN_IN = 2


def is_dask(X: object) -> bool:
    """Return whether X is a Dask collection, which is told without importing Dask."""
    return hasattr(X, "__dask_graph__") and not isinstance(X, type)


def takes_dask_rows(method: Method) -> Method:
    """Let a method of a fitted estimator take Dask rows too, of which it returns a lazy Dask array."""

    @wraps(method)
    def taking(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if is_dask(X):
            return _map_rows(self, method.__name__, X, *args, **options)
        return method(self, X, *args, **options)

    return cast(Method, taking)


class DaskRows:
    """Rows X with targets and weights, in blocks that Dask computes where they are needed.

    X is a Dask array or dataframe (n_samples, n_features), whose blocks of rows are kept; as the attribute ``X``
    it is an array in blocks of whole rows. Targets y and weights are Dask or other arrays (n_samples, ...). Where
    numbers of rows are unknown, their blocks must hold the same rows as those of X. The ``owner`` is named in
    errors.
    """

    def __init__(self, owner: object, X: Any, y: Any = None, weight: Any = None):
        import dask

        self._name = type(owner).__name__
        self._names = getattr(X, "columns", None)
        rows = self._array(X)
        if rows.ndim != 2:
            raise ValueError(f"{self._name}: X must have two dimensions, got a Dask array with {rows.ndim}.")
        rows = rows.rechunk({1: -1})
        beside = [self._beside(rows, name, a) for name, a in (("y", y), ("sample_weight", weight))]
        self.X, self._y, self._weight = dask.optimize(rows, *beside)

    def blocks(self) -> list[tuple[Any, Any, Any]]:
        """Return the blocks (X, y, weight) as Delayed objects, some perhaps without rows; None for what is not."""
        parts = [
            [None] * self.X.numblocks[0] if a is None else a.to_delayed(optimize_graph=False).ravel()
            for a in (self.X, self._y, self._weight)
        ]
        return list(zip(*parts, strict=True))

    def head(self) -> tuple[int, tuple[Any, NDArray | None, NDArray | None]]:
        """Return the number of the first block that has rows, and at most 1,000 of them as in `blocks`."""
        import dask

        for number, block in enumerate(self.blocks()):
            rows, targets, weights = dask.compute(*(part if part is None else part[:_HEAD] for part in block))
            if rows.shape[0]:
                return number, (self.named(rows), targets, weights)
        raise ValueError(f"{self._name}: there are no rows.")

    def sample(self, size: int, seed: int) -> tuple[Any, NDArray | None]:
        """Return a uniform sample of rows and their targets, as `RowSample` draws it whatever the blocks."""
        import dask

        lengths = self.X.chunks[0]
        if any(map(isnan, lengths)):
            lengths = dask.compute(*(dask.delayed(np.shape)(X)[0] for X, _, _ in self.blocks()))
        ends = np.cumsum(lengths)
        draw = dask.delayed(_sample)
        parts = [
            draw(X, y, size, seed, int(end - length), int(ends[-1]))
            for (X, y, _), length, end in zip(self.blocks(), lengths, ends, strict=True)
        ]
        rows, targets = reduce_in_a_tree(RowSample.joined, parts).compute().rows()
        return self.named(rows), None if self._y is None else targets

    def _array(self, values: Any) -> Any:
        import dask.array as da

        if isinstance(values, da.Array):
            return values
        if not hasattr(values, "_meta"):
            raise TypeError(
                f"{self._name}: of Dask's collections, arrays and dataframes are taken, got "
                f"{type(values).__name__}."
            )
        # to_dask_array warns of text
        return values.map_partitions(np.asarray, meta=np.asarray(values._meta))

    def _beside(self, rows: Any, name: str, values: Any) -> Any:
        """Return targets or weights in the blocks of the rows."""
        import dask.array as da

        if values is None:
            return None
        n_rows = rows.shape[0]
        if not is_dask(values):
            if isnan(n_rows):
                raise ValueError(
                    f"{self._name}: {name} must be a Dask collection too where the numbers of rows in the blocks "
                    "of X are unknown. X.compute_chunk_sizes() and X.to_dask_array(lengths=True) find them."
                )
            values = da.from_array(np.asarray(values))
        values = self._array(values)
        if isnan(n_rows) or isnan(values.shape[0]):
            if values.numblocks[0] != rows.numblocks[0]:
                raise ValueError(
                    f"{self._name}: X has {rows.numblocks[0]} blocks, but {name} has {values.numblocks[0]}. Where "
                    "numbers of rows are unknown, the blocks of both must hold the same rows."
                )
            return values.rechunk(dict.fromkeys(range(1, values.ndim), -1))
        if values.shape[0] != n_rows:
            raise ValueError(f"{self._name}: X has {n_rows} rows, but {name} has {values.shape[0]}.")
        return values.rechunk((rows.chunks[0], *(-1 for _ in values.shape[1:])))

    def named(self, X: Any) -> Any:
        """Return rows in memory, as a dataframe if X is one."""
        if self._names is None:
            return X
        import pandas as pd

        return pd.DataFrame(X, columns=self._names)


def reduce_in_a_tree(combine: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
    """Return what a function makes of a list of Delayed objects, as Delayed; it gets some of them at a time.

    Dask may need an argument again, after a worker was lost, so the function must not change it.
    """
    import dask

    joined = dask.delayed(combine)
    parts = list(parts)
    while len(parts) > 1:
        parts = [joined(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return parts[0]


def n_threads() -> int:
    """Return the number of threads of the Dask cluster in use, or of this machine if there is none."""
    from dask.system import CPU_COUNT

    try:
        from distributed import get_client

        return sum(get_client().nthreads().values()) or CPU_COUNT
    except (ImportError, ValueError):
        return CPU_COUNT


def for_workers(estimator: Any) -> Any:
    """Return a copy to send: without names of columns, as blocks have none, and what only the caller needs."""
    light = copy(estimator)
    for name in ("feature_names_in_", *getattr(estimator, "_stays_with_caller", ())):
        vars(light).pop(name, None)
    return light


def _map_rows(estimator: Any, method: str, X: Any, *args: Any, **options: Any) -> Any:
    """Return what a method makes of each block, as a Dask array of the type that a row of unit norm gets."""
    import dask

    rows = DaskRows(estimator, X)
    row = rows.named(np.eye(1, rows.X.shape[1], dtype=rows.X.dtype))
    tried = getattr(estimator, method)(row, *args, **options)
    if isinstance(tried, tuple):
        raise ValueError(
            f"{type(estimator).__name__}: {method} takes Dask rows where it returns one array. Call it for one "
            "block after another, as with X.blocks[0].compute()."
        )
    tried = np.asarray(tried)
    more = {"drop_axis": 1} if tried.ndim == 1 else {"chunks": (rows.X.chunks[0], tried.shape[1:])}
    # as one object of the graph, to which its tasks refer
    sent = dask.delayed(for_workers(estimator), traverse=False)
    call = {"method": method, "args": args, "options": options, "empty": tried[:0]}
    return rows.X.map_blocks(_call, sent, **call, **more, dtype=tried.dtype, meta=tried[:0])


def _call(
    X: Any, estimator: Any, *, method: str, args: tuple[Any, ...], options: dict[str, Any], empty: NDArray
) -> NDArray:
    if not X.shape[0]:
        return empty
    return np.asarray(getattr(estimator, method)(X, *args, **options))


def _sample(X: Any, y: Any, size: int, seed: int, start: int, n_rows: int) -> RowSample:
    drawn = RowSample(size, seed, start, n_rows)
    drawn.add(X, np.empty((X.shape[0], 0)) if y is None else np.asarray(y))
    return drawn
