"""SORF: structured orthogonal random features, from random signs and fast Walsh-Hadamard transforms."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import issparse

from rflib.kernels.namespaces import Array, beside, namespace, zeros
from rflib.kernels.sparse_rows import Rows
from rflib.maps.product_sketch import hadamard_order
from rflib.maps.row_blocks import filled
from rflib.maps.walsh_hadamard import walsh_hadamard
from rflib.maps.wave_features import GaussianCosines

# Number of input columns from which fast transforms are faster than products with the frequencies.
_FAST_FROM = 2048
_BLOCK_ELEMENTS = 1 << 18


class SORF(GaussianCosines):
    """Approximate the Gaussian kernel with structured orthogonal frequencies and fast transforms.

    The frequencies are the rows of sqrt(b) / sigma H D_1 H D_2 H D_3. H is the orthogonal Hadamard matrix of order
    b, the least power of two that is at least d, and D_1, D_2 and D_3 are diagonal matrices of random signs. Each
    block of b frequencies has its own signs, and rows are filled up with b - d zeros. From 2,048 input columns on,
    fast transforms replace the product of dense rows with the frequencies.

    The estimate is biased: all frequencies have the norm sqrt(b) / sigma, while those of the Gaussian have a chi
    distribution, and their directions are not uniform. The bias at the distance z is at most 6 z / (sigma sqrt(b))
    (theorem 3 of the paper), and of the order of z^4 / (4 sigma^4 b) for small z. It does not fall with
    n_components.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `FourierFeatures`, as are frequencies_, weights_ and phases_; the kernel is a Gaussian.

    Attributes
    ----------
    signs_ : ndarray of shape (n_blocks, 3, b), int8
        Diagonals of D_1, D_2 and D_3 for each block.

    See Also
    --------
    ORF : Frequencies without a bias.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice, Kumar: Orthogonal random features, NIPS 2016, section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import SORF
    >>> X = load_iris().data
    >>> features = SORF(Gaussian("median"), 64, random_state=0).fit(X)
    >>> print(abs(features.kernel_matrix(X) - features.kernel_(X)).mean().round(2))
    0.06
    """

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        b = hadamard_order(d)
        self.signs_ = 2 * rng.integers(0, 2, (-(-n // b), 3, b), dtype=np.int8) - 1
        block, row = np.divmod(np.arange(n), b)
        vectors = np.zeros((n, b))
        vectors[np.arange(n), row] = np.sqrt(b)
        for k in range(3):
            vectors = walsh_hadamard(vectors) * self.signs_[block, k, :]
        return np.ascontiguousarray(vectors[:, :d]), np.full(n, 1 / n)

    def _products(self, X: Array) -> Array:
        """Return products of the rows (n, d) with the frequencies of all blocks for sigma = 1, (n, n_blocks b)."""
        blocks, _, b = self.signs_.shape
        n, signs = X.shape[0], beside(self.signs_, X)
        values = zeros((n, 1, b), X)
        values[:, 0, : X.shape[1]] = X * float(np.sqrt(b))
        for k in (2, 1, 0):
            values = walsh_hadamard(values * signs[:, k, :])
        return namespace(X).reshape(values, (n, blocks * b))

    def _columns(self, X: Rows) -> Array:
        if X.shape[1] < _FAST_FROM or issparse(X):
            return super()._columns(X)
        kernel, _ = self.kernel_.isotropic(X[:1, :])
        pairs = self.n_components_ // 2
        n, sigma = self.n_components_ - pairs, kernel.single_width
        xp, phases, amplitude = namespace(X), beside(self.phases_, X), float(np.sqrt(1 / n))

        def fill(block: Rows, out: Array) -> None:
            angles = self._products(block / float(sigma))[:, :n] + phases
            out[:, :pairs] = xp.cos(angles[:, :pairs]) * amplitude
            out[:, pairs : 2 * pairs] = xp.sin(angles[:, :pairs]) * amplitude
            out[:, 2 * pairs :] = xp.cos(angles[:, pairs:]) * amplitude * float(np.sqrt(2))

        return filled(X, self.n_components_, fill, _BLOCK_ELEMENTS // self.signs_[:, 0].size)
