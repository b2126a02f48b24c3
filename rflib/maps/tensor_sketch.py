"""TensorSketch: products of count sketches, for polynomial kernels."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.sparse import csr_array, issparse

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, is_single, multiply_into, namespace, take_columns, zeros
from rflib.kernels.polynomial import Polynomial
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.base import RandomFeatureMap
from rflib.maps.product_sketch import Maker
from rflib.maps.row_blocks import filled

_BLOCK_ELEMENTS = 1 << 19
# Number of input columns from which sketches and fast transforms are faster than matrix products.
_DENSE_BELOW = 48


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
    hashes_, signs_ : ndarrays of shape (degree, n_features_in_ + 1), int64 and int8
        Bucket and sign of each coordinate in each sketch. The last coordinate is the constant.

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
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Polynomial
    >>> from rflib.maps import TensorSketch
    >>> TensorSketch(Polynomial(degree=3), 64, random_state=0).fit_transform(load_iris().data).shape
    (150, 64)
    """

    _kernels = (lambda kernel: kernel.as_polynomial() is not None, "not a polynomial kernel")
    _takes_sparse = True
    _needs_rows = False

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._draw_sketches(X.shape[1], self.n_components, rng)
        self.signature_ = np.ones(self.n_components)

    def _draw_sketches(self, d: int, n_buckets: int, rng: Generator) -> None:
        shape = self.kernel_.as_polynomial().degree, d + 1
        self.hashes_ = rng.integers(0, n_buckets, shape)
        self.signs_ = (2 * rng.integers(0, 2, shape) - 1).astype(np.int8)

    def _columns(self, X: Rows) -> Array:
        D, xp = self.n_components_, namespace(X)
        transforms = self._transforms(X)
        # Entry k of the real transform stands for k and D - k, except 0 and, for even D, D/2.
        weights = np.full(D // 2 + 1, np.sqrt(2 / D), dtype=np.float32 if is_single(X) else np.float64)
        weights[[0] if D % 2 else [0, -1]] = np.sqrt(1 / D)
        weights = beside(weights, X)
        inner = slice(1, (D + 1) // 2)

        def fill(block: Rows, out: Array) -> None:
            product = transforms[0](block)
            for transform in transforms[1:]:
                product *= transform(block)
            multiply_into(out[:, : D // 2 + 1], xp.real(product), weights)
            multiply_into(out[:, D // 2 + 1 :], xp.imag(product)[:, inner], weights[inner])

        return filled(X, D, fill, _BLOCK_ELEMENTS // D)

    def _transforms(self, X: Rows) -> list[Maker]:
        """Return functions from rows like X to the real Fourier transforms (n, D // 2 + 1) of their sketches.

        The transform of a sketch is linear in the row. With few input columns a matrix product is fastest on a
        processor, with many it is the sketch and a fast transform.
        """
        d, D, xp = self.n_features_in_, self.n_components_, namespace(X)
        if d < _DENSE_BELOW and xp is np:
            return [_by_product(sketch, d, X.dtype) for sketch in self._sketches(np.eye(d, dtype=X.dtype), D)]
        rfft = fft.rfft if xp is np else xp.fft.rfft

        def transform(sketch: Maker, block: Rows) -> Array:
            return rfft(sketch(block), axis=1)

        return [partial(transform, sketch) for sketch in self._sketches(X, D)]

    def _sketches(self, X: Rows, n_buckets: int) -> list[Maker]:
        """Return functions from rows like X to their count sketches (n, n_buckets)."""
        kernel, make = self.kernel_.as_polynomial(), _sketch_of_sparse if issparse(X) else _sketch
        share = kernel.scale ** (1 / kernel.degree)
        slope, constant = np.sqrt([share * kernel.gamma, share * kernel.coef0])
        factors = np.append(np.full(self.n_features_in_, slope), constant)
        factors = (factors * self.signs_).astype(np.float32 if is_single(X) else np.float64)
        return [make(X, *each, n_buckets) for each in zip(self.hashes_, factors, strict=True)]


def _sketch(X: Array, hashes: NDArray, factors: NDArray, n_buckets: int) -> Maker:
    """Return the function that computes count sketches (n, n_buckets) of rows (n, d) like X.

    A bucket holds the sum of its coordinates times their factors; the last one is the constant 1. The first
    columns of all buckets are added to their second ones, and so on; zeros stand for those that a bucket has not.
    """
    order = np.argsort(hashes, kind="stable")
    buckets, starts, counts = np.unique(hashes[order], return_index=True, return_counts=True)
    none, ordinal = len(hashes), np.arange(counts.max())[:, None]
    sources = np.where(ordinal < counts, order[np.minimum(starts + ordinal, none - 1)], none)
    places = np.full(n_buckets, len(buckets))
    places[buckets] = np.arange(len(buckets))
    taken = [beside(source, X) for source in sources]
    factors, places = beside(factors, X), beside(places, X)

    def sketch(block: Array) -> Array:
        concat, none = namespace(block).concat, zeros((block.shape[0], 1), block)
        weighted = concat([block * factors[:-1], none + factors[-1:], none], axis=1)
        filled = sum(take_columns(weighted, source) for source in taken)
        return take_columns(concat([filled, none], axis=1), places)

    return sketch


def _sketch_of_sparse(X: Rows, hashes: NDArray, factors: NDArray, n_buckets: int) -> Maker:
    """Return the function of `_sketch` for sparse rows."""
    entries = factors, (np.arange(len(factors)), hashes)
    matrix = csr_array(entries, shape=(len(factors), n_buckets))
    matrix, constant = matrix[:-1], matrix[[-1]].toarray()
    return lambda block: dense(block @ matrix) + constant


def _by_product(sketch: Maker, d: int, dtype: np.dtype) -> Maker:
    """Return the function that computes a sketch and its transform as one affine function of the row."""
    constant = fft.rfft(sketch(np.zeros((1, d), dtype=dtype)))
    matrix = fft.rfft(sketch(np.eye(d, dtype=dtype))) - constant
    return lambda block: (block @ matrix.view(dtype)).view(matrix.dtype) + constant
