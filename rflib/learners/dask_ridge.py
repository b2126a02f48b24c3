"""Ridge regression on Dask rows: moments are made where the rows are, and come back as one sum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from rflib.learners.folds import check_groups
from rflib.learners.moments import Moments
from rflib.learners.one_vs_rest import encode_labels
from rflib.learners.ridge_stream import Stream
from rflib.learners.row_sources import Block
from rflib.learners.streaming_ridge import HeldOutModels
from rflib.learners.values import RowError, joined_labels, labels_with_weight, refuse_zeros
from rflib.maps.base import RandomFeatureMap
from rflib.maps.dask_rows import DaskRows, for_workers, n_threads, reduce_in_a_tree

if TYPE_CHECKING:
    from rflib.learners.feature_ridge import FeatureRidge

# While a task of one chain waits for the scheduler, one of the other runs.
_CHAINS_A_THREAD = 2

# a block by its number in X: its rows, targets and weights
Numbered = tuple[int, tuple[Any, Any, Any]]


def fit_dask(learner: FeatureRidge, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
    """Fit a learner, whose parameters are checked, as `KRR.fit` says.

    Dask computes a task again if its result was lost with a worker. No task changes what it is given, so each row
    counts once.

    Raises
    ------
    ValueError
        As in `KRR.fit`, with the number of the block.
    """
    learner._check_streams("fit on Dask rows")
    check_groups(learner, groups)
    rows = DaskRows(learner, X, y, sample_weight)
    learner._forget()
    number, block = rows.head()
    head = Block(*block)
    with _named(learner, number):
        first, known = learner._checked(head.X, head.y, reset=True)
    if is_classifier(learner):
        learner.classes_, _ = encode_labels(learner, _labels(learner, rows))
    else:
        learner._row_shape = known.shape[1:]
    _fit_map(learner, rows, first, known)
    with _named(learner, number):
        _, targets, _ = learner._checked_block(head)
    stream = learner._begun(targets)
    (_, features), *_ = learner._used_blocks(first)
    _fit_stream(learner, rows, stream, features.shape[1])


def _fit_map(learner: FeatureRidge, rows: DaskRows, X: Any, y: NDArray) -> None:
    """Fit the map on X, the first rows, if these suffice, else on a sample."""
    if learner.feature_map is None:
        return
    if X.shape[0] < 2 or not learner._needs_only_columns(X, y)[0]:
        size = max(RandomFeatureMap._sample_size, getattr(learner.feature_map, "_sample_size", 0))
        seed = check_random_state(learner.random_state).randint(2**31 - 1)
        X, y = learner._checked(*rows.sample(size, seed), reset=False)
    learner._fit_map(X, y)


def _fit_stream(learner: FeatureRidge, rows: DaskRows, stream: Stream, n_columns: int) -> None:
    """Sum the moments of all rows into the stream, and solve.

    Sums are large, rows are not. So there are few chains of tasks, each of which adds blocks to one sum in turn,
    and a tree over their ends. However tasks are scheduled, no more sums than chains are in memory, and those that
    are being made.
    """
    import dask

    sent = for_workers(learner)
    sent._stream = stream
    sent = dask.delayed(sent, traverse=False)
    groups = list(_groups(rows, n_columns))
    add = dask.delayed(_added)
    bounds = np.linspace(0, len(groups), 1 + min(len(groups), _CHAINS_A_THREAD * n_threads())).astype(int)
    ends: list[Any] = [
        reduce(lambda total, group: add(sent, total, group), groups[start:stop], [])
        for start, stop in pairwise(bounds)
    ]
    moments = reduce_in_a_tree(_summed, ends).compute()

    def count(models: HeldOutModels) -> NDArray[np.float64]:
        fitted = dask.delayed(models, traverse=False)
        parts = [dask.delayed(_wrong)(sent, fitted, group) for group in groups]
        wrong: NDArray[np.float64] = reduce_in_a_tree(sum, parts).compute()
        return wrong

    learner._solve_counted(replace(stream, moments=moments), count)


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


def _added(learner: FeatureRidge, total: list[Moments], group: list[Numbered]) -> list[Moments]:
    """Return the moments of each fold with those of some blocks added; none if there have been no rows."""
    learner = copy(learner)
    assert learner._stream is not None
    moments = [fold.copy() for fold in total]
    learner._stream = replace(learner._stream, moments=moments)
    for number, block in group:
        if block[0].shape[0]:
            with _named(learner, number):
                learner._count_in(*learner._checked_block(Block(*block)))
    return moments


def _summed(parts: list[list[Moments]]) -> list[Moments]:
    """Return the sums of the folds' moments."""
    first, *others = [part for part in parts if part] or [[]]
    if not others:
        return first
    return [fold.copy().merge(rest) for fold, *rest in zip(first, *others, strict=True)]


def _wrong(learner: FeatureRidge, models: HeldOutModels, group: list[Numbered]) -> NDArray[np.float64]:
    """Return the weights of the rows of some blocks that get a wrong label, as `HeldOutModels.wrong`."""
    learner = copy(learner)
    stream = learner._stream
    assert stream is not None
    checked = (learner._checked_block(Block(*block)) for _, block in group if block[0].shape[0])
    parts = (part for X, y, w in checked for part in learner._parts(X, y, stream.folds(X), w))
    return models.wrong(parts, stream.centre)


def _labels(learner: FeatureRidge, rows: DaskRows) -> NDArray:
    """Return the labels of all rows with weight."""
    import dask

    sent, found = dask.delayed(for_workers(learner), traverse=False), dask.delayed(_labels_of_block)
    parts = [found(sent, number, y, weight) for number, (_, y, weight) in enumerate(rows.blocks())]
    labels: NDArray = reduce_in_a_tree(partial(joined_labels, for_workers(learner)), parts).compute()
    if not len(labels):
        refuse_zeros(learner)
    return labels


def _labels_of_block(learner: FeatureRidge, number: int, y: NDArray, weight: Any) -> NDArray:
    with _named(learner, number):
        return labels_with_weight(learner, y, weight)


@contextmanager
def _named(learner: FeatureRidge, number: int) -> Iterator[None]:
    """Name the block where its rows are refused."""
    where = f"in block {number} of the Dask rows"
    try:
        yield
    except RowError as error:
        name, row, what = error.args
        raise ValueError(f"{name}: {where}, row {row}: {what}") from error
    except ValueError as error:
        raise ValueError(f"{type(learner).__name__}: {where}: {error}") from error
