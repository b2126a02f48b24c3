"""Columns of cosines and sines: one matrix product and one pass for each block of rows that fits the cache.

numpy's float32 cosine is vectorised, but its float64 cosine is not. For large float64 inputs a compiled cosine is
used if numba is installed (in the checkout: ``pip install ".[fast]"``). It is five times as fast and agrees within
5e-16. Rows of other array libraries use the cosines of these.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.namespaces import Array, beside, empty, held_beside, multiply_into, namespace
from rflib.kernels.sparse_rows import Rows
from rflib.maps.row_blocks import blas_threads, is_worth_compiling, over_row_blocks, row_blocks

# Elements of a block: a few MB, enough for the matrix product to run at full speed.
_BLOCK = 1 << 20
# Elements of a part of a block that stays in the cache of a core while its columns are computed.
_PART = 1 << 17

# Elements of the cosines and sines of a block of rows for gradients.
_GRADIENTS_BLOCK = 1 << 18

# A function of phases and amplitudes that writes its values into the last array.
ScaledFunction = Callable[[Array, Array, Array], None]


def cosine_features(
    X: Rows,
    frequencies: NDArray,
    phases: NDArray,
    amplitudes: NDArray,
    n_pairs: int,
    *,
    out: Array | None = None,
) -> Array:
    """Return a_f cos(<v_f, x> + b_f) for all rows and frequencies, and sines for some of the frequencies.

    Given are rows X (n, d), dense or sparse, the frequencies v_f (F, d), the phases b_f (F,) and the amplitudes
    a_f (F,). The first n_pairs frequencies have both a cosine and a sine. The result (n, n_pairs + F), which is
    written to ``out`` if given, has the cosines of the pairs, their sines, and the cosines of the other
    frequencies, in X's dtype, library and device. The work is divided among as many threads as the BLAS may use.
    """
    n, n_frequencies, is_numpy = X.shape[0], len(frequencies), namespace(X) is np
    directions = held_beside(frequencies, X).T
    if is_numpy:
        directions = np.ascontiguousarray(directions)
    shifted = phases.any()
    phases, amplitudes = beside(phases, X), beside(amplitudes, X)
    features = empty((n, n_pairs + n_frequencies), X) if out is None else out
    cosines, sines = _functions(features)
    pairs, rest = slice(n_pairs), slice(n_pairs, None)

    def fill(product: Array, rows: slice) -> None:
        if shifted:
            product += phases
        part = features[rows, :]
        if n_pairs:
            cosines(product[:, pairs], amplitudes[pairs], part[:, pairs])
            sines(product[:, pairs], amplitudes[pairs], part[:, n_pairs : 2 * n_pairs])
        cosines(product[:, rest], amplitudes[rest], part[:, 2 * n_pairs :])

    height = max(1, _BLOCK // max(1, n_frequencies))
    if issparse(X) or not is_numpy:
        over_row_blocks(lambda rows: fill(X[rows, :] @ directions, rows), X, height)
        return features
    threads = blas_threads() if features.size > _BLOCK else 1
    buffer = np.empty((min(n, height * threads), n_frequencies), dtype=X.dtype)

    def fill_every(share: int, parts: list[slice], start: int) -> None:
        for rows in parts[share::threads]:
            fill(buffer[rows], slice(start + rows.start, start + rows.stop))

    with ThreadPoolExecutor(threads) as pool:
        for block in row_blocks(n, height * threads):
            n_rows = block.stop - block.start
            np.matmul(X[block], directions, out=buffer[:n_rows])
            parts = row_blocks(n_rows, max(1, _PART // max(1, n_frequencies)))
            share_out = partial(fill_every, parts=parts, start=block.start)
            list((pool.map if threads > 1 else map)(share_out, range(threads)))
    return features


def cosine_gradients(
    X: Rows,
    weights: NDArray[np.float64],
    frequencies: NDArray,
    phases: NDArray,
    amplitudes: NDArray,
    n_pairs: int,
) -> NDArray[np.float64]:
    """Return the gradients of f_t(x) = sum_j weights[j, t] z_j(x) for the columns z_j of `cosine_features`.

    The rows X have the shape (n, d), the weights (n_columns, n_functions), and the gradients (n, n_functions, d).
    """
    n_frequencies, n_functions = len(frequencies), weights.shape[1]
    of_cosines, of_sines = np.zeros((2, n_functions, n_frequencies))
    of_cosines[:, :n_pairs] = weights[:n_pairs].T
    of_cosines[:, n_pairs:] = weights[2 * n_pairs :].T
    of_sines[:, :n_pairs] = weights[n_pairs : 2 * n_pairs].T
    gradients = np.empty((X.shape[0], n_functions, frequencies.shape[1]))

    def fill(rows: slice) -> None:
        angles = X[rows] @ frequencies.T + phases
        by_cosines, by_sines = -amplitudes * np.sin(angles), amplitudes * np.cos(angles)
        for t in range(n_functions):
            gradients[rows, t] = (by_cosines * of_cosines[t] + by_sines * of_sines[t]) @ frequencies

    over_row_blocks(fill, X, max(1, _GRADIENTS_BLOCK // max(1, n_frequencies)))
    return gradients


def _functions(features: Array) -> tuple[ScaledFunction, ScaledFunction]:
    xp = namespace(features)
    if xp is np and features.dtype == np.float64 and is_worth_compiling(features, features.shape[1]):
        from rflib.maps.compiled_cosines import cosines, sines

        return cosines, sines
    return _scaled(xp.cos), _scaled(xp.sin)


def _scaled(function: Callable[..., Array]) -> ScaledFunction:
    def scaled(phases: Array, amplitudes: Array, out: Array) -> None:
        if isinstance(function, np.ufunc):
            function(phases, out=out)
            out *= amplitudes
        else:
            multiply_into(out, function(phases), amplitudes)

    return scaled
