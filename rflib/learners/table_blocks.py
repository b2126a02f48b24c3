"""Tables that need not fit into memory: blocks of Dask rows, and what is made of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from rflib.maps.dask_rows import is_dask


class FeatureBlocks:
    """Blocks (X, y) or (X, y, weight) with X replaced by what a function makes of it, in each pass anew."""

    def __init__(self, make: Callable[[Any], Any], blocks: Iterable[Any]):
        self._make, self._blocks = make, blocks

    def __iter__(self) -> Iterator[Any]:
        for X, *rest in self._blocks:
            yield (self._make(X), *rest)


class DaskBlocks:
    """The blocks (X, y, weight) of Dask rows that have rows, computed in turn.

    Parameters
    ----------
    owner : estimator
        Its class names it in messages.
    X : Dask array or dataframe of shape (n_samples, n_features)
        Rows.
    y, weight : Dask collection in the blocks of X
        Labels or targets, and weights or None.

    Raises
    ------
    ValueError
        If y or weight is no Dask collection, or has other blocks of rows than X.
    """

    def __init__(self, owner: object, X: Any, y: Any, weight: Any):
        self._name = type(owner).__name__
        self._parts = {"X": _delayed(X)}
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is None and name == "sample_weight":
                continue
            parts = _delayed(values) if is_dask(values) else []
            if len(parts) != len(self._parts["X"]):
                self._refuse(name)
            self._parts[name] = parts

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        import dask

        for block in zip(*self._parts.values(), strict=True):
            X, *beside = dask.compute(*block)
            for name, values in zip(list(self._parts)[1:], beside, strict=True):
                if len(values) != len(X):
                    self._refuse(name)
            if len(X):
                y, weight = (*map(np.asarray, beside), None)[:2]
                yield X, y, weight

    def _refuse(self, name: str) -> None:
        raise ValueError(f"{self._name}: {name} must be a Dask collection with the same blocks of rows as X.")


def predicted_blocks(predict: Callable[[Any], Any], X: Any) -> Any:
    """Return the predictions for a Dask array or dataframe as a lazy Dask array."""
    is_array = not hasattr(X, "columns")
    tried = np.asarray(predict(np.zeros((1, X.shape[1])) if is_array else X._meta_nonempty))[:0]

    def predicted(part: Any) -> Any:
        return predict(part) if len(part) else tried

    if not is_array:
        return X.map_partitions(predicted, meta=tried)
    rows = X.rechunk({1: -1})
    more = {"drop_axis": 1} if tried.ndim == 1 else {"chunks": (rows.chunks[0], tried.shape[1:])}
    return rows.map_blocks(predicted, dtype=tried.dtype, meta=tried, **more)


def _delayed(values: Any) -> list[Any]:
    """Return the blocks of rows of a Dask collection as Delayed objects."""
    if getattr(values, "ndim", 1) == 2 and hasattr(values, "rechunk"):
        values = values.rechunk({1: -1})
    return list(np.ravel(np.array(values.to_delayed(), dtype=object)))
