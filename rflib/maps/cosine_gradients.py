"""Gradients of functions that are combinations of the columns of `rflib.maps.cosine_features`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.sparse_rows import Rows
from rflib.maps.row_blocks import over_row_blocks

# Elements of the cosines and sines of a block of rows.
_BLOCK = 1 << 18


def cosine_gradients(
    X: Rows,
    weights: NDArray[np.float64],
    frequencies: NDArray,
    phases: NDArray,
    amplitudes: NDArray,
    n_pairs: int,
) -> NDArray[np.float64]:
    """Return the gradients of f_t(x) = sum_j weights[j, t] z_j(x) for the columns z_j of `cosine_features`.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        Rows.
    weights : ndarray of shape (n_columns, n_functions)
        The weights.
    frequencies, phases, amplitudes, n_pairs
        As for `cosine_features`.

    Returns
    -------
    ndarray of shape (n, n_functions, d)
        The gradients.
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

    over_row_blocks(fill, X, max(1, _BLOCK // max(1, n_frequencies)))
    return gradients
