"""TensorSketch: products of count sketches, for polynomial kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import fft
from scipy.sparse import csr_array

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, is_single, multiply_into, namespace
from rflib.kernels.polynomial import Polynomial
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.base import RandomFeatureMap
from rflib.maps.row_blocks import filled

_BLOCK_ELEMENTS = 1 << 19
# Number of input columns from which sketches and fast transforms are faster than matrix products.
_DENSE_BELOW = 48

Transform = Callable[[Rows], Array]


class TensorSketch(RandomFeatureMap):
    """Approximate a polynomial kernel by products of count sketches in the Fourier domain.

    For the kernel scale (gamma <x, y> + coef0)^p, the vector [sqrt(gamma) x, sqrt(coef0)] is sketched p times with
    independent hashes and signs, and the Fourier transforms of the sketches are multiplied. The features are the
    scaled real and imaginary parts of this product. By Parseval's theorem they have the same inner products as its
    inverse transform, which therefore is not computed. The estimate is unbiased, and its distribution is the same
    as for scikit-learn's PolynomialCountSketch.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; the kernel is a polynomial of the inner product.

    Attributes
    ----------
    hashes_ : ndarray of shape (degree, n_features_in_ + 1), int64
        Bucket of each coordinate in each sketch. The last coordinate is the constant.
    signs_ : ndarray of shape (degree, n_features_in_ + 1), int8
        Sign of each coordinate in each sketch.

    See Also
    --------
    OptimizedMaclaurin : Less error, if the rows may be looked at.
    PolySketch : For high degrees.
    sklearn.kernel_approximation.PolynomialCountSketch : The same in scikit-learn.

    References
    ----------
    Pham, Pagh: Fast and scalable polynomial kernels via explicit feature maps, KDD 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Polynomial
    >>> from rflib.maps import TensorSketch
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> TensorSketch(Polynomial(degree=3), 64, random_state=0).fit_transform(X).shape
    (178, 64)
    """

    _kernels = (lambda kernel: kernel.as_polynomial() is not None, "not a polynomial kernel")
    _takes_sparse = True
    _needs_rows = False

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _polynomial(self) -> Polynomial:
        polynomial: Polynomial = self.kernel_.as_polynomial()
        return polynomial

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._draw_sketches(X.shape[1], self.n_components, rng)
        self.signature_ = np.ones(self.n_components)

    def _draw_sketches(self, d: int, n_buckets: int, rng: Generator) -> None:
        shape = self._polynomial().degree, d + 1
        self.hashes_ = rng.integers(0, n_buckets, shape)
        self.signs_ = (2 * rng.integers(0, 2, shape) - 1).astype(np.int8)

    def _columns(self, X: Rows) -> Array:
        D, xp = self.n_components_, namespace(X)
        transforms = self._transforms(X)
        # Entry k of the real transform stands for k and D - k, except 0 and, for even D, D/2.
        weights = np.full(D // 2 + 1, np.sqrt(2 / D), dtype=dtype_of(X))
        weights[0] /= np.sqrt(2)
        if D % 2 == 0:
            weights[-1] /= np.sqrt(2)
        weights = beside(weights, X)
        inner = slice(1, (D + 1) // 2)

        def fill(block: Rows, out: Array) -> None:
            product = transforms[0](block)
            for transform in transforms[1:]:
                product *= transform(block)
            multiply_into(out[:, : D // 2 + 1], xp.real(product), weights)
            multiply_into(out[:, D // 2 + 1 :], xp.imag(product)[:, inner], weights[inner])

        return filled(X, D, fill, _BLOCK_ELEMENTS // D)

    def _transforms(self, X: Rows) -> list[Transform]:
        """Return functions from rows like X to the real Fourier transforms (n, D // 2 + 1) of their sketches.

        The transform of a sketch is linear in the row. With few input columns a matrix product is fastest on a
        processor, with many it is the sketch and a fast transform.
        """
        d, D = self.n_features_in_, self.n_components_
        if d < _DENSE_BELOW and namespace(X) is np:
            return [_by_product(sketch, d, X.dtype) for sketch in self._sketches(np.eye(d, dtype=X.dtype), D)]
        return [_by_transform(sketch) for sketch in self._sketches(X, D)]

    def _sketches(self, X: Rows, n_buckets: int) -> list[Transform]:
        """Return functions from rows like X to their count sketches (n, n_buckets).

        A bucket holds the sum of its coordinates times their factors; the last coordinate is the constant 1. The
        matrix that adds them is sparse, but on a device.
        """
        kernel, d = self._polynomial(), self.n_features_in_
        share = kernel.scale ** (1 / kernel.degree)
        slope, constant = np.sqrt([share * kernel.gamma, share * kernel.coef0])
        factors = (np.append(np.full(d, slope), constant) * self.signs_).astype(dtype_of(X))
        entries = zip(factors, self.hashes_, strict=True)
        shape = d + 1, n_buckets
        return [_sketch(csr_array((each, (np.arange(d + 1), hashes)), shape), X) for each, hashes in entries]


def dtype_of(X: Rows) -> type[np.floating]:
    """Return numpy's type for numbers like those of the rows."""
    return np.float32 if is_single(X) else np.float64


def _sketch(matrix: csr_array, X: Rows) -> Transform:
    """Return the function that multiplies rows like X and the constant 1 by a matrix (d + 1, n_buckets)."""
    constant = beside(matrix[[-1]].toarray(), X)
    if namespace(X) is np:
        return lambda block: dense(block @ matrix[:-1]) + constant
    factor = beside(matrix[:-1].toarray(), X)
    return lambda block: block @ factor + constant


def _by_transform(sketch: Transform) -> Transform:
    def transform(block: Rows) -> Array:
        xp = namespace(block)
        return fft.rfft(sketch(block), axis=1) if xp is np else xp.fft.rfft(sketch(block), axis=1)

    return transform


def _by_product(sketch: Transform, d: int, dtype: np.dtype) -> Transform:
    """Return the function that computes a sketch and its transform as one affine function of the row."""
    constant = fft.rfft(sketch(np.zeros((1, d), dtype=dtype)))
    matrix = fft.rfft(sketch(np.eye(d, dtype=dtype))) - constant
    return lambda block: (block @ matrix.view(dtype)).view(matrix.dtype) + constant
