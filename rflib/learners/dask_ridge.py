"""Sums over Dask rows, for ridge regression: moments are made where the rows are, and come back as one sum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.row_faults import RowError
from rflib.learners.moments import Moments
from rflib.learners.ridge_state import RidgeState, merged
from rflib.learners.row_sources import Block
from rflib.learners.streaming_ridge import HeldOutModels
from rflib.learners.values import joined_labels, labels_with_weight, refuse_zeros
from rflib.maps.base import RandomFeatureMap
from rflib.maps.dask_rows import DaskRows, for_workers, n_threads, reduce_in_a_tree

# While a task of one chain waits for the scheduler, one of the other runs.
_CHAINS_A_THREAD = 2

# a block by its number in X: its rows, targets and weights
Numbered = tuple[int, tuple[Any, Any, Any]]


class Counter(Protocol):
    """What counts blocks of rows, in each task a copy of it."""

    def _add_block(self, state: RidgeState, block: Block) -> None: ...

    def _checked_block(self, block: Block) -> tuple[Any, NDArray, NDArray[np.float64] | None]: ...

    def _wrong(self, state: RidgeState, models: HeldOutModels, checked: Any) -> NDArray[np.float64]: ...


class RowsElsewhere:
    """The blocks of Dask rows X, with their targets and weights, for a learner whose name errors tell.

    Dask computes a task again if its result was lost with a worker. No task changes what it is given, so each row
    counts once. ``head`` is the first block that has rows.
    """

    def __init__(self, learner: Any, X: Any, y: Any, sample_weight: Any):
        self._rows, self._light, self._name = (
            DaskRows(learner, X, y, sample_weight),
            for_workers(learner),
            type(learner).__name__,
        )
        self._first, block = self._rows.head()
        self.head = Block(*block)

    def named_head(self) -> Any:
        """Return a context in which an error names the first block."""
        return _named(self._name, self._first)

    def sample(self, feature_map: Any, seed: int) -> tuple[Any, Any]:
        """Return a sample of rows, with their targets, that a map is fitted on."""
        return self._rows.sample(
            max(RandomFeatureMap._sample_size, getattr(feature_map, "_sample_size", 0)), seed
        )

    def labels(self) -> NDArray:
        """Return the labels of all rows with weight."""
        import dask

        sent, found = dask.delayed(self._light, traverse=False), dask.delayed(_labels_of_block)
        parts = [found(sent, number, y, weight) for number, (_, y, weight) in enumerate(self._rows.blocks())]
        labels: NDArray = reduce_in_a_tree(partial(joined_labels, self._light), parts).compute()
        if not len(labels):
            refuse_zeros(self._light)
        return labels

    def moments(self, counter: Counter, state: RidgeState, n_columns: int) -> list[Moments]:
        """Return the moments of each fold of all rows, whose state is begun; there are n_columns features.

        Sums are large, rows are not. So there are few chains of tasks, each of which adds blocks to one sum in
        turn, and a tree over their ends. However tasks are scheduled, no more sums than chains are in memory, and
        those that are being made.
        """
        import dask

        self._sent = dask.delayed((for_workers(counter), state), traverse=False)
        self._groups = list(_groups(self._rows, n_columns))
        add = dask.delayed(_added)
        n_chains = min(len(self._groups), _CHAINS_A_THREAD * n_threads())
        bounds = np.linspace(0, len(self._groups), 1 + n_chains).astype(int)
        ends: list[Any] = [
            reduce(lambda total, group: add(self._sent, total, group), self._groups[start:stop], [])
            for start, stop in pairwise(bounds)
        ]
        found: list[Moments] = reduce_in_a_tree(merged, ends).compute()
        return found

    def wrong(self, models: HeldOutModels) -> NDArray[np.float64]:
        """Return `HeldOutModels.wrong` of all rows that `moments` has counted."""
        import dask

        fitted = dask.delayed(models, traverse=False)
        parts = [dask.delayed(_wrong)(self._sent, fitted, group) for group in self._groups]
        found: NDArray[np.float64] = reduce_in_a_tree(sum, parts).compute()
        return found


def _groups(rows: DaskRows, n_columns: int) -> Iterator[list[Numbered]]:
    """Yield consecutive blocks that have at least D rows together, for which a sum of D^2 numbers is copied."""
    group: list[Numbered] = []
    n = 0.0
    for numbered, length in zip(enumerate(rows.blocks()), rows.X.chunks[0], strict=True):
        group.append(numbered)
        n += length
        if not n < n_columns:  # unknown lengths are NaN
            yield group
            group, n = [], 0.0
    if group:
        yield group


def _added(sent: tuple[Counter, RidgeState], total: list[Moments], group: list[Numbered]) -> list[Moments]:
    """Return the moments of each fold with those of some blocks added; none if there have been no rows."""
    counter, state = copy(sent[0]), replace(sent[1], moments=[fold.copy() for fold in total])
    for number, block in group:
        if block[0].shape[0]:
            with _named(type(counter).__name__, number):
                counter._add_block(state, Block(*block))
    return state.moments


def _wrong(
    sent: tuple[Counter, RidgeState], models: HeldOutModels, group: list[Numbered]
) -> NDArray[np.float64]:
    """Return the weights of the rows of some blocks that get a wrong label, as `HeldOutModels.wrong`."""
    counter, state = copy(sent[0]), sent[1]
    checked = (counter._checked_block(Block(*block)) for _, block in group if block[0].shape[0])
    return counter._wrong(state, models, checked)


def _labels_of_block(learner: Any, number: int, y: NDArray, weight: Any) -> NDArray:
    with _named(type(learner).__name__, number):
        return labels_with_weight(learner, y, weight)


@contextmanager
def _named(name: str, number: int) -> Iterator[None]:
    """Name the block where its rows are refused."""
    where = f"in block {number} of the Dask rows"
    try:
        yield
    except RowError as error:
        owner, row, what = error.args
        raise ValueError(f"{owner}: {where}, row {row}: {what}") from error
    except ValueError as error:
        raise ValueError(f"{name}: {where}: {error}") from error
