"""Gradients of functions that are combinations of a radial kernel at landmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.distances import euclidean_distances
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.row_blocks import over_row_blocks

# Elements of the kernel matrix of a block of rows.
_BLOCK = 1 << 19
# The profile is differentiated by a central difference of this share of the width, to about 1e-10 over the width.
_STEP = 1e-5


def kernel_gradients(
    kernel: RadialKernel, X: Rows, landmarks: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the gradients (n, n_functions, d) of f_t(x) = sum_j weights[j, t] k(x, l_j) at rows X (n, d).

    The kernel has one width, the landmarks l_j have the shape (m, d), and the weights (m, n_functions). Where a
    row is a landmark, the derivative of this term is zero, also if the profile has a corner at zero.
    """
    step = _STEP * kernel.single_width
    gradients = np.empty((X.shape[0], weights.shape[1], X.shape[1]))

    def fill(rows: slice) -> None:
        z = np.asarray(euclidean_distances(X[rows], landmarks))
        apart = np.maximum(z, step)
        slopes = (kernel.at_distance(apart + step) - kernel.at_distance(apart - step)) / (2 * step * apart)
        block = dense(X[rows])
        for t, weight in enumerate(weights.T):
            pulls = slopes * weight
            gradients[rows, t] = pulls.sum(axis=1)[:, None] * block - pulls @ landmarks

    over_row_blocks(fill, X, max(1, _BLOCK // len(weights)))
    return gradients
