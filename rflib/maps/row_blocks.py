"""Blocks of rows, which are processed on as many threads as the BLAS may use, or one after another on a device."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec

import numpy as np
from threadpoolctl import ThreadpoolController

from rflib.kernels.namespaces import Array, empty, namespace
from rflib.kernels.sparse_rows import Rows

# Blocks on a device are so many times as high as those that fit the cache of a processor.
_ON_A_DEVICE = 128
# Number of elements from which compiled functions are used: importing numba takes as long as numpy's cosine of ten
# million numbers.
_COMPILED_FROM = 1 << 22


def row_blocks(n_rows: int, height: int) -> list[slice]:
    """Return consecutive slices of at most ``height`` rows that cover n_rows."""
    return [slice(start, min(start + height, n_rows)) for start in range(0, n_rows, height)]


def over_row_blocks(work: Callable[[slice], None], X: Rows, height: int) -> None:
    """Call ``work`` for each of the `row_blocks` of X, in threads: it must write to its own rows only."""
    is_numpy = namespace(X) is np
    blocks = row_blocks(X.shape[0], height if is_numpy else _ON_A_DEVICE * height)
    threads = min(len(blocks), blas_threads()) if is_numpy and len(blocks) > 1 else 1
    if threads == 1:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, blocks):
            pass


def filled(X: Rows, n_columns: int, fill: Callable[[Rows, Array], None], height: int) -> Array:
    """Return an array (n, n_columns) beside rows X, of which ``fill`` gets some rows and their part to write."""
    features = empty((X.shape[0], n_columns), X)
    over_row_blocks(lambda rows: fill(X[rows, :], features[rows, :]), X, max(1, height))
    return features


def is_worth_compiling(X: Rows, n_columns: int) -> bool:
    """Return whether numba is to compute columns at rows X: if it is there, and they are many and numpy's."""
    large = namespace(X) is np and X.shape[0] * n_columns >= _COMPILED_FROM
    return large and find_spec("numba") is not None


def blas_threads() -> int:
    """Return the number of threads that the BLAS may use now."""
    return max((pool["num_threads"] for pool in _controller().info()), default=1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
